/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The help of the commands. cleave_argument_parse() calls this function for --help. Example of
 * an entry: " -o, --output=FILE   write the split model". */

#include "arguments.h"

/* Prints the help of a command: its usage, its summary, and one entry for each option. No line is
 * longer than 100 columns; a longer description continues below its beginning. */
void cleave_usage_print (const CleaveArguments *arguments);
