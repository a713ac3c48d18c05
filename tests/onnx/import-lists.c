/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inputs and outputs of the model that are sequences or optional values. */

#include "test.h"

#include "../../lib/onnx/wire.h"
#include "models.h"

#include <string.h>

static const CleaveOnnxOptions with_dynamic = { .dynamic = TRUE };

/* Replaces the type of a value by a sequence of tensors of this type, or by an optional tensor. */
static void
make_list (Onnx__ValueInfoProto *info, gboolean is_optional)
{
  Onnx__TypeProto *type = calloc (1, sizeof *type);

  onnx__type_proto__init (type);
  type->value_case =
      is_optional ? ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE : ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
  if (is_optional)
    {
      type->optional_type = calloc (1, sizeof *type->optional_type);
      onnx__type_proto__optional__init (type->optional_type);
      type->optional_type->elem_type = info->type;
    }
  else
    {
      type->sequence_type = calloc (1, sizeof *type->sequence_type);
      onnx__type_proto__sequence__init (type->sequence_type);
      type->sequence_type->elem_type = info->type;
    }
  info->type = type;
}

/* Makes a model whose output t is a copy of the sequence s with one more tensor at the end: relu
 * (x). */
static Model *
append_new (void)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "2x3");
  make_list (model_add_input (model, "s", "Nx3"), FALSE);
  model_add_node (model, "Relu", "relu", "x", "r");
  model_add_node (model, "SequenceInsert", "insert", "s r", "t");
  model_add_output (model, "t");
  model_declare_output (model, 0, "Nx3");
  make_list (model->graph->output[0], FALSE);
  return model;
}

/* Makes a model whose output is TRUE if the optional tensor o is present. */
static Model *
has_new (void)
{
  Model *model = model_new (17);

  make_list (model_add_input (model, "o", "2"), TRUE);
  model_add_node (model, "OptionalHasElement", "has", "o", "y");
  model_add_output (model, "y");
  return model;
}

static CleaveGraph *
import (const Model *model)
{
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);

  g_assert_no_error (error);
  return graph;
}

static CleaveTensor *
make_number (gint64 n)
{
  return cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), &n, NULL);
}

static CleaveTensor *
make_rows (gint64 n, float value)
{
  const CleaveTensorType type = { CLEAVE_FLOAT32, { 2, { n, 3 } } };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);

  for (gint64 i = 0; i < 3 * n; i++)
    ((float *) cleave_tensor_get_mutable_data (tensor))[i] = value;
  return tensor;
}

static gint64
get_number (CleaveTensor *tensor)
{
  ck_assert (cleave_tensor_get_type (tensor)->element == CLEAVE_INT64);
  return *(const gint64 *) cleave_tensor_get_data (tensor);
}

/* Runs the model of append_new() on a sequence `s` of one tensor, and checks the outputs. Returns
 * the outputs: the length of the sequence `t`, then its two tensors. */
static GPtrArray *
run_append (const CleaveGraph *graph)
{
  g_autoptr (CleaveTensor) one = make_number (1), row = make_rows (1, 5), relu = make_rows (2, 7);
  const char *const names[] = { "s", "s", "r" };
  CleaveTensor *const values[] = { one, row, relu };
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 3,
                                                NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  ck_assert_uint_eq (outputs->len, 3);
  ck_assert_int_eq (get_number (outputs->pdata[0]), 2);
  ck_assert (cleave_tensor_equal (outputs->pdata[1], row));
  ck_assert (cleave_tensor_equal (outputs->pdata[2], relu));
  return outputs;
}

START_TEST (a_sequence_goes_in_and_comes_out)
{
  g_autoptr (Model) model = append_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  CleaveTensorType type;

  ck_assert_uint_eq (cleave_graph_get_n_inputs (graph), 1);
  ck_assert_str_eq (cleave_onnx_dynamic_get_inputs (dynamic)[0], "s");
  ck_assert_ptr_null (cleave_onnx_dynamic_get_inputs (dynamic)[1]);
  ck_assert_str_eq (cleave_onnx_dynamic_get_list_type (dynamic, "s", &type), "seq(float32)");
  ck_assert_uint_eq (type.shape.rank, 2);
  ck_assert_int_eq (type.shape.dim[0], -1);
  ck_assert_int_eq (type.shape.dim[1], 3);
  ck_assert_str_eq (cleave_onnx_dynamic_get_list_type (dynamic, "t", NULL), "seq(float32)");
  ck_assert_ptr_null (cleave_onnx_dynamic_get_list_type (dynamic, "x", NULL));
  g_ptr_array_unref (run_append (graph));
}
END_TEST

START_TEST (a_written_model_has_the_types_of_lists)
{
  g_autoptr (Model) model = append_new ();
  g_autoptr (CleaveGraph) graph = import (model), again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  g_autoptr (Model) written = NULL;

  g_assert_no_error (error);
  written = cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", NULL);
  ck_assert_uint_eq (written->graph->n_input, 2);
  ck_assert_str_eq (written->graph->input[1]->name, "s");
  ck_assert (written->graph->input[1]->type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE);
  ck_assert (written->graph->output[0]->type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE);
  again = import (written);
  g_ptr_array_unref (run_append (again));
}
END_TEST

START_TEST (an_optional_value_may_be_absent)
{
  g_autoptr (Model) model = has_new ();
  g_autoptr (CleaveGraph) graph = import (model);

  for (gint64 n = -1; n <= 1; n += 2)
    {
      g_autoptr (CleaveTensor) number = make_number (n), row = make_rows (1, 5);
      CleaveTensor *const values[] = { number, row };
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) outputs = cleave_onnx_dynamic_run (
          cleave_onnx_get_dynamic (graph), (const char *const[]){ "o", "o" }, values,
          1 + (guint) MAX (n, 0), NULL, NULL, NULL, &error);

      g_assert_no_error (error);
      ck_assert_int_eq (*(const guint8 *) cleave_tensor_get_data (outputs->pdata[0]), n > 0);
    }
}
END_TEST

/* Passes a wrong list for the input `name` to a run: the list has `n_tensors` tensors, but the
 * tensor for the length of the list contains `n`. Asserts that the run fails with the error message
 * `message`. */
static void
assert_refused (
    const Model *model, const char *name, gint64 n, guint n_tensors, const char *message)
{
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) number = make_number (n), row = make_rows (1, 5),
                           relu = make_rows (2, 7);
  const char *const names[] = { "r", name, name, name };
  CleaveTensor *const values[] = { relu, number, row, row };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values,
                                               2 + n_tensors, NULL, NULL, NULL, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION);
  ck_assert_str_eq (error->message, message);
}

/* Makes a model whose output is the optional tensor o. */
static Model *
optional_new (void)
{
  Model *model = model_new (17);

  make_list (model_add_input (model, "o", "Nx3"), TRUE);
  model_add_node (model, "Identity", "same", "o", "p");
  model_add_output (model, "p");
  model_declare_output (model, 0, "Nx3");
  make_list (model->graph->output[0], TRUE);
  return model;
}

START_TEST (an_optional_output_may_be_absent)
{
  g_autoptr (Model) model = optional_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) none = make_number (-1), one = make_number (1), row = make_rows (1, 5);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const char *const names[] = { "o", "o" };
  CleaveTensor *const absent[] = { none }, *const present[] = { one, row };
  g_autoptr (GPtrArray) without =
      cleave_onnx_dynamic_run (dynamic, names, absent, 1, NULL, NULL, NULL, NULL);
  g_autoptr (GPtrArray) with =
      cleave_onnx_dynamic_run (dynamic, names, present, 2, NULL, NULL, NULL, NULL);

  ck_assert_str_eq (cleave_onnx_dynamic_get_list_type (dynamic, "p", NULL), "optional(float32)");
  ck_assert_uint_eq (without->len, 1);
  ck_assert_int_eq (get_number (without->pdata[0]), -1);
  ck_assert_uint_eq (with->len, 2);
  ck_assert_int_eq (get_number (with->pdata[0]), 1);
  ck_assert (cleave_tensor_equal (with->pdata[1], row));
}
END_TEST

static void
set_strings (Onnx__ValueInfoProto *info)
{
  info->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

/* Makes a model that appends the strings x to the sequence of strings s. */
static Model *
strings_new (void)
{
  Model *model = model_new (17);

  set_strings (model_add_input (model, "x", "2"));
  set_strings (model_add_input (model, "s", "N"));
  make_list (model->graph->input[1], FALSE);
  model_add_node (model, "SequenceInsert", "insert", "s x", "t");
  model_add_output (model, "t");
  model_declare_output (model, 0, "N");
  set_strings (model->graph->output[0]);
  make_list (model->graph->output[0], FALSE);
  return model;
}

START_TEST (a_sequence_of_strings_goes_in_and_comes_out)
{
  g_autoptr (Model) model = strings_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  g_autoptr (CleaveTensor) number = make_number (1);
  g_autoptr (CleaveTensor) item =
      cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_UINT8, 1, 5), "lynx", NULL);
  g_autoptr (CleaveTensor) x =
      cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_UINT8, 2, 3), "ox\0cat", NULL);
  const char *const names[] = { "x", "s", "s" };
  CleaveTensor *const values[] = { x, number, item };
  g_autoptr (GPtrArray) got =
      cleave_onnx_dynamic_run (dynamic, names, values, 3, NULL, NULL, NULL, NULL);

  ck_assert_str_eq (cleave_onnx_dynamic_get_list_type (dynamic, "t", NULL), "seq(string)");
  ck_assert (cleave_onnx_dynamic_has_strings (dynamic, "t"));
  ck_assert_uint_eq (got->len, 3);
  ck_assert_int_eq (get_number (got->pdata[0]), 2);
  ck_assert_mem_eq (cleave_tensor_get_data (got->pdata[1]), "lynx", 4);
  ck_assert_mem_eq (cleave_tensor_get_data (got->pdata[2]), "ox\0cat", 6);
}
END_TEST

START_TEST (wrong_lists_are_errors)
{
  g_autoptr (Model) append = append_new (), has = has_new ();

  assert_refused (append, "s", 2, 1,
                  "input 's' is seq(float32): give the number of its tensors as an int64, or -1 "
                  "for none, and then the tensors");
  assert_refused (append, "s", -2, 0,
                  "input 's' is seq(float32): give the number of its tensors as an int64, or -1 "
                  "for none, and then the tensors");
  assert_refused (append, "s", -1, 0, "input 's' is seq(float32): give its tensors");
  assert_refused (has, "o", 2, 2, "input 'o' is optional(float32): give one tensor or none, not 2");
}
END_TEST

START_TEST (lists_without_a_dynamic_part_are_errors)
{
  g_autoptr (Model) append = append_new ();

  model_assert_error (
      append, CLEAVE_ERROR_MODEL,
      "input 's' is a sequence, not a tensor: make its tensors inputs of the model");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lists", a_sequence_goes_in_and_comes_out,
                   a_written_model_has_the_types_of_lists, an_optional_value_may_be_absent,
                   an_optional_output_may_be_absent, a_sequence_of_strings_goes_in_and_comes_out,
                   wrong_lists_are_errors, lists_without_a_dynamic_part_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("import-lists", add_tests)
