/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Three ops that compute nothing, `work`, `view` and `join`, for tests of the graph itself and of
 * drawings. The operands of an op have one type. Suites in tests/ir and tests/dot write graphs of
 * these ops as text. "i x; w a x; o a" is an input x, a `work` a of x, and an output a. */

#include "../../lib/ir/graph-private.h"

#include "test.h"

static const char *const toy_names[] = { "x", NULL };

static inline gboolean
toy_infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  return TRUE;
}

static const CleaveOp toy_work = {
  .name = "Work",
  .operands = toy_names,
  .results = toy_names,
  .flags = CLEAVE_OP_VARIADIC,
  .infer = toy_infer,
};

static const CleaveOp toy_view = {
  .name = "View",
  .operands = toy_names,
  .results = toy_names,
  .min_operands = 1,
  .flags = CLEAVE_OP_VIEW,
  .infer = toy_infer,
};

static const CleaveOp toy_join = {
  .name = "Join",
  .operands = toy_names,
  .results = toy_names,
  .min_operands = 1,
  .flags = CLEAVE_OP_VARIADIC | CLEAVE_OP_JOIN,
  .infer = toy_infer,
};

static inline CleaveResult *
toy_find (CleaveGraph *graph, const char *name)
{
  CleaveNode *node = cleave_graph_find_node (graph, name);

  ck_assert_msg (node != NULL, "no node '%s'", name);
  return cleave_node_get_result (node, 0);
}

/* Returns a graph of a text such as "i x; w a x; o a". An entry "OP NAME OPERAND..." makes a node.
 * OP is i (input), w (work), v (view) or j (join). The entry "o NAME" makes a value an output. */
static inline CleaveGraph *
toy_graph (const char *text)
{
  CleaveGraph *graph = cleave_graph_new ("toy");
  g_auto (GStrv) entries = g_strsplit (text, ";", -1);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);

  for (guint e = 0; entries[e] != NULL; e++)
    {
      g_auto (GStrv) word = g_strsplit (g_strstrip (entries[e]), " ", -1);
      const CleaveOp *op = *word[0] == 'w' ? &toy_work : *word[0] == 'v' ? &toy_view : &toy_join;
      g_autoptr (GPtrArray) operands = g_ptr_array_new ();

      for (guint i = 2; word[i] != NULL; i++)
        g_ptr_array_add (operands, toy_find (graph, word[i]));
      if (*word[0] == 'i')
        ck_assert (cleave_graph_add_input (graph, word[1], &type, NULL) != NULL);
      else if (*word[0] == 'o')
        ck_assert (cleave_graph_add_output (graph, word[1], toy_find (graph, word[1]), NULL));
      else
        ck_assert (cleave_graph_add (graph, op, word[1], (CleaveResult **) operands->pdata,
                                     operands->len, 1, NULL, NULL) != NULL);
    }
  return graph;
}
