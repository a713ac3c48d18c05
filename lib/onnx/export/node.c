/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nodes of the graph as nodes of the file, by the attribute tables of their ops. */

#include "export.h"

#include <math.h>
#include <string.h>

#include "../../ir/graph-private.h"
#include "../../ops/move.h"
#include "../../ops/reference.h"

/* What our records can say, but opset 17 cannot. */
static const struct
{
  const char *op, *attr;
} later[] = {
  { "AveragePool", "dilations" },
  { "LpPool", "dilations" },
  { "LpPool", "ceil_mode" },
};

/* Attributes in the file */

static Onnx__AttributeProto *
add_attr (Onnx__NodeProto *node, const char *name, Onnx__AttributeProto__AttributeType type)
{
  Onnx__AttributeProto *attr = g_new (Onnx__AttributeProto, 1);

  onnx__attribute_proto__init (attr);
  attr->name = g_strdup (name);
  attr->has_type = 1;
  attr->type = type;
  cleave_onnx_append (&node->attribute, &node->n_attribute, attr);
  return attr;
}

void
cleave_onnx_add_int (Onnx__NodeProto *node, const char *name, gint64 value)
{
  Onnx__AttributeProto *attr = add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  attr->has_i = 1;
  attr->i = value;
}

void
cleave_onnx_add_ints (Onnx__NodeProto *node, const char *name, const gint64 *values, guint n)
{
  Onnx__AttributeProto *attr = add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  attr->n_ints = n;
  attr->ints = g_memdup2 (values, n * sizeof *values);
}

static void
add_float (Onnx__NodeProto *node, const char *name, double value)
{
  Onnx__AttributeProto *attr = add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  attr->has_f = 1;
  attr->f = (float) value;
}

static void
add_floats (Onnx__NodeProto *node, const char *name, const CleaveDoubles *values)
{
  Onnx__AttributeProto *attr = add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);

  attr->n_floats = values->n;
  attr->floats = g_new (float, values->n);
  for (guint i = 0; i < values->n; i++)
    attr->floats[i] = (float) values->v[i];
}

static void
add_string (Onnx__NodeProto *node, const char *name, const char *value)
{
  Onnx__AttributeProto *attr = add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  attr->has_s = 1;
  attr->s.len = strlen (value);
  attr->s.data = (uint8_t *) g_strdup (value);
}

static void
add_enums (Onnx__NodeProto *node, const CleaveAttr *described, const CleaveInts *enums)
{
  Onnx__AttributeProto *attr =
      add_attr (node, described->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

  attr->n_strings = enums->n;
  attr->strings = g_new (ProtobufCBinaryData, enums->n);
  for (guint i = 0; i < enums->n; i++)
    {
      char *name = g_strdup (described->names[enums->v[i]]);

      attr->strings[i] = (ProtobufCBinaryData){ strlen (name), (uint8_t *) name };
    }
}

static void
add_tensor (Onnx__NodeProto *node, const char *name, CleaveTensor *value)
{
  const CleaveTensorType *type = cleave_tensor_get_type (value);
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (value);
  gsize n = (gsize) cleave_tensor_type_n_bytes (type);
  Onnx__TensorProto *proto = g_new (Onnx__TensorProto, 1);

  onnx__tensor_proto__init (proto);
  proto->has_data_type = 1;
  proto->data_type = cleave_onnx_element_number (type->element);
  proto->n_dims = type->shape.rank;
  proto->dims = g_memdup2 (type->shape.dim, type->shape.rank * sizeof (gint64));
  proto->has_raw_data = 1;
  proto->raw_data.len = n;
  proto->raw_data.data = g_memdup2 (cleave_tensor_get_data (dense), n);
  add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t = proto;
}

static gboolean
is_always_written (const CleaveAttr *attr)
{
  return attr->kind == CLEAVE_ATTR_ENUM && (attr->flags & CLEAVE_ATTR_NO_DEFAULT) != 0;
}

/* A field as an attribute.  Numbers are always written, since ONNX wants some that have a default
 * here. */
static void
write_attr (Onnx__NodeProto *node, const CleaveAttr *attr, gconstpointer attrs)
{
  gconstpointer field = cleave_attr_const_field (attr, attrs);

  if (attr->kind == CLEAVE_ATTR_INT && *(const gint64 *) field != CLEAVE_SHAPE_END)
    cleave_onnx_add_int (node, attr->name, *(const gint64 *) field);
  else if (attr->kind == CLEAVE_ATTR_ELEMENT)
    cleave_onnx_add_int (node, attr->name,
                         cleave_onnx_element_number (*(const CleaveElement *) field));
  else if (cleave_attr_is_default (attr, attrs) && !is_always_written (attr))
    return;
  else if (attr->kind == CLEAVE_ATTR_BOOL)
    cleave_onnx_add_int (node, attr->name, *(const gboolean *) field);
  else if (attr->kind == CLEAVE_ATTR_ENUM)
    add_string (node, attr->name, attr->names[*(const int *) field]);
  else if (attr->kind == CLEAVE_ATTR_STRING)
    add_string (node, attr->name, *(char *const *) field);
  else if (attr->kind == CLEAVE_ATTR_ENUMS)
    add_enums (node, attr, field);
  else if (attr->kind == CLEAVE_ATTR_DOUBLE)
    add_float (node, attr->name, *(const double *) field);
  else if (attr->kind == CLEAVE_ATTR_INTS)
    cleave_onnx_add_ints (node, attr->name, ((const CleaveInts *) field)->v,
                          ((const CleaveInts *) field)->n);
  else if (attr->kind == CLEAVE_ATTR_DOUBLES)
    add_floats (node, attr->name, field);
  else if (attr->kind == CLEAVE_ATTR_TENSOR)
    add_tensor (node, attr->name, *(CleaveTensor *const *) field);
  else if (attr->kind == CLEAVE_ATTR_ARRAY)
    cleave_onnx_add_ints (node, attr->name,
                          (const gint64 *) (gpointer) (*(GArray *const *) field)->data,
                          (*(GArray *const *) field)->len);
}

/* Attributes that are operands in ONNX */

/* The type of a number beside a node's operands. */
static CleaveElement
get_number_type (const CleaveNode *node)
{
  return node->n_operands > 0 ? node->operands[0].result->type.element : CLEAVE_FLOAT32;
}

/* A number as a scalar, rounded as kernels round it. */
static CleaveTensor *
scalar_of_double (CleaveElement element, double value)
{
  CleaveTensorType type = CLEAVE_SCALAR (element);
  guint64 bytes;

  cleave_move_from_double (element, value, &bytes);
  return cleave_tensor_new_copy (&type, &bytes, NULL);
}

static CleaveTensor *
list_of_doubles (const CleaveDoubles *values)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, values->n);
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);

  for (guint i = 0; i < values->n; i++)
    ((float *) cleave_tensor_get_mutable_data (tensor))[i] = (float) values->v[i];
  return tensor;
}

static CleaveTensor *
list_of_ints (const gint64 *values, guint n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);

  return cleave_tensor_new_copy (&type, values, NULL);
}

/* An empty list is absent, unless it is the first such operand and says something by being there
 * (the shape of a scalar). */
static gboolean
is_absent (const CleaveAttr *attr, gconstpointer attrs)
{
  gboolean says = attr->onnx_operand <= 1 && (attr->flags & CLEAVE_ATTR_NO_DEFAULT) != 0;
  gconstpointer field = cleave_attr_const_field (attr, attrs);

  if (attr->kind == CLEAVE_ATTR_INTS)
    return ((const CleaveInts *) field)->n == 0 && !says;
  if (attr->kind == CLEAVE_ATTR_INT || attr->kind == CLEAVE_ATTR_ELEMENT)
    return FALSE;
  return cleave_attr_is_default (attr, attrs);
}

static CleaveTensor *
tensor_of_attr (const CleaveNode *node, const CleaveAttr *attr, gconstpointer attrs)
{
  gconstpointer field = cleave_attr_const_field (attr, attrs);

  if (attr->kind == CLEAVE_ATTR_INTS)
    return list_of_ints (((const CleaveInts *) field)->v, ((const CleaveInts *) field)->n);
  if (attr->kind == CLEAVE_ATTR_DOUBLES)
    return list_of_doubles (field);
  if (attr->kind == CLEAVE_ATTR_ARRAY)
    return list_of_ints ((const gint64 *) (gpointer) (*(GArray *const *) field)->data,
                         (*(GArray *const *) field)->len);
  if (attr->kind == CLEAVE_ATTR_DOUBLE)
    return scalar_of_double (get_number_type (node), *(const double *) field);
  if (attr->kind == CLEAVE_ATTR_BOOL)
    return scalar_of_double (CLEAVE_BOOL, *(const gboolean *) field);
  if (attr->kind == CLEAVE_ATTR_TENSOR)
    return cleave_tensor_dup_dense (*(CleaveTensor *const *) field);
  g_assert (attr->kind == CLEAVE_ATTR_INT);
  if ((attr->flags & CLEAVE_ATTR_SCALAR) != 0)
    return cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), field, NULL);
  return list_of_ints (field, 1);
}

/* Nodes */

static const CleaveAttr *
find_attr (const CleaveOp *op, const char *name)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (strcmp (attr->name, name) == 0)
      return attr;
  return NULL;
}

/* Names by ONNX's indices: attributes that are operands there, and our operands in the places that
 * are left. */
static GPtrArray *
list_operands (CleaveOnnxExport *export, const CleaveNode *node, gconstpointer attrs)
{
  GPtrArray *names = g_ptr_array_new ();
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  guint at = 0;

  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      g_autofree char *name = g_strdup_printf ("%s.%s", node->name, attr->name);
      const char *known = cleave_onnx_origin_get_operand (export->origin, node->name, attr->name);

      if (attr->onnx_operand == 0 && (attr->flags & CLEAVE_ATTR_OPERAND_0) == 0)
        continue;
      g_hash_table_add (taken, GUINT_TO_POINTER (attr->onnx_operand));
      if (names->len <= attr->onnx_operand)
        g_ptr_array_set_size (names, (int) attr->onnx_operand + 1);
      if (!is_absent (attr, attrs))
        names->pdata[attr->onnx_operand] =
            (gpointer) (known == NULL ? cleave_onnx_add_small (export, name,
                                                               tensor_of_attr (node, attr, attrs))
                                      : cleave_onnx_add_named (export, known,
                                                               tensor_of_attr (node, attr, attrs)));
    }
  for (guint i = 0; i < node->n_operands; i++, at++)
    {
      while (g_hash_table_contains (taken, GUINT_TO_POINTER (at)))
        at++;
      if (names->len <= at)
        g_ptr_array_set_size (names, (int) at + 1);
      if (node->operands[i].result != NULL)
        names->pdata[at] = (gpointer) cleave_onnx_result_name (export, node->operands[i].result);
    }
  return names;
}

static GPtrArray *
list_results (CleaveOnnxExport *export, const CleaveNode *node)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < node->n_results; i++)
    g_ptr_array_add (names, (gpointer) cleave_onnx_result_name (export, &node->results[i]));
  return names;
}

static void
write_node (CleaveOnnxExport *export,
            const CleaveNode *node,
            gconstpointer attrs,
            const GPtrArray *operands,
            const GPtrArray *results)
{
  Onnx__NodeProto *proto = cleave_onnx_add_node (
      export, node->op->name, node->name, (const char *const *) operands->pdata, operands->len,
      (const char *const *) results->pdata, results->len);

  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (attr->onnx_operand == 0 &&
        (attr->flags & (CLEAVE_ATTR_NOT_ONNX | CLEAVE_ATTR_OPERAND_0)) == 0)
      write_attr (proto, attr, attrs);
}

/* A value made on the way to another: under a name of its own. */
static const char *
inner_name (CleaveOnnxExport *export, const CleaveNode *node, const char *suffix)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);

  return cleave_onnx_name_value (export, name);
}

/* The layout NHWC: ONNX has NCHW alone, so the node stands between Transposes. */

static void
add_transpose (
    CleaveOnnxExport *export, const char *from, const char *to, guint rank, gboolean channels_first)
{
  gint64 perm[CLEAVE_MAX_RANK] = { 0 };

  for (guint d = 1; d < rank; d++)
    if (channels_first)
      perm[d] = d == 1 ? rank - 1 : d - 1;
    else
      perm[d] = d == rank - 1 ? 1 : d + 1;
  cleave_onnx_add_ints (cleave_onnx_add_node (export, "Transpose", to, &from, 1, &to, 1), "perm",
                        perm, rank);
}

static gboolean
export_channels_last (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  g_autoptr (GPtrArray) operands = list_operands (export, node, node->attrs);
  g_autoptr (GPtrArray) results = list_results (export, node);
  const char *x = operands->pdata[0], *y = results->pdata[0];
  guint rank = node->results[0].type.shape.rank;

  for (guint i = 1; i < node->n_results; i++)
    if (node->results[i].n_uses > 0)
      return cleave_fail (error, CLEAVE_ERROR_MODEL,
                          "%s '%s': its result %s has no form in ONNX with the layout NHWC",
                          node->op->name, node->name, cleave_op_result_name (node->op, i));
  g_ptr_array_set_size (results, 1);
  operands->pdata[0] = (gpointer) inner_name (export, node, ".nchw");
  results->pdata[0] = (gpointer) inner_name (export, node, ".y");
  add_transpose (export, x, operands->pdata[0], rank, TRUE);
  write_node (export, node, node->attrs, operands, results);
  add_transpose (export, results->pdata[0], y, rank, FALSE);
  return TRUE;
}

/* Resize with a phase, as splits leave it: the whole resize of the operand, and of that a Slice. */

/* The whole resize.  By sizes, unless a dimension's scale is another than its sizes say. */
static void
make_whole (const CleaveNode *node, CleaveResizeAttrs *a, CleaveShape *whole)
{
  const CleaveShape *x = &node->operands[0].result->type.shape;
  gboolean by_sizes = TRUE;

  *whole = node->results[0].type.shape;
  for (guint d = 0; d < x->rank; d++)
    if (a->scales.v[d] == floor (a->scales.v[d]))
      whole->dim[d] = x->dim[d] * (gint64) a->scales.v[d];
    else if (a->scales.v[d] != (double) whole->dim[d] / (double) x->dim[d])
      by_sizes = FALSE;
  a->phase.n = 0;
  if (by_sizes)
    a->scales.n = 0;
  else
    a->sizes.n = 0;
  for (guint d = 0; d < a->sizes.n; d++)
    a->sizes.v[d] = whole->dim[d];
}

static gboolean
export_phase (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  CleaveResizeAttrs attrs = *(const CleaveResizeAttrs *) node->attrs;
  g_autoptr (GPtrArray) results = list_results (export, node);
  g_autoptr (GPtrArray) operands = NULL;
  const char *to = results->pdata[0];
  CleaveRange range = cleave_range_whole (&node->results[0].type.shape);
  CleaveShape whole;

  for (guint d = 0; d < range.rank; d++)
    {
      range.dim[d].begin += cleave_ints_at (&attrs.phase, d, 0);
      range.dim[d].end += cleave_ints_at (&attrs.phase, d, 0);
    }
  make_whole (node, &attrs, &whole);
  operands = list_operands (export, node, &attrs);
  results->pdata[0] = (gpointer) inner_name (export, node, ".whole");
  write_node (export, node, &attrs, operands, results);
  cleave_onnx_add_slice (export, node->name, results->pdata[0], &whole, &range, to);
  return TRUE;
}

/* OneHot of a part of the depth: the whole, and of that a Slice. */
static gboolean
export_part (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  CleaveOneHotAttrs attrs = *(const CleaveOneHotAttrs *) node->attrs;
  g_autoptr (GPtrArray) results = list_results (export, node);
  g_autoptr (GPtrArray) operands = list_operands (export, node, &attrs);
  const char *to = results->pdata[0];
  CleaveShape whole = node->results[0].type.shape;
  CleaveRange range = cleave_range_whole (&whole);

  whole.dim[attrs.axis] = attrs.depth;
  range.dim[attrs.axis] = (CleaveSpan){ attrs.part.v[0], attrs.part.v[1] };
  results->pdata[0] = (gpointer) inner_name (export, node, ".whole");
  write_node (export, node, &attrs, operands, results);
  cleave_onnx_add_slice (export, node->name, results->pdata[0], &whole, &range, to);
  return TRUE;
}

/* MaxPool of a part of the operand: its indices, then how they count in the whole. */
static gboolean
export_whole (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  g_autoptr (GPtrArray) operands = list_operands (export, node, node->attrs);
  g_autoptr (GPtrArray) results = list_results (export, node);
  const char *to = node->results[1].n_uses > 0 ? results->pdata[1] : NULL, *from = NULL;

  g_ptr_array_set_size (results, 1);
  if (to != NULL)
    g_ptr_array_add (results, (gpointer) (from = inner_name (export, node, ".indices")));
  write_node (export, node, node->attrs, operands, results);
  if (to != NULL)
    cleave_onnx_export_indices (export, node, from, to);
  return TRUE;
}

/* Attributes of our own have each its way to be written. */
static const struct
{
  const char *attr;
  gboolean (*export) (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
} own_attrs[] = {
  { "layout", export_channels_last },
  { "part", export_part },
  { "phase", export_phase },
  { "whole", export_whole },
};

static gboolean
export_own (CleaveOnnxExport *export,
            const CleaveNode *node,
            const CleaveAttr *attr,
            GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (own_attrs); i++)
    if (strcmp (own_attrs[i].attr, attr->name) == 0)
      return own_attrs[i].export(export, node, error);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s has no form in ONNX", node->op->name,
                      node->name, attr->name);
}

static gboolean
check_later (const CleaveNode *node, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (later); i++)
    if (strcmp (later[i].op, node->op->name) == 0 &&
        !cleave_attr_is_default (find_attr (node->op, later[i].attr), node->attrs))
      return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s has no form in opset 17",
                          node->op->name, node->name, later[i].attr);
  return TRUE;
}

gboolean
cleave_onnx_export_node (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  g_autoptr (GPtrArray) operands = NULL, results = NULL;

  if (node->op == cleave_op_lookup ("Assemble"))
    {
      cleave_onnx_export_assemble (export, node);
      return TRUE;
    }
  if (node->op == cleave_op_lookup ("Custom"))
    return cleave_onnx_export_custom (export, node, error);
  if (!check_later (node, error))
    return FALSE;
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if ((attr->flags & CLEAVE_ATTR_NOT_ONNX) != 0 && !cleave_attr_is_default (attr, node->attrs))
      return export_own (export, node, attr, error);
  operands = list_operands (export, node, node->attrs);
  results = list_results (export, node);
  write_node (export, node, node->attrs, operands, results);
  return TRUE;
}
