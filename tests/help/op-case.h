/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Assertions for tests of one op: the types it infers, the ranges a chunk reads, the values it
 * computes. Most suites in tests/ops use them. Expected results are short texts, such as "float32
 * 1x2". */

#include "test.h"

/* Adds an input of float32. */
CleaveResult *cleave_case_input (CleaveGraph *graph, const char *name, CleaveShape shape);
/* Adds a float32 constant that holds `first`, `first` + `step`, ... */
CleaveResult *cleave_case_steps (CleaveGraph *graph, CleaveShape shape, float first, float step);

/* Asserts that the result has the type `expected`, such as "float32 1x2". If `result` is NULL,
 * asserts that `expected` is the error message. */
void cleave_assert_infers (CleaveResult *result, GError **error, const char *expected);
/* Asserts the slices of the operands that a chunk reads. `chunk` is a range of result 0, such as
 * "0:1,2:4". `expected` has the range of each operand and then the attributes of the piece, such as
 * "0:1,0:5 0:8 pads=1,0". If the op refuses the chunk, `expected` is "refused: " and the reason. */
void cleave_assert_chunk (CleaveResult *result, const char *chunk, const char *expected);
/* Asserts the values of a result, such as "1 2.5 -3". The node of the result has constant operands
 * only. */
void cleave_assert_values (CleaveResult *result, const char *expected);
