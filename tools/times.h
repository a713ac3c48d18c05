/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

/* The slowest steps as a table, the rest as its last line. */
void cleave_profile_print (const CleaveProfile *profile);
/* All steps in the order of the run, as a list of the object that is open. */
void cleave_profile_print_json (const CleaveProfile *profile, CleaveJson *json);
