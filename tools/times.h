/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

/* Prints the slowest steps as a table, with the sum of the others as its last line. */
void cleave_profile_print (const CleaveProfile *profile);
/* Adds all steps in the order of the run, as a list in the open object. */
void cleave_profile_print_json (const CleaveProfile *profile, CleaveJson *json);
