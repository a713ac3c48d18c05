/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Imports and runs models with a dynamic part. */

#include "dynamic-models.h"

#include "interpret.h"
#include "test.h"

const CleaveOnnxOptions dynamic_options = { .dynamic = TRUE };

CleaveGraph *
dynamic_import (const Model *model)
{
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_onnx_parse (bytes, NULL, &dynamic_options, &error);

  g_assert_no_error (error);
  return graph;
}

GPtrArray *
dynamic_run_many (const CleaveGraph *graph, const GPtrArray *inputs, CleaveOnnxDynamicStats *stats)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  g_autoptr (GPtrArray) got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
      g_ptr_array_add (values, inputs->pdata[i]);
    }
  for (guint i = 0; i < got->len; i++)
    {
      g_ptr_array_add (names, g_strdup (cleave_graph_get_output_name (graph, i)));
      g_ptr_array_add (values, got->pdata[i]);
    }
  outputs = cleave_onnx_dynamic_run (
      cleave_onnx_get_dynamic (graph), (const char *const *) names->pdata,
      (CleaveTensor *const *) values->pdata, values->len, NULL, NULL, stats, &error);
  g_assert_no_error (error);
  return outputs;
}

GPtrArray *
dynamic_run (const CleaveGraph *graph, CleaveTensor *x, CleaveOnnxDynamicStats *stats)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();

  g_ptr_array_add (inputs, x);
  return dynamic_run_many (graph, inputs, stats);
}

CleaveTensor *
dynamic_make_x (const CleaveTensorType *type, guint64 seed)
{
  CleaveTensor *x = cleave_tensor_new (type, NULL);

  cleave_tensor_fill_random (x, "x", seed);
  return x;
}

GPtrArray *
dynamic_fold (const Model *model, CleaveTensor *x)
{
  const CleaveOnnxGiven given = { "x", x };
  const CleaveOnnxOptions options = { .values = &given, .n_values = 1 };
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &options, &error);

  g_assert_no_error (error);
  return cleave_interpret (graph, NULL);
}

void
dynamic_assert_equal (const GPtrArray *one, const GPtrArray *other)
{
  ck_assert_uint_eq (one->len, other->len);
  for (guint i = 0; i < one->len; i++)
    ck_assert (cleave_tensor_equal (one->pdata[i], other->pdata[i]));
}

Model *
dynamic_mask_new (void)
{
  Model *model = model_new (16);
  const float half = 0.5;

  model_add_input (model, "x", "4x6");
  model_add_initializer (model, "half", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &half);
  model_add_node (model, "Relu", "relu", "x", "r");
  model_add_node (model, "Greater", "greater", "r half", "above");
  model_add_node (model, "NonZero", "where", "above", "i");
  node_add_ints (model_add_node (model, "Transpose", "rows", "i", "j"), "perm",
                 &CLEAVE_INTS (1, 0));
  model_add_node (model, "GatherND", "values", "r j", "v");
  model_add_node (model, "Neg", "neg", "r", "n");
  model_add_output (model, "v");
  model_add_output (model, "n");
  model_declare_output (model, 0, NULL);
  return model;
}
