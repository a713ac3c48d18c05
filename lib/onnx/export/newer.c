/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts nodes of the dynamic part to a later opset. The shapes of the nodes' operands are not
 * known, so a rewrite may add ops that compute shapes at run time:
 *
 *     Squeeze (x, axes = [1])     =>   Constant -> a,  Squeeze (x, a)
 *     Softmax (x, axis = 1)       =>   Shape (x) -> s,  Flatten (x, axis = 1) -> f,
 *                                      Softmax (f, axis = 1) -> g,  Reshape (g, s)
 *
 * ONNX's Changelog.md lists the changes of each opset.
 *
 * Over 400 lines: this file has the conversions of all ops. */

#include "newer.h"
#include "export.h"

#include "../../ir/op.h"
#include "../rename.h"

#include <stdlib.h>
#include <string.h>

typedef struct
{
  gint64 from, to;   /* opset of the node, and opset of the converted node */
  GHashTable *taken; /* set of the names of values in use */
  GPtrArray *nodes;  /* Onnx__NodeProto: converted nodes of the graph so far */
  Onnx__NodeProto *node;
} Conversion;

/* Kinds of attributes that later opsets have as operands: a list of integers (LIST), a number that
 * is cast to the type of operand 0 (REAL), or a list of numbers (REALS). */
typedef enum { LIST, REAL, REALS } Kind;

static const struct
{
  const char *op, *attr;
  gint64 since;
  guint operand;
  Kind kind;
} moved[] = {
  { "Clip", "min", 11, 1, REAL },
  { "Clip", "max", 11, 2, REAL },
  { "DFT", "axis", 20, 2, LIST },
  { "Pad", "pads", 11, 1, LIST },
  { "Pad", "value", 11, 2, REAL },
  { "ReduceL1", "axes", 18, 1, LIST },
  { "ReduceL2", "axes", 18, 1, LIST },
  { "ReduceLogSum", "axes", 18, 1, LIST },
  { "ReduceLogSumExp", "axes", 18, 1, LIST },
  { "ReduceMax", "axes", 18, 1, LIST },
  { "ReduceMean", "axes", 18, 1, LIST },
  { "ReduceMin", "axes", 18, 1, LIST },
  { "ReduceProd", "axes", 18, 1, LIST },
  { "ReduceSum", "axes", 13, 1, LIST },
  { "ReduceSumSquare", "axes", 18, 1, LIST },
  { "Slice", "starts", 10, 1, LIST },
  { "Slice", "ends", 10, 2, LIST },
  { "Slice", "axes", 10, 3, LIST },
  { "Split", "split", 13, 1, LIST },
  { "Squeeze", "axes", 13, 1, LIST },
  { "TopK", "k", 10, 1, LIST },
  { "Unsqueeze", "axes", 13, 1, LIST },
  { "Upsample", "scales", 9, 1, REALS },
};

/* Ops whose older form cannot be converted, and the first opset of the new form. */
static const struct
{
  const char *op;
  gint64 since;
} refused[] = {
  { "Cast", 6 }, { "GroupNormalization", 21 }, { "Reshape", 5 }, { "Scan", 9 }, { "Tile", 6 },
};

static gboolean
is_passed (const Conversion *c, gint64 since)
{
  return c->from < since && c->to >= since;
}

static gboolean
is_op (const Conversion *c, const char *op)
{
  return strcmp (c->node->op_type, op) == 0;
}

static gboolean
fail_form (const Conversion *c, GError **error)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "%s '%s': its form of opset %" G_GINT64_FORMAT
                      " cannot be written as opset %" G_GINT64_FORMAT,
                      c->node->op_type, c->node->name == NULL ? "" : c->node->name, c->from, c->to);
}

/* The functions below read and change attributes and operands, and add nodes. */

static Onnx__AttributeProto *
find (const Onnx__NodeProto *node, const char *name)
{
  for (size_t i = 0; i < node->n_attribute; i++)
    if (g_strcmp0 (node->attribute[i]->name, name) == 0)
      return node->attribute[i];
  return NULL;
}

/* Removes an attribute from the node and returns it. Returns NULL if there is none. */
static Onnx__AttributeProto *
take (Onnx__NodeProto *node, const char *name)
{
  Onnx__AttributeProto *found = find (node, name);
  size_t n = 0;

  for (size_t i = 0; i < node->n_attribute; i++)
    if (node->attribute[i] != found)
      node->attribute[n++] = node->attribute[i];
  node->n_attribute = n;
  return found;
}

/* Adds an attribute, unless the node has an attribute of this name. */
static void
add_string (Onnx__NodeProto *node, const char *name, const char *value)
{
  if (find (node, name) == NULL)
    cleave_onnx_add_string (node, name, value);
}

static void
set_input (Onnx__NodeProto *node, guint index, const char *name)
{
  if (node->n_input <= index)
    node->input = g_renew (char *, node->input, index + 1);
  while (node->n_input <= index)
    node->input[node->n_input++] = g_strdup ("");
  cleave_onnx_set_text (&node->input[index], name);
}

static char *
new_name (Conversion *c, const char *suffix)
{
  const char *base = *c->node->output[0] != '\0' ? c->node->output[0] : c->node->op_type;
  char *name = g_strconcat (base, suffix, NULL);

  for (guint i = 1; g_hash_table_contains (c->taken, name); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s%s_%u", base, suffix, i);
    }
  g_hash_table_add (c->taken, g_strdup (name));
  return name;
}

/* Adds a node before c->node, which is being converted. `x` and `y` are its operands; NULL: none.
 * Returns the new node, whose result has a new name. */
static Onnx__NodeProto *
add_node (Conversion *c, const char *op, const char *suffix, const char *x, const char *y)
{
  Onnx__NodeProto *node = g_new (Onnx__NodeProto, 1);

  onnx__node_proto__init (node);
  node->op_type = g_strdup (op);
  node->output = g_new (char *, 1);
  node->output[node->n_output++] = new_name (c, suffix);
  if (x != NULL)
    set_input (node, 0, x);
  if (y != NULL)
    set_input (node, 1, y);
  g_ptr_array_add (c->nodes, node);
  return node;
}

/* Adds a Constant: a scalar (`rank` 0) or a list of `n` elements (`rank` 1). Returns the name of
 * its value. */
static const char *
add_constant (Conversion *c, const char *suffix, int type, guint rank, gconstpointer data, gsize n)
{
  Onnx__NodeProto *node = add_node (c, "Constant", suffix, NULL, NULL);
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
  gsize n_bytes =
      n * (type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ? sizeof (gint64) : sizeof (float));

  attr->t = g_new (Onnx__TensorProto, 1);
  onnx__tensor_proto__init (attr->t);
  attr->t->has_data_type = 1;
  attr->t->data_type = type;
  attr->t->n_dims = rank;
  attr->t->dims = g_new (int64_t, 1);
  attr->t->dims[0] = (int64_t) n;
  attr->t->has_raw_data = 1;
  attr->t->raw_data.len = n_bytes;
  attr->t->raw_data.data = g_memdup2 (data, n_bytes);
  return node->output[0];
}

/* The functions below convert nodes, each for one op or for several similar ops. */

static void
move_attr (Conversion *c, const char *name, guint operand, Kind kind)
{
  g_autofree char *suffix = g_strconcat (".", name, NULL);
  Onnx__AttributeProto *attr = take (c->node, name);
  const char *value;

  if (attr == NULL)
    return;
  if (kind == REAL)
    value =
        add_node (c, "CastLike", ".cast",
                  add_constant (c, suffix, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 0, &attr->f, 1),
                  c->node->input[0])
            ->output[0];
  else if (kind == REALS)
    value = add_constant (c, suffix, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 1, attr->floats,
                          attr->n_floats);
  else if (attr->n_ints > 0 || attr->has_i == 0)
    value =
        add_constant (c, suffix, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, attr->ints, attr->n_ints);
  else
    value = add_constant (c, suffix, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, is_op (c, "DFT") ? 0 : 1,
                          &attr->i, 1);
  set_input (c->node, operand, value);
  onnx__attribute_proto__free_unpacked (attr, NULL);
}

/* Converts Softmax, LogSoftmax and Hardmax. Before opset 13, these ops reshape the operand to a
 * matrix whose columns are the dimensions from `axis` on. These ops then work on each row of the
 * matrix. */
static void
convert_softmax (Conversion *c)
{
  Onnx__AttributeProto *given = take (c->node, "axis");
  gint64 axis = given == NULL ? 1 : given->i;
  const char *x = c->node->input[0];
  const char *shape = add_node (c, "Shape", ".shape", x, NULL)->output[0];
  Onnx__NodeProto *flat = add_node (c, "Flatten", ".flat", x, NULL);
  Onnx__NodeProto *core;

  if (given != NULL)
    onnx__attribute_proto__free_unpacked (given, NULL);
  cleave_onnx_add_int (flat, "axis", axis);
  core = add_node (c, c->node->op_type, ".rows", flat->output[0], NULL);
  cleave_onnx_add_int (core, "axis", 1);
  cleave_onnx_set_text (&c->node->op_type, "Reshape");
  set_input (c->node, 0, core->output[0]);
  set_input (c->node, 1, shape);
}

/* Converts Upsample, and the Resize of opset 10. The scales are operand 1 of these ops. The scales
 * are operand 2 of a Resize from opset 11 on. */
static void
convert_resize (Conversion *c)
{
  g_autofree char *scales = c->node->n_input > 1 ? g_strdup (c->node->input[1]) : NULL;

  if (scales == NULL)
    return;
  cleave_onnx_set_text (&c->node->op_type, "Resize");
  set_input (c->node, 1, "");
  set_input (c->node, 2, scales);
  add_string (c->node, "coordinate_transformation_mode", "asymmetric");
  add_string (c->node, "nearest_mode", "floor");
}

static gboolean
is_text (const Onnx__AttributeProto *attr, const char *text)
{
  return attr != NULL && attr->s.len == strlen (text) &&
         memcmp (attr->s.data, text, attr->s.len) == 0;
}

static void
replace_string (Onnx__NodeProto *node, const char *name, const char *value)
{
  Onnx__AttributeProto *old = take (node, name);

  if (old != NULL)
    onnx__attribute_proto__free_unpacked (old, NULL);
  add_string (node, name, value);
}

/* Converts the mode tf_half_pixel_for_nn, which opset 13 lacks, to half_pixel. If u is a position
 * of half_pixel, the old mode has the position u + 0.5. So the rounding changes, too: floor (u +
 * 0.5) becomes round_prefer_ceil (u), and round_prefer_floor (u + 0.5) becomes ceil (u). */
static gboolean
convert_positions (Conversion *c, GError **error)
{
  const Onnx__AttributeProto *nearest = find (c->node, "nearest_mode");
  const char *rounding = nearest == NULL || is_text (nearest, "round_prefer_floor") ? "ceil"
                         : is_text (nearest, "floor") ? "round_prefer_ceil"
                                                      : NULL;

  if (!is_text (find (c->node, "coordinate_transformation_mode"), "tf_half_pixel_for_nn"))
    return TRUE;
  if (rounding == NULL)
    return fail_form (c, error);
  replace_string (c->node, "coordinate_transformation_mode", "half_pixel");
  replace_string (c->node, "nearest_mode", rounding);
  return TRUE;
}

static void
convert_grid_sample (Conversion *c)
{
  Onnx__AttributeProto *mode = find (c->node, "mode");

  if (is_text (mode, "bicubic"))
    replace_string (c->node, "mode", "cubic");
  else if (is_text (mode, "bilinear"))
    replace_string (c->node, "mode", "linear");
}

static gboolean convert_graph (Conversion *c, Onnx__GraphProto *graph, GError **error);

static gboolean
convert_bodies (Conversion *c, GError **error)
{
  Onnx__NodeProto *node = c->node;

  for (size_t i = 0; i < node->n_attribute; i++)
    if (node->attribute[i]->g != NULL && !convert_graph (c, node->attribute[i]->g, error))
      return FALSE;
  c->node = node;
  return TRUE;
}

static gboolean
check (const Conversion *c, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    if (is_passed (c, refused[i].since) && is_op (c, refused[i].op))
      return fail_form (c, error);
  return TRUE;
}

static gboolean
convert_node (Conversion *c, GError **error)
{
  if (!convert_bodies (c, error))
    return FALSE;
  if (c->node->domain != NULL && *c->node->domain != '\0' &&
      strcmp (c->node->domain, "ai.onnx") != 0)
    return TRUE;
  if (!check (c, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (moved); i++)
    if (is_passed (c, moved[i].since) && is_op (c, moved[i].op))
      move_attr (c, moved[i].attr, moved[i].operand, moved[i].kind);
  if (is_passed (c, 13) &&
      (is_op (c, "Softmax") || is_op (c, "LogSoftmax") || is_op (c, "Hardmax")))
    convert_softmax (c);
  else if (is_passed (c, 11) && (is_op (c, "Upsample") || is_op (c, "Resize")))
    convert_resize (c);
  else if (is_passed (c, 13) && is_op (c, "Resize"))
    return convert_positions (c, error);
  else if (is_passed (c, 11) && is_op (c, "Scatter"))
    cleave_onnx_set_text (&c->node->op_type, "ScatterElements");
  else if (is_passed (c, 16) && is_op (c, "RoiAlign"))
    add_string (c->node, "coordinate_transformation_mode", "output_half_pixel");
  else if (is_passed (c, 20) && is_op (c, "GridSample"))
    convert_grid_sample (c);
  else if (is_passed (c, 18) && is_op (c, "Split") && c->node->n_input < 2)
    cleave_onnx_add_int (c->node, "num_outputs", (gint64) c->node->n_output);
  return TRUE;
}

/* Converts the nodes of an inner graph. If a node cannot be converted, fails and leaves the later
 * nodes unchanged. */
static gboolean
convert_graph (Conversion *c, Onnx__GraphProto *graph, GError **error)
{
  GPtrArray *outer = c->nodes;
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  gboolean good = TRUE;

  for (size_t i = 0; i < graph->n_node; i++)
    {
      c->nodes = nodes;
      c->node = graph->node[i];
      good = good && convert_node (c, error);
      g_ptr_array_add (nodes, graph->node[i]);
    }
  c->nodes = outer;
  free (graph->node);
  graph->n_node = nodes->len;
  graph->node = (Onnx__NodeProto **) g_memdup2 (nodes->pdata, nodes->len * sizeof (gpointer));
  return good;
}

gboolean
cleave_onnx_convert_nodes (
    Onnx__GraphProto *graph, const GArray *opsets, gint64 opset, GHashTable *taken, GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  Conversion c = { .to = opset, .taken = taken };
  gboolean good = TRUE;

  for (size_t i = 0; i < graph->n_node; i++)
    {
      c.nodes = nodes;
      c.node = graph->node[i];
      c.from = g_array_index (opsets, gint64, i);
      good = good && convert_node (&c, error);
      g_ptr_array_add (nodes, graph->node[i]);
    }
  free (graph->node);
  graph->n_node = nodes->len;
  graph->node = (Onnx__NodeProto **) g_memdup2 (nodes->pdata, nodes->len * sizeof (gpointer));
  return good;
}
