/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Custom ops: nodes of other domains than ONNX's, which Cleave keeps unchanged and does not run. */

#include "test.h"

#include <string.h>

#include "../../lib/ir/graph-private.h"
#include "graphs.h"
#include "models.h"

/* The tests use a model with one node of a custom domain between other nodes:
 *
 *   x ─ before ─ Relu ─┐
 *                 w ─ acme:Mix ─ y ─ Relu ─ after */

static void
import_opset (Model *model, const char *domain, gint64 version)
{
  Onnx__OperatorSetIdProto *set = g_new (Onnx__OperatorSetIdProto, 1);

  onnx__operator_set_id_proto__init (set);
  set->domain = g_strdup (domain);
  set->has_version = 1;
  set->version = version;
  model->opset_import = g_renew (Onnx__OperatorSetIdProto *, model->opset_import, 2);
  model->opset_import[model->n_opset_import++] = set;
}

/* Declares the type of an inner value in the model's value_info. */
static void
add_info (Model *model, const char *name, const char *dims)
{
  Onnx__GraphProto *graph = model->graph;

  model_add_input (model, name, dims);
  graph->value_info = g_renew (Onnx__ValueInfoProto *, graph->value_info, graph->n_value_info + 1);
  graph->value_info[graph->n_value_info++] = graph->input[--graph->n_input];
}

static Model *
model_of_custom (const char *x_dims, const char *y_dims)
{
  Model *model = model_new (17);
  CleaveInts window = CLEAVE_INTS (3, 4);
  Onnx__NodeProto *node;

  import_opset (model, "acme", 7);
  model_add_input (model, "x", x_dims);
  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), NULL);
  model_add_node (model, "Relu", "before", "x", "b");
  node = model_add_node (model, "Mix", "mix", "b - w", "y unread");
  node->domain = g_strdup ("acme");
  node_add_ints (node, "window", &window);
  node_add_string (node, "how", "well");
  model_add_node (model, "Relu", "after", "y", "z");
  model_add_output (model, "z");
  if (y_dims != NULL)
    add_info (model, "y", y_dims);
  return model;
}

static Onnx__ModelProto *export(const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  gsize n;
  const guint8 *data;

  ck_assert_msg (bytes != NULL, "%s", error == NULL ? "" : error->message);
  data = g_bytes_get_data (bytes, &n);
  return onnx__model_proto__unpack (NULL, n, data);
}

static const Onnx__NodeProto *
find_node (const Onnx__ModelProto *model, const char *op)
{
  for (size_t i = 0; i < model->graph->n_node; i++)
    if (strcmp (model->graph->node[i]->op_type, op) == 0)
      return model->graph->node[i];
  return NULL;
}

START_TEST (a_custom_op_is_a_node_of_the_graph)
{
  g_autoptr (Model) model = model_of_custom ("2x8", "2x4");

  model_assert_dump (model, "%0 = Input : float32 2x8  # x\n"
                            "%1 = Relu %0 : float32 2x8  # before\n"
                            "%2 = Constant : float32 2  # w\n"
                            "%3 = Custom %1, %2 op=acme:Mix : float32 2x4  # mix\n"
                            "%4 = Relu %3 : float32 2x4  # after\n"
                            "output %4  # z\n");
}
END_TEST

START_TEST (named_dimensions_of_inputs_give_the_shape)
{
  g_autoptr (Model) model = model_of_custom ("Nx8", "Nx4");
  g_autoptr (GBytes) bytes = model_pack (model);
  CleaveOnnxShape shape = { .name = "x", .shape = CLEAVE_SHAPE (5, 8) };
  CleaveOnnxOptions options = { .shapes = &shape, .n_shapes = 1 };
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &options, NULL);
  const CleaveTensorType *type;

  ck_assert_ptr_nonnull (graph);
  type = cleave_result_get_type (cleave_node_get_result (cleave_graph_find_node (graph, "mix"), 0));
  ck_assert_int_eq (type->shape.dim[0], 5);
}
END_TEST

START_TEST (the_types_of_a_custom_op_must_be_declared)
{
  static const struct
  {
    const char *dims, *message;
  } cases[] = {
    { NULL, "acme:Mix 'mix': the type of its result 'y' is not known: value_info must have its "
            "element type and shape" },
    { "Kx4", "acme:Mix 'mix': the type of its result 'y' is not known: its shape Kx4 has free "
             "dimensions" },
    { "1x1x1x1x1x1x1x1x1", "acme:Mix 'mix': the type of its result 'y' is not known: its rank is "
                           "more than 8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_of_custom ("2x8", cases[i].dims);

      model_assert_error (model, CLEAVE_ERROR_MODEL, cases[i].message);
    }
}
END_TEST

START_TEST (a_custom_op_is_exported_unchanged)
{
  g_autoptr (Model) model = model_of_custom ("2x8", "2x4");
  g_autoptr (CleaveGraph) graph = model_import (model, NULL);
  Onnx__ModelProto *written = export(graph);
  const Onnx__NodeProto *node = find_node (written, "Mix");

  ck_assert_ptr_nonnull (node);
  ck_assert_str_eq (node->domain, "acme");
  ck_assert_str_eq (node->name, "mix");
  ck_assert_uint_eq (node->n_input, 3);
  ck_assert_str_eq (node->input[0], "b");
  ck_assert_str_eq (node->input[1], "");
  ck_assert_str_eq (node->input[2], "w");
  ck_assert_uint_eq (node->n_output, 2);
  ck_assert_str_eq (node->output[0], "y");
  ck_assert_str_eq (node->output[1], "unread");
  ck_assert_uint_eq (node->n_attribute, 2);
  ck_assert_str_eq (node->attribute[0]->name, "window");
  ck_assert_int_eq (node->attribute[0]->ints[1], 4);
  ck_assert_mem_eq (node->attribute[1]->s.data, "well", 4);
  ck_assert_uint_eq (written->n_opset_import, 2);
  ck_assert_str_eq (written->opset_import[1]->domain, "acme");
  ck_assert_int_eq (written->opset_import[1]->version, 7);
  onnx__model_proto__free_unpacked (written, NULL);
}
END_TEST

/* The nodes before and after the custom op are split and exported. */
START_TEST (a_custom_op_is_not_split)
{
  g_autoptr (Model) model = model_of_custom ("2x8", "2x4");
  g_autoptr (CleaveGraph) graph = model_import (model, NULL);
  g_autoptr (GError) error = NULL;
  Onnx__ModelProto *written;

  for (guint i = 0; i < 3; i++)
    {
      static const char *const names[] = { "before", "mix", "after" };
      CleaveNode *node = cleave_graph_find_node (graph, names[i]);
      const gint64 two = 2;
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("0", &two, 1);
      g_autoptr (CleaveSplitReport) report = cleave_split_node (node, split, NULL, &error);

      ck_assert_msg (report != NULL, "%s", error == NULL ? "" : error->message);
    }
  ck_assert_uint_eq (cleave_count_nodes (graph, "Custom"), 1);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Relu"), 4);
  written = export(graph);
  ck_assert_ptr_nonnull (find_node (written, "Mix"));
  onnx__model_proto__free_unpacked (written, NULL);
}
END_TEST

START_TEST (a_custom_op_cannot_be_run)
{
  g_autoptr (Model) model = model_of_custom ("2x8", "2x4");
  g_autoptr (CleaveGraph) graph = model_import (model, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_int_eq (cleave_graph_get_macs (graph), 0);
  ck_assert_int_gt (cleave_graph_get_peak_bytes (graph, NULL), 0);
  ck_assert_ptr_null (cleave_program_new (graph, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL,
                       "Custom 'mix': op=acme:Mix cannot be run: this op is unknown");
}
END_TEST

/* A custom op is not folded, even if it reads only constants. */
START_TEST (a_custom_op_is_not_folded)
{
  g_autoptr (Model) model = model_new (17);
  g_autoptr (CleaveGraph) graph = NULL;

  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), NULL);
  model_add_node (model, "Mix", "mix", "w", "y")->domain = g_strdup ("acme");
  model_add_output (model, "y");
  add_info (model, "y", "3");
  graph = model_import (model, NULL);
  ck_assert_ptr_nonnull (graph);
  ck_assert (cleave_pass_fold_constants (graph, NULL, NULL, NULL));
  ck_assert_uint_eq (cleave_count_nodes (graph, "Custom"), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "in", a_custom_op_is_a_node_of_the_graph,
                   named_dimensions_of_inputs_give_the_shape,
                   the_types_of_a_custom_op_must_be_declared, NULL);
  cleave_add_case (suite, "out", a_custom_op_is_exported_unchanged, NULL);
  cleave_add_case (suite, "between", a_custom_op_is_not_split, a_custom_op_cannot_be_run,
                   a_custom_op_is_not_folded, NULL);
}

CLEAVE_TEST_SUITE ("custom", add_tests)
