/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Macros that register a public type as a GObject boxed type, so that bindings of other languages
 * can copy and free its values. The file that defines the struct uses one of the macros once. For
 * example, CLEAVE_DEFINE_COUNTED (CleaveFitPlan, fit_plan, clear) in `passes/fit/plan.c` defines
 * cleave_fit_plan_ref() and the GType of CleaveFitPlan. */

#include <cleave/cleave-types.h>

/* Defines cleave_<word>_get_gtype(). G_DEFINE_BOXED_TYPE would name this function
 * cleave_<word>_get_type(). Some types have another function with this name:
 * cleave_tensor_get_type() returns the element type and the shape of a tensor. */
#define CLEAVE_DEFINE_BOXED(Type, word, copy, free)                                                \
  GType cleave_##word##_get_gtype (void)                                                           \
  {                                                                                                \
    static gsize type = 0;                                                                         \
                                                                                                   \
    if (g_once_init_enter (&type))                                                                 \
      g_once_init_leave (&type, g_boxed_type_register_static (g_intern_static_string (#Type),      \
                                                              (GBoxedCopyFunc) (copy),             \
                                                              (GBoxedFreeFunc) (free)));           \
    return type;                                                                                   \
  }

/* Defines cleave_<word>_get_gtype(), cleave_<word>_ref() and cleave_<word>_unref() for a type whose
 * values g_atomic_rc_box_new() allocates. `clear` frees the members of a value. */
#define CLEAVE_DEFINE_COUNTED(Type, word, clear)                                                   \
  Type *cleave_##word##_ref (Type *word)                                                           \
  {                                                                                                \
    g_return_val_if_fail (word != NULL, NULL);                                                     \
    return g_atomic_rc_box_acquire (word);                                                         \
  }                                                                                                \
  void cleave_##word##_unref (Type *word)                                                          \
  {                                                                                                \
    if (word != NULL)                                                                              \
      g_atomic_rc_box_release_full (word, clear);                                                  \
  }                                                                                                \
  CLEAVE_DEFINE_BOXED (Type, word, cleave_##word##_ref, cleave_##word##_unref)

/* Defines cleave_<word>_get_gtype() for a plain struct, which is copied and freed as bytes. */
#define CLEAVE_DEFINE_VALUE(Type, word)                                                            \
  static Type *word##_copy (const Type *value) { return g_memdup2 (value, sizeof *value); }        \
  CLEAVE_DEFINE_BOXED (Type, word, word##_copy, g_free)
