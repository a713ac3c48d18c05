/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Prints the times of steps for `cleave run --profile`. After the runs, run-report.c prints the
 * times as a table, or adds the times to the JSON of the report. The library measures the times
 * (cleave_program_profile()). */

#include "json.h"

/* Prints the slowest steps as a table. The last line has the sum of all other steps. */
void cleave_profile_print (const CleaveProfile *profile);
/* Adds a list of all steps, in the order of the run, to the object that `json` has begun. */
void cleave_profile_print_json (const CleaveProfile *profile, CleaveJson *json);
