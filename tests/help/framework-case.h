/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions for the suites on Split operators of other frameworks, such as tests/ops/frameworks.c.
 * Each suite tests every row of the framework's table in docs/split-operators.md, and every mistake
 * that is an error. */

#include <cleave/cleave-frameworks.h>

#include "test.h"

#define AT(...) ((const gint64[]){ __VA_ARGS__ })
#define LIST(...) AT (__VA_ARGS__), CLEAVE_COUNT_ (gint64, __VA_ARGS__)

/* Asserts that a call returns these sizes, or fails with this message. `what` names the case. */
static inline void
check (const char *what,
       CleaveSplitAttrs *attrs,
       GError *error,
       gint64 axis,
       const gint64 *sizes,
       guint n_sizes,
       const char *message)
{
  if (message != NULL)
    {
      ck_assert_msg (attrs == NULL && error != NULL, "%s: no error, but expected: %s", what,
                     message);
      ck_assert_str_eq (error->message, message);
      g_error_free (error);
      return;
    }
  ck_assert_msg (attrs != NULL, "%s: %s", what, error == NULL ? "no error" : error->message);
  ck_assert_int_eq (attrs->axis, axis);
  ck_assert_msg (attrs->sizes->len == n_sizes, "%s: %u sizes", what, attrs->sizes->len);
  for (guint i = 0; i < n_sizes; i++)
    ck_assert_msg (g_array_index (attrs->sizes, gint64, i) == sizes[i], "%s: size %u is %d", what,
                   i, (int) g_array_index (attrs->sizes, gint64, i));
  cleave_split_attrs_free (attrs);
}
