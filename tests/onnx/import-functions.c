/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of functions of a model: the nodes of the function replace each call. */

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "models.h"

#define DOMAIN "local"

static void
add_text (char ***list, size_t *n, const char *text)
{
  *list = realloc (*list, (*n + 1) * sizeof **list);
  (*list)[(*n)++] = strdup (text);
}

/* Adds a function with the nodes of `body`, and takes ownership of `body`. Blanks separate the
 * names of inputs, outputs and attributes. */
static Onnx__FunctionProto *
add_function (Model *model,
              const char *name,
              const char *inputs,
              const char *outputs,
              const char *attrs,
              Model *body)
{
  Onnx__FunctionProto *function = malloc (sizeof *function);
  g_auto (GStrv) ins = g_strsplit (inputs, " ", -1), outs = g_strsplit (outputs, " ", -1);
  g_auto (GStrv) names = g_strsplit (attrs, " ", -1);

  onnx__function_proto__init (function);
  function->name = strdup (name);
  function->domain = strdup (DOMAIN);
  for (guint i = 0; ins[i] != NULL; i++)
    add_text (&function->input, &function->n_input, ins[i]);
  for (guint i = 0; outs[i] != NULL; i++)
    add_text (&function->output, &function->n_output, outs[i]);
  for (guint i = 0; names[i] != NULL; i++)
    add_text (&function->attribute, &function->n_attribute, names[i]);
  function->node = g_steal_pointer (&body->graph->node);
  function->n_node = body->graph->n_node;
  body->graph->n_node = 0;
  model_free (body);
  model->functions =
      realloc (model->functions, (model->n_functions + 1) * sizeof *model->functions);
  model->functions[model->n_functions++] = function;
  return function;
}

static Onnx__NodeProto *
add_call (
    Model *model, const char *function, const char *name, const char *operands, const char *results)
{
  Onnx__NodeProto *node = model_add_node (model, function, name, operands, results);

  node->domain = strdup (DOMAIN);
  return node;
}

/* Adds an attribute to a node. The attribute takes its value from an attribute of the function. */
static void
refer (Onnx__NodeProto *node,
       const char *name,
       Onnx__AttributeProto__AttributeType type,
       const char *to)
{
  node_add_attr (node, name, type)->ref_attr_name = strdup (to);
}

/* Begins a model with an input x of 2x3 and an output y. */
static Model *
start (void)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "2x3");
  model_add_output (model, "y");
  return model;
}

/* Adds the function gate (a, b) = a * Sigmoid (a) + b. */
static void
add_gate (Model *model)
{
  Model *body = model_new (17);

  model_add_node (body, "Sigmoid", "sigmoid", "a", "s");
  model_add_node (body, "Mul", "mul", "a s", "y");
  model_add_node (body, "Add", "add", "y b", "r");
  add_function (model, "gate", "a b", "r", "", body);
}

START_TEST (a_call_becomes_the_nodes_of_its_function)
{
  g_autoptr (Model) model = start ();

  add_gate (model);
  add_call (model, "gate", "g", "x x", "t");
  add_call (model, "gate", "h", "t x", "y");
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = Sigmoid %0 : float32 2x3  # g/sigmoid\n"
                            "%2 = Mul %0, %1 : float32 2x3  # g/mul\n"
                            "%3 = Add %2, %0 : float32 2x3  # g/add\n"
                            "%4 = Sigmoid %3 : float32 2x3  # h/sigmoid\n"
                            "%5 = Mul %3, %4 : float32 2x3  # h/mul\n"
                            "%6 = Add %5, %0 : float32 2x3  # h/add\n"
                            "output %6  # y\n");
}
END_TEST

START_TEST (attributes_of_a_call_reach_the_nodes)
{
  g_autoptr (Model) model = start ();
  Model *body = model_new (17);

  refer (model_add_node (body, "LeakyRelu", "l", "a", "b"), "alpha",
         ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, "slope");
  refer (model_add_node (body, "Softmax", "s", "b", "c"), "axis",
         ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, "dim");
  add_function (model, "norm", "a", "c", "slope dim", body);
  node_add_float (add_call (model, "norm", "n", "x", "y"), "slope", 0.5F);
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = LeakyRelu %0 alpha=0.5 : float32 2x3  # n/l\n"
                            "%2 = Softmax %1 axis=1 : float32 2x3  # n/s\n"
                            "output %2  # y\n");
}
END_TEST

/* A call without an attribute has the attribute's default. The default is in field 11 of a
 * function, attribute_proto, which the schema of libonnx-dev lacks. */
START_TEST (a_call_without_an_attribute_has_the_default)
{
  g_autoptr (Model) model = start ();
  Model *body = model_new (17);
  Onnx__NodeProto *holder = model_add_node (body, "Relu", "unused", "a", "unused");
  g_autofree guint8 *data = NULL;
  Onnx__FunctionProto *function;
  ProtobufCMessageUnknownField *field = malloc (sizeof *field);
  gsize n;

  node_add_float (holder, "slope", 0.25F);
  n = onnx__attribute_proto__get_packed_size (holder->attribute[0]);
  ck_assert_uint_lt (n, 128);
  field->data = malloc (n + 1);
  field->data[0] = (guint8) n;
  onnx__attribute_proto__pack (holder->attribute[0], field->data + 1);
  field->tag = 11;
  field->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
  field->len = n + 1;
  onnx__attribute_proto__free_unpacked (holder->attribute[0], NULL);
  holder->n_attribute = 0;
  refer (model_add_node (body, "LeakyRelu", "l", "a", "b"), "alpha",
         ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, "slope");
  function = add_function (model, "leak", "a", "b", "", body);
  function->base.unknown_fields = field;
  function->base.n_unknown_fields = 1;
  add_call (model, "leak", "n", "x", "y");
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = Relu %0 : float32 2x3  # n/unused\n"
                            "%2 = LeakyRelu %0 alpha=0.25 : float32 2x3  # n/l\n"
                            "output %2  # y\n");
}
END_TEST

/* A function may call another function: outer (a) computes Relu (inner (a)). A call may pass fewer
 * operands than the function has: inner (c, lo) computes Clip (c, lo), and outer passes no operand
 * for lo. */
START_TEST (functions_call_functions_and_may_lack_operands)
{
  g_autoptr (Model) model = start ();
  Model *inner = model_new (17), *outer = model_new (17);

  model_add_node (inner, "Clip", "clip", "c lo", "d");
  add_function (model, "inner", "c lo", "d", "", inner);
  add_call (outer, "inner", "i", "a", "b");
  model_add_node (outer, "Relu", "relu", "b", "r");
  add_function (model, "outer", "a", "r", "", outer);
  add_call (model, "outer", "o", "x", "y");
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = Clip %0 : float32 2x3  # o/i/clip\n"
                            "%2 = Relu %1 : float32 2x3  # o/relu\n"
                            "output %2  # y\n");
}
END_TEST

/* A value of a function and a value of the model may have the same name. An input of a function may
 * be its output. */
START_TEST (names_of_a_function_are_its_own)
{
  g_autoptr (Model) model = start ();
  Model *body = model_new (17);

  model_add_node (body, "Neg", "n", "x", "y");
  model_add_node (body, "Abs", "m", "y", "t");
  add_function (model, "f", "x", "t x", "", body);
  model_add_node (model, "Relu", "first", "x", "n/y");
  add_call (model, "f", "n", "n/y", "t u");
  model_add_node (model, "Add", "last", "t u", "y");
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = Relu %0 : float32 2x3  # first\n"
                            "%2 = Neg %1 : float32 2x3  # n/n\n"
                            "%3 = Abs %2 : float32 2x3  # n/m\n"
                            "%4 = Identity %1 : float32 2x3  # u\n"
                            "%5 = Add %3, %4 : float32 2x3  # last\n"
                            "output %5  # y\n");
}
END_TEST

/* A call in the body of a Loop is replaced by the nodes of the function, once for each of the two
 * iterations. */
START_TEST (calls_within_inner_graphs_are_inlined)
{
  g_autoptr (Model) model = start ();
  CleaveTensorType flag = CLEAVE_SCALAR (CLEAVE_BOOL), number = CLEAVE_SCALAR (CLEAVE_INT64);
  Model *body = model_new (17);

  model_add_initializer (model, "go", &flag, (const guint8[]){ 1 });
  model_add_initializer (model, "two", &number, (const gint64[]){ 2 });
  add_gate (model);
  model_add_input (body, "i", "");
  body->graph->input[0]->type->tensor_type->elem_type = 7;
  model_add_input (body, "c", "");
  body->graph->input[1]->type->tensor_type->elem_type = 9;
  model_add_input (body, "s", "2x3");
  add_call (body, "gate", "g", "s x", "t");
  model_add_node (body, "Identity", "id", "c", "c2");
  model_add_output (body, "c2");
  model_add_output (body, "t");
  node_add_graph (model_add_node (model, "Loop", "loop", "two go x", "y"), "body", body);
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (CleaveGraph) graph = model_import (model, &error);

    cleave_assert_no_error (error);
    ck_assert_uint_eq (cleave_graph_count_operators (graph), 6);
  }
}
END_TEST

START_TEST (wrong_calls_are_errors)
{
  g_autoptr (Model) many = start (), circle = start (), twice = start (), absent = start ();
  Model *body = model_new (17);

  add_gate (many);
  add_call (many, "gate", "g", "x x x", "y");
  model_assert_error (many, CLEAVE_ERROR_MODEL,
                      "call 'g' of the function 'gate': it has more operands than the function has "
                      "inputs");
  add_call (body, "f", "f", "a", "b");
  add_function (circle, "f", "a", "b", "", body);
  add_call (circle, "f", "c", "x", "y");
  model_assert_error (circle, CLEAVE_ERROR_MODEL,
                      "function 'f': calls are nested more than 64 deep, perhaps in a circle");
  add_gate (twice);
  add_gate (twice);
  model_assert_error (twice, CLEAVE_ERROR_MODEL, "function 'gate' is defined twice");
  add_gate (absent);
  add_call (absent, "gate", "g", "x", "y");
  model_assert_error (absent, CLEAVE_ERROR_OPTION, "Add 'g/add': takes 2 operands, not 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "functions", a_call_becomes_the_nodes_of_its_function,
                   attributes_of_a_call_reach_the_nodes,
                   a_call_without_an_attribute_has_the_default,
                   functions_call_functions_and_may_lack_operands, names_of_a_function_are_its_own,
                   calls_within_inner_graphs_are_inlined, wrong_calls_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("import-functions", add_tests)
