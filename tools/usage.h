/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arguments.h"

/* Prints the help of a command: its usage, its summary, and one entry for each option. No line is
 * longer than 100 columns; a longer description continues below its beginning. */
void cleave_usage_print (const CleaveArguments *arguments);
