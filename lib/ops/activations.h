/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The activation functions of recurrent layers, for float and double, the types in which gates are
 * computed. The reference kernels (recurrent-steps.c) and the fast kernels
 * (lib/runtime/kernels/gemm/recurrent-gates.c) both call these functions, so they compute the same
 * bits. For NaN, each function returns NaN. */

#include "elementwise-math.h"

#include <cleave/cleave-ops.h>

/* clang-format off */
#define ACTIVATE(T, t)                                                                             \
  static inline T cleave_##t##_activate (CleaveActivation activation, T alpha, T beta, T a)        \
  {                                                                                                \
    T y;                                                                                           \
                                                                                                   \
    switch (activation)                                                                            \
      {                                                                                            \
      case CLEAVE_ACTIVATION_TANH:                                                                 \
        return cleave_##t##_tanh (a);                                                              \
      case CLEAVE_ACTIVATION_SIGMOID:                                                              \
        return cleave_##t##_sigmoid (a);                                                           \
      case CLEAVE_ACTIVATION_RELU:                                                                 \
        return cleave_##t##_select (a < 0, 0, a);                                                  \
      case CLEAVE_ACTIVATION_AFFINE:                                                               \
        return alpha * a + beta;                                                                   \
      case CLEAVE_ACTIVATION_LEAKY_RELU:                                                           \
        return cleave_##t##_select (a < 0, alpha * a, a);                                          \
      case CLEAVE_ACTIVATION_THRESHOLDED_RELU:                                                     \
        return cleave_##t##_select (a < alpha, 0, a);                                              \
      case CLEAVE_ACTIVATION_SCALED_TANH:                                                          \
        return alpha * cleave_##t##_tanh (beta * a);                                               \
      case CLEAVE_ACTIVATION_HARD_SIGMOID:                                                         \
        y = alpha * a + beta;                                                                      \
        y = cleave_##t##_select (y < 0, 0, y);                                                     \
        return cleave_##t##_select (y > 1, 1, y);                                                  \
      case CLEAVE_ACTIVATION_ELU:                                                                  \
        return cleave_##t##_select (a < 0, alpha * cleave_##t##_expm1_negative (a), a);            \
      case CLEAVE_ACTIVATION_SOFTSIGN:                                                             \
        return a / (1 + cleave_##t##_abs (a));                                                     \
      case CLEAVE_ACTIVATION_SOFTPLUS:                                                             \
        return cleave_##t##_softplus (a);                                                          \
      }                                                                                            \
    return a;                                                                                      \
  }
ACTIVATE (float, f32)
ACTIVATE (double, f64)
#undef ACTIVATE
/* clang-format on */
