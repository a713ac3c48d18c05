/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Graphs with values that nodes read in parts, for the suites split-per-reader.c and
 * per-reader-plans.c. */

#include "test.h"

/* One product computes queries, keys and values, which a Split then separates. */
#define PACKED                                                                                     \
  "graph packed\n%x = Input : float32 1x64x16\n%w = Constant seed=1 : float32 16x48\n"             \
  "%b = Constant seed=2 : float32 48\n%n = Softmax %x axis=-1\n%m = MatMul %n, %w\n"               \
  "%a = Add %m, %b\n%r = Reshape %a shape=1,64,3,2,8\n%t = Transpose %r perm=2,0,3,1,4\n"          \
  "%q, %k, %v = Split %t axis=0 split=1,1,1\n%kt = Transpose %k perm=0,1,2,4,3\n"                  \
  "%s = MatMul %q, %kt\n%p = Softmax %s axis=-1\n%y = MatMul %p, %v\noutput %y\n"

/* The Mul and the Tanh compute %e from %x, which is smaller. Three Gathers read rows of %e: row 0,
 * row 1, and rows 2 and 3. */
#define STEPS                                                                                      \
  "graph steps\n%x = Input : float32 4x1x16\n%c = Constant seed=1 : float32 64x1\n"                \
  "%m = Mul %x, %c\n%e = Tanh %m\n%i0 = Constant value=0 : int64 scalar\n"                         \
  "%i1 = Constant value=-3 : int64 scalar\n%i2 = Constant value=2,3 : int32 2\n"                   \
  "%g0 = Gather %e, %i0 axis=0\n%g1 = Gather %e, %i1 axis=0\n%g2 = Gather %e, %i2 axis=0\n"        \
  "%a = Add %g0, %g1\n%y = Add %a, %g2\noutput %y\n"

/* Returns the graph of a text. An error fails the test. */
static inline CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  if (graph == NULL)
    ck_abort_msg ("%s\n%s", error->message, text);
  return graph;
}
