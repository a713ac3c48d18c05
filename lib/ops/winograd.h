/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The transforms of Winograd's algorithm F(2x2, 3x3), which computes a tile of 2x2 elements with 16
 * products instead of 36. Every kernel uses these macros, with float or vectors as `type`, so that
 * all kernels add in the same order: conv-winograd.c and lib/runtime/kernels/gemm/winograd.c. The
 * bundle transforms its weights with these macros. */

/* Transforms 4 values of a column or row of a tile of the image in place; `step` is the distance of
 * neighboring values. Apply this macro to each column of the tile, then to each row. */
#define CLEAVE_WINOGRAD_IMAGE(type, d, step)                                                       \
  do                                                                                               \
    {                                                                                              \
      const type d0 = (d)[0], d1 = (d)[step], d2 = (d)[2 * (step)], d3 = (d)[3 * (step)];          \
                                                                                                   \
      (d)[0] = d0 - d2;                                                                            \
      (d)[step] = d1 + d2;                                                                         \
      (d)[2 * (step)] = d2 - d1;                                                                   \
      (d)[3 * (step)] = d1 - d3;                                                                   \
    }                                                                                              \
  while (0)

/* Transforms 4 sums of a column or row of a tile to 2 results in place; `step` is the distance of
 * neighboring sums. Apply this macro to each column, then to each row. */
#define CLEAVE_WINOGRAD_RESULT(type, m, step)                                                      \
  do                                                                                               \
    {                                                                                              \
      const type m0 = (m)[0], m1 = (m)[step], m2 = (m)[2 * (step)], m3 = (m)[3 * (step)];          \
                                                                                                   \
      (m)[0] = (m0 + m1) + m2;                                                                     \
      (m)[step] = (m1 - m2) - m3;                                                                  \
    }                                                                                              \
  while (0)

#define CLEAVE_WINOGRAD_SIDE 4
#define CLEAVE_WINOGRAD_PRODUCTS 16
/* Index of the sum that begins with the bias; the 15 other sums of a tile begin with 0.
 * CLEAVE_WINOGRAD_RESULT adds this one sum exactly once to each of the 4 results, so each result
 * has the bias once. */
#define CLEAVE_WINOGRAD_BIASED 5

/* Transforms 3 taps of a kernel to 4 factors. The taps are g[0], g[g_step] and g[2 * g_step]; the
 * factors are u[0], u[u_step], u[2 * u_step] and u[3 * u_step]. */
#define CLEAVE_WINOGRAD_FACTORS(type, g, g_step, u, u_step)                                        \
  do                                                                                               \
    {                                                                                              \
      const type g0 = (g)[0], g1 = (g)[g_step], g2 = (g)[2 * (g_step)];                            \
                                                                                                   \
      (u)[0] = g0;                                                                                 \
      (u)[u_step] = ((g0 + g2) + g1) * 0.5f;                                                       \
      (u)[2 * (u_step)] = ((g0 + g2) - g1) * 0.5f;                                                 \
      (u)[3 * (u_step)] = g2;                                                                      \
    }                                                                                              \
  while (0)

/* Transforms the 3x3 taps `g` of a kernel to the factors `u` of the 16 products: first each column,
 * then each row. */
#define CLEAVE_WINOGRAD_FILTER(type, g, u)                                                         \
  do                                                                                               \
    {                                                                                              \
      type columns[12];                                                                            \
                                                                                                   \
      for (int j = 0; j < 3; j++)                                                                  \
        CLEAVE_WINOGRAD_FACTORS (type, (g) + j, 3, columns + j, 3);                                \
      for (int i = 0; i < 4; i++)                                                                  \
        CLEAVE_WINOGRAD_FACTORS (type, columns + 3 * i, 1, (u) + 4 * i, 1);                        \
    }                                                                                              \
  while (0)
