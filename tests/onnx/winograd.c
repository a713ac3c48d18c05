/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The choice of Winograd's algorithm by the import, and the lines of doc strings that store
 * another choice in a file. */

#include "test.h"

#include <string.h>

#include "../../lib/ir/graph-private.h"
#include "../../lib/onnx/wire.h"
#include "dump.h"
#include "models.h"
#include "run-help.h"

#define ONES CLEAVE_INTS (1, 1, 1, 1)

/* Adds a Conv with constant weights to a model, from an input of shape `dims` with `n_in` channels
 * to `n_out` channels. */
static Onnx__NodeProto *
add_conv (Model *model, const char *dims, gint64 n_in, gint64 n_out, const CleaveInts *pads)
{
  Onnx__NodeProto *node;
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, n_out, n_in, 3, 3);
  g_autoptr (CleaveTensor) w = cleave_random_tensor (&type, 7, FALSE);

  model_add_input (model, "x", dims);
  model_add_initializer (model, "w", &type, cleave_tensor_get_data (w));
  node = model_add_node (model, "Conv", "conv", "x w", "y");
  node_add_ints (node, "pads", pads);
  model_add_output (model, "y");
  return node;
}

/* Returns "direct" for a Conv without Winograd tiles. Otherwise, returns the row and the column of
 * the first element of its result within a tile, such as "0 1". */
static char *
say (const CleaveGraph *graph, const char *name)
{
  const CleaveNode *node = cleave_graph_find_node (graph, name);
  const CleaveConvAttrs *a = node->attrs;

  return a->winograd.n == 0
             ? g_strdup ("direct")
             : g_strdup_printf ("%d %d", (int) a->winograd.v[0], (int) a->winograd.v[1]);
}

static void
assert_says (const Model *model, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);
  g_autofree char *said = NULL;

  cleave_assert_no_error (error);
  said = say (graph, "conv");
  ck_assert_str_eq (said, expected);
}

START_TEST (winograd_is_chosen_if_it_is_faster)
{
  static const struct
  {
    const char *dims;
    gint64 n_in, n_out;
    const char *expected;
  } cases[] = {
    { "1x24x8x8", 24, 32, "0 0" },  { "1x24x8x8", 24, 4, "direct" },
    { "1x4x8x8", 4, 32, "direct" }, { "1x24x3x3", 24, 32, "direct" },
    { "2x24x5x7", 24, 24, "0 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_new (17);

      add_conv (model, cases[i].dims, cases[i].n_in, cases[i].n_out, &ONES);
      assert_says (model, cases[i].expected);
    }
}
END_TEST

/* A Conv whose weights are an input also uses Winograd tiles. */
START_TEST (weights_may_be_inputs)
{
  g_autoptr (Model) model = model_new (17);

  model_add_input (model, "x", "1x24x10x10");
  model_add_input (model, "w", "24x24x3x3");
  model_add_node (model, "Conv", "conv", "x w", "y");
  model_add_output (model, "y");
  assert_says (model, "0 0");
}
END_TEST

START_TEST (winograd_is_not_chosen_for_other_convolutions)
{
  g_autoptr (Model) strided = model_new (17), dilated = model_new (17), stored = model_new (17);

  node_add_ints (add_conv (strided, "1x24x8x8", 24, 32, &ONES), "strides", &CLEAVE_INTS (2, 1));
  node_add_ints (add_conv (dilated, "1x24x8x8", 24, 32, &ONES), "dilations", &CLEAVE_INTS (1, 2));
  assert_says (strided, "direct");
  assert_says (dilated, "direct");
  model_add_input (stored, "x", "1x24x8x8");
  model_add_initializer (stored, "q", &CLEAVE_TYPE (CLEAVE_INT8, 32, 24, 3, 3), NULL);
  model_add_initializer (stored, "scale", &CLEAVE_SCALAR (CLEAVE_FLOAT32), NULL);
  model_add_node (stored, "DequantizeLinear", "weights", "q scale", "w");
  model_add_node (stored, "Conv", "conv", "x w", "y");
  model_add_output (stored, "y");
  assert_says (stored, "direct");
}
END_TEST

START_TEST (the_doc_string_overrides_the_choice)
{
  static const struct
  {
    const char *doc, *expected, *left;
  } cases[] = {
    { "cleave: winograd 0 1", "0 1", NULL },
    { "cleave: winograd none", "direct", NULL },
    { "cleave: winograd 1 2", "direct", NULL },
    { "cleave: winograd 1", "direct", NULL },
    { "a\ncleave: winograd 1 0\nb", "1 0", "a\nb" },
    { "cleave: winograd 1 1\nb", "1 1", "b" },
    { "a\ncleave: winograd 1 1", "1 1", "a" },
    { "a cleave: winograd 1 1", "0 0", "a cleave: winograd 1 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_new (17);
      g_autoptr (CleaveGraph) graph = NULL;
      const char *left;

      add_conv (model, "1x24x8x8", 24, 32, &ONES)->doc_string = g_strdup (cases[i].doc);
      assert_says (model, cases[i].expected);
      graph = model_import (model, NULL);
      left = cleave_onnx_get_node_doc (graph, "conv");
      ck_assert_str_eq (left == NULL ? "" : left, cases[i].left == NULL ? "" : cases[i].left);
    }
}
END_TEST

/* A Winograd convolution is split into pieces that begin at any row or column. Export and import
 * keep the bits and the phases of each piece. The phases are the row and the column of a Winograd
 * tile at which the piece begins. */
START_TEST (pieces_keep_their_algorithm_through_a_file)
{
  const char *letters[] = { "H", "W", "C", "N" };
  g_autoptr (Model) model = model_new (17);
  g_autoptr (CleaveGraph) whole = NULL;
  g_autoptr (GPtrArray) inputs = NULL, expected = NULL;

  add_conv (model, "2x24x12x15", 24, 32, &CLEAVE_INTS (1, 0, 2, 1))->doc_string = g_strdup ("doc");
  whole = model_import (model, NULL);
  inputs = run_random_inputs (whole, 3);
  expected = run_graph (whole, inputs, 1);
  for (guint i = 0; i < G_N_ELEMENTS (letters); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_copy (whole), again = NULL;
      gint64 n = i == 3 ? 2 : 3;
      g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks (letters[i], &n, 1);
      g_autoptr (CleaveSplitReport) report =
          cleave_split_node (cleave_graph_find_node (graph, "conv"), tiling, NULL, &error);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GPtrArray) got = NULL;

      cleave_assert_no_error (error);
      bytes = cleave_onnx_serialize (graph, &error);
      cleave_assert_no_error (error);
      again = cleave_onnx_parse (bytes, NULL, NULL, &error);
      cleave_assert_no_error (error);
      for (guint p = 0; p < n; p++)
        {
          g_autofree char *name = g_strdup_printf ("conv.%u", p);
          g_autofree char *before = say (graph, name), *after = say (again, name);

          ck_assert_str_eq (before, after);
        }
      got = run_graph (again, inputs, 2);
      ck_assert (cleave_tensor_equal (got->pdata[0], expected->pdata[0]));
    }
}
END_TEST

START_TEST (an_unsplit_model_is_exported_without_doc_strings)
{
  g_autoptr (Model) model = model_new (17), again = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const char *doc;

  add_conv (model, "1x24x8x8", 24, 32, &ONES);
  graph = model_import (model, NULL);
  bytes = cleave_onnx_serialize (graph, NULL);
  again = cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", NULL);
  ck_assert_str_eq (again->graph->node[0]->op_type, "Conv");
  doc = again->graph->node[0]->doc_string;
  ck_assert (doc == NULL || *doc == '\0');
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "winograd", winograd_is_chosen_if_it_is_faster, weights_may_be_inputs,
                   winograd_is_not_chosen_for_other_convolutions,
                   the_doc_string_overrides_the_choice, pieces_keep_their_algorithm_through_a_file,
                   an_unsplit_model_is_exported_without_doc_strings, NULL);
}

CLEAVE_TEST_SUITE ("winograd", add_tests)
