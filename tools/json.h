/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes the JSON of commands with --json. The commands begin an object, add members, and end it
 * with cleave_json_print(). tools/schemas describes the JSON of each command, and
 * tests/tools/schemas.py compares the JSON with the schemas. */

#include <cleave/cleave.h>

/* A JSON text that is being written. Pass a name of NULL for an element of a list and for the
 * outermost value. */
typedef struct _CleaveJson CleaveJson;

CleaveJson *cleave_json_new (void);
void cleave_json_free (CleaveJson *json);
char *cleave_json_to_string (CleaveJson *json);
/* Ends the outermost object and prints the JSON on standard output. */
void cleave_json_print (CleaveJson *json);
/* Returns the JSON on one line, without blanks. */
char *cleave_json_to_compact_string (CleaveJson *json);

void cleave_json_begin (CleaveJson *json, const char *name);
void cleave_json_end (CleaveJson *json);
void cleave_json_begin_list (CleaveJson *json, const char *name);
void cleave_json_end_list (CleaveJson *json);
void cleave_json_string (CleaveJson *json, const char *name, const char *value);
void cleave_json_int (CleaveJson *json, const char *name, gint64 value);
void cleave_json_double (CleaveJson *json, const char *name, double value);
void cleave_json_bool (CleaveJson *json, const char *name, gboolean value);
/* Writes the members "type" and "shape" of a tensor. */
void cleave_json_type (CleaveJson *json, const CleaveTensorType *type);
/* Writes a range as [[begin, end], …], with one pair for each dimension. */
void cleave_json_range (CleaveJson *json, const char *name, const CleaveRange *range);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJson, cleave_json_free)
