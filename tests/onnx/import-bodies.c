/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Constants in bodies of Loop, Scan and If, in all forms in which a file stores them, in nested
 * bodies. Each iteration multiplies by the constant 3. */

#include "test.h"

#include "interpret.h"
#include "models.h"
#include "tensor-proto.h"

#define HALF_3 0x4200     /* 3 as float16 */
#define BFLOAT16_3 0x4040 /* 3 as bfloat16 */

/* The functions below make the constant 3 in all storage forms. */

static Onnx__TensorProto *
three_as_raw_data (void)
{
  static const float three = 3;

  return tensor_new ("k", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1), &three);
}

/* Returns a tensor of one element without data. */
static Onnx__TensorProto *
without_data (CleaveElement element)
{
  Onnx__TensorProto *tensor = tensor_new ("k", &CLEAVE_TYPE (element, 1), NULL);

  tensor->has_raw_data = 0;
  g_clear_pointer (&tensor->raw_data.data, g_free);
  tensor->raw_data.len = 0;
  return tensor;
}

/* Stores the constant 3 in the TensorProto list that ONNX specifies for the element type. */
static Onnx__TensorProto *
three_as_list (CleaveElement element)
{
  Onnx__TensorProto *tensor = without_data (element);

  if (element == CLEAVE_FLOAT32)
    {
      tensor->n_float_data = 1;
      *(tensor->float_data = g_new (float, 1)) = 3;
    }
  else if (element == CLEAVE_FLOAT64)
    {
      tensor->n_double_data = 1;
      *(tensor->double_data = g_new (double, 1)) = 3;
    }
  else if (element == CLEAVE_INT64)
    {
      tensor->n_int64_data = 1;
      *(tensor->int64_data = g_new (gint64, 1)) = 3;
    }
  else if (element == CLEAVE_UINT32 || element == CLEAVE_UINT64)
    {
      tensor->n_uint64_data = 1;
      *(tensor->uint64_data = g_new (guint64, 1)) = 3;
    }
  else
    {
      tensor->n_int32_data = 1;
      *(tensor->int32_data = g_new (gint32, 1)) = element == CLEAVE_FLOAT16    ? HALF_3
                                                  : element == CLEAVE_BFLOAT16 ? BFLOAT16_3
                                                                               : 3;
    }
  return tensor;
}

static void
add_tensor (Onnx__NodeProto *node, Onnx__TensorProto *tensor)
{
  node_add_attr (node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t = tensor;
}

static void
add_initializer (Model *body, Onnx__TensorProto *tensor)
{
  Onnx__TensorProto *added =
      model_add_initializer (body, "k", &CLEAVE_TYPE (CLEAVE_FLOAT32, 0), NULL);

  body->graph->initializer[body->graph->n_initializer - 1] = tensor;
  onnx__tensor_proto__free_unpacked (added, NULL);
}

/* Adds the constant as an element of 4 bits, and a DequantizeLinear that reads it. No other op may
 * read an element of 4 bits. */
static void
add_half_byte (Model *body)
{
  static const float one = 1;
  Onnx__TensorProto *tensor = without_data (CLEAVE_INT8);

  tensor->data_type = 22; /* int4, which Debian's schema does not have */
  g_free (tensor->name);
  tensor->name = g_strdup ("packed");
  tensor->n_int32_data = 1;
  *(tensor->int32_data = g_new (gint32, 1)) = 3;
  add_initializer (body, tensor);
  model_add_initializer (body, "one", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &one);
  model_add_node (body, "DequantizeLinear", "k", "packed one", "k");
}

typedef enum {
  CONSTANT,
  CONSTANT_OF_SHAPE,
  INITIALIZER,
  FIRST_WITHOUT_TENSOR,
  VALUE_FLOAT = FIRST_WITHOUT_TENSOR,
  VALUE_INTS,
  HALF_BYTE,
  N_HOLDERS
} Holder;

/* Adds the value `k` with the single element 3. `element` is its type; CLEAVE_NONE: float32 as raw
 * data. */
static void
add_three (Model *body, Holder holder, CleaveElement element)
{
  Onnx__TensorProto *tensor = holder >= FIRST_WITHOUT_TENSOR ? NULL
                              : element == CLEAVE_NONE       ? three_as_raw_data ()
                                                             : three_as_list (element);
  static const gint64 one = 1;

  if (holder == CONSTANT)
    add_tensor (model_add_node (body, "Constant", "k", "", "k"), tensor);
  else if (holder == CONSTANT_OF_SHAPE)
    {
      model_add_initializer (body, "shape", &CLEAVE_TYPE (CLEAVE_INT64, 1), &one);
      add_tensor (model_add_node (body, "ConstantOfShape", "k", "shape", "k"), tensor);
    }
  else if (holder == INITIALIZER)
    add_initializer (body, tensor);
  else if (holder == VALUE_FLOAT)
    node_add_float (model_add_node (body, "Constant", "k", "", "k"), "value_float", 3);
  else if (holder == VALUE_INTS)
    node_add_ints (model_add_node (body, "Constant", "k", "", "k"), "value_ints", &CLEAVE_INTS (3));
  else
    add_half_byte (body);
}

/* The functions below make bodies of Loop, Scan and If. The innermost body reads the value `k` of
 * add_three(). */

typedef struct
{
  Holder holder;
  CleaveElement element;
  const char *bodies; /* one letter for each nested body, outermost first: L for Loop, S for Scan, I
                       * for If */
} Case;

static void
add_product (Model *model, const Case *c, const char *bodies, const char *from, const char *to);

/* Returns a body that computes one value. The body of a Loop or a Scan computes the value from its
 * carried value; the branch of an If computes the value from the outer value `from`. */
static Model *
body_new (const Case *c, const char *bodies, const char *from)
{
  Model *body = model_new (21);
  g_autofree char *s =
      *bodies == 'I' ? g_strdup (from) : g_strconcat (from, *bodies == 'L' ? "l" : "s", NULL);
  g_autofree char *t = g_strconcat (s, ".product", NULL);
  g_autofree char *index = g_strconcat (s, ".index", NULL);
  g_autofree char *goes_on = g_strconcat (s, ".goes_on", NULL);

  if (*bodies == 'L')
    {
      model_add_input (body, index, "");
      model_add_input (body, goes_on, "");
      model_add_output (body, goes_on);
    }
  if (*bodies != 'I')
    model_add_input (body, s, "2");
  if (*bodies == 'S')
    model_add_input (body, index, "");
  add_product (body, c, bodies + 1, s, t);
  model_add_output (body, t);
  return body;
}

static void
add_product (Model *model, const Case *c, const char *bodies, const char *from, const char *to)
{
  g_autofree char *operands = NULL;
  Onnx__NodeProto *node;

  if (*bodies == '\0')
    {
      gboolean is_float = c->element == CLEAVE_NONE || c->element == CLEAVE_FLOAT32;
      g_autofree char *both = g_strconcat (from, is_float ? " k" : " real", NULL);

      add_three (model, c->holder, c->element);
      if (!is_float)
        node_add_int (model_add_node (model, "Cast", "cast", "k", "real"), "to", 1);
      model_add_node (model, "Mul", "mul", both, to);
      return;
    }
  operands = *bodies == 'L'   ? g_strconcat ("two yes ", from, NULL)
             : *bodies == 'S' ? g_strconcat (from, " rows", NULL)
                              : g_strdup ("yes");
  node = model_add_node (model,
                         *bodies == 'L'   ? "Loop"
                         : *bodies == 'S' ? "Scan"
                                          : "If",
                         *bodies == 'L'   ? "loop"
                         : *bodies == 'S' ? "scan"
                                          : "if",
                         operands, to);
  if (*bodies == 'S')
    node_add_int (node, "num_scan_inputs", 1);
  node_add_graph (node, *bodies == 'I' ? "then_branch" : "body", body_new (c, bodies, from));
  if (*bodies == 'I')
    node_add_graph (node, "else_branch", body_new (c, bodies, from));
}

static Model *
model_of (const Case *c)
{
  static const guint8 yes = 1;
  static const gint64 two = 2;
  Model *model = model_new (21);

  model_add_input (model, "x", "2");
  model_add_initializer (model, "two", &CLEAVE_SCALAR (CLEAVE_INT64), &two);
  model_add_initializer (model, "yes", &CLEAVE_SCALAR (CLEAVE_BOOL), &yes);
  model_add_initializer (model, "rows", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), NULL);
  add_product (model, c, c->bodies, "x", "y");
  model_add_output (model, "y");
  return model;
}

/* Imports the model, computes it for x = [1, 2], and asserts the result. */
static void
assert_product (const Case *c)
{
  static const float data[] = { 1, 2 };
  g_autoptr (Model) model = model_of (c);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);
  g_autoptr (CleaveTensor) x =
      cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2), data, NULL);
  g_autoptr (GPtrArray) outputs = NULL;
  const float *y;
  float want = 1;

  if (graph == NULL)
    ck_abort_msg ("%s, holder %d, %s: %s", c->bodies, c->holder,
                  cleave_element_get_name (c->element), error->message);
  for (const char *body = c->bodies; *body != '\0'; body++)
    want *= *body == 'I' ? 1 : 2;
  want = want == 1 ? 3 : want == 2 ? 9 : want == 4 ? 81 : 6561;
  outputs = cleave_interpret (graph, &x);
  y = cleave_tensor_get_data (outputs->pdata[0]);
  cleave_assert (y[0] == want && y[1] == 2 * want);
}

static const char *const nests[] = { "I",  "L",  "S",   "LI",  "SI",  "LL",
                                     "LS", "SL", "LLI", "LIL", "ISL", "LSLI" };

START_TEST (iterations_share_constants_of_every_element_type)
{
  static const CleaveElement elements[] = { CLEAVE_NONE,    CLEAVE_FLOAT32,  CLEAVE_FLOAT64,
                                            CLEAVE_FLOAT16, CLEAVE_BFLOAT16, CLEAVE_INT8,
                                            CLEAVE_UINT8,   CLEAVE_INT16,    CLEAVE_UINT16,
                                            CLEAVE_INT32,   CLEAVE_UINT32,   CLEAVE_INT64,
                                            CLEAVE_UINT64 };

  for (guint n = 0; n < G_N_ELEMENTS (nests); n++)
    for (Holder holder = 0; holder < FIRST_WITHOUT_TENSOR; holder++)
      for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
        assert_product (&(Case){ holder, elements[e], nests[n] });
}
END_TEST

START_TEST (iterations_share_constants_of_every_form)
{
  for (guint n = 0; n < G_N_ELEMENTS (nests); n++)
    for (Holder holder = FIRST_WITHOUT_TENSOR; holder < N_HOLDERS; holder++)
      assert_product (
          &(Case){ holder, holder == VALUE_INTS ? CLEAVE_INT64 : CLEAVE_FLOAT32, nests[n] });
}
END_TEST

/* The constant of a body becomes one node for all iterations, so that an exported file has it once.
 */
START_TEST (a_constant_of_a_body_becomes_one_node)
{
  static const Holder holders[] = { CONSTANT, INITIALIZER };

  for (guint n = 0; n < G_N_ELEMENTS (nests); n++)
    for (guint h = 0; h < G_N_ELEMENTS (holders); h++)
      {
        g_autoptr (Model) model = model_of (&(Case){ holders[h], CLEAVE_FLOAT32, nests[n] });
        g_autoptr (GError) error = NULL;
        g_autoptr (CleaveGraph) graph = NULL;
        guint n_constants = 0;

        graph = model_import (model, &error);
        cleave_assert (graph != NULL);
        for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
             node = cleave_node_get_next (node))
          n_constants += cleave_node_get_constant (node) != NULL ? 1 : 0;
        ck_assert_uint_eq (n_constants, 1);
      }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "import-bodies", iterations_share_constants_of_every_element_type,
                   iterations_share_constants_of_every_form, a_constant_of_a_body_becomes_one_node,
                   NULL);
}

CLEAVE_TEST_SUITE ("import-bodies", add_tests)
