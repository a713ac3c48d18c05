/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What tests of one op ask: which types it infers, what a chunk reads, what it computes. */

#include "test.h"

/* Adds an input of float32. */
CleaveResult *cleave_case_input (CleaveGraph *graph, const char *name, CleaveShape shape);
/* Adds a constant of float32 that holds `first`, `first` + `step` … */
CleaveResult *cleave_case_steps (CleaveGraph *graph, CleaveShape shape, float first, float step);

/* The result has this type, such as "float32 1x2"; or, if there is none, the error has this
 * message. */
void cleave_assert_infers (CleaveResult *result, GError **error, const char *expected);
/* What the chunk, such as "0:1,2:4", of result 0 reads and becomes: the range of each operand, then
 * the attributes of the piece, such as "0:1,0:5 0:8 pads=1,0"; or "refused: " and why. */
void cleave_assert_chunk (CleaveResult *result, const char *chunk, const char *expected);
/* What the result's node, all of whose operands are constants, computes for it: "1 2.5 -3". */
void cleave_assert_values (CleaveResult *result, const char *expected);
