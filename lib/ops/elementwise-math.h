/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The functions that the formulas of elementwise.def call, for each type in which formulas are
 * computed. The reference kernels (elementwise.c) and the fast kernels
 * (lib/runtime/kernels/elementwise.c) include this file.
 *
 * Loops over float are compiled for several levels of x86-64 and must give the same bits at each
 * level. So the functions are straight-line code of +, -, *, /, fused multiply-adds and integer
 * arithmetic on bits. Both sides of a choice are computed, and one side is selected. The compiler
 * can vectorize this code and has no freedom that changes a bit. There is no contraction
 * (-ffp-contract=off) and no table.
 *
 * The polynomials are minimax fits for the given intervals. Errors are in ulp (units in the last
 * place) against libm's double functions, as tests/ops/elementwise.c measures them. Functions that
 * are rarely used call libm; compilers never vectorize these calls, so they give the same bits in
 * each loop. */

#include "elementwise-arithmetic.h"
#include "elementwise-basics.h"
#include "elementwise-exp.h"
#include "elementwise-powers.h"

/* The attributes of an op of the kind FOLD, such as a Sum of many operands. The kernel's loop over
 * the operands sets the index of the current operand. */
typedef struct
{
  gint64 index, n_operands;
} CleaveFold;

/* An empty struct: the attributes of ops without attributes. */
__extension__ typedef struct
{
} CleaveNoAttrs;

/* The macros CLEAVE_F and CLEAVE_N call the function named `word` for the type T. Example: if T is
 * float, CLEAVE_F (exp, a) calls cleave_f32_exp(). The code that uses a macro must define T. For
 * CLEAVE_F, T is float or double; for CLEAVE_N, T can also be an integer type. */
#define CLEAVE_F(word, ...)                                                                        \
  _Generic((T) 0, float : cleave_f32_##word, double : cleave_f64_##word) (__VA_ARGS__)
#define CLEAVE_N(word, ...)                                                                        \
  _Generic((T) 0, float                                                                            \
           : cleave_f32_##word, double                                                             \
           : cleave_f64_##word, gint8                                                              \
           : cleave_i8_##word, guint8                                                              \
           : cleave_u8_##word, gint32                                                              \
           : cleave_i32_##word, gint64                                                             \
           : cleave_i64_##word, guint64                                                            \
           : cleave_u64_##word) (__VA_ARGS__)
/* CLEAVE_U does the same for an unsigned integer type T. */
#define CLEAVE_U(word, ...)                                                                        \
  _Generic((T) 0, guint8 : cleave_u8_##word, guint64 : cleave_u64_##word) (__VA_ARGS__)
/* Returns a if `choice`, else b, in the type T. */
#define CLEAVE_SELECT(choice, a, b) CLEAVE_N (select, choice, (T) (a), (T) (b))
/* Clamps a to [0, 1]. */
#define CLEAVE_UNIT(a)                                                                             \
  CLEAVE_F (at_least, CLEAVE_F (at_most, a, CLEAVE_F (unit_bound, TRUE)),                          \
            CLEAVE_F (unit_bound, FALSE))
/* Converts a real number, such as a bound, to the type T. */
#define CLEAVE_BOUND(a) CLEAVE_N (bound, a)
