/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the attributes of a node. An attribute that ONNX has as an operand becomes a constant. */

#include "export.h"

#include <string.h>

#include "../../ir/graph-private.h"
#include "../../ops/move.h"

/* The functions below write an attribute of a node. */

Onnx__AttributeProto *
cleave_onnx_add_attr (Onnx__NodeProto *node,
                      const char *name,
                      Onnx__AttributeProto__AttributeType type)
{
  Onnx__AttributeProto *attr = g_new (Onnx__AttributeProto, 1);

  onnx__attribute_proto__init (attr);
  attr->name = g_strdup (name);
  attr->has_type = 1;
  attr->type = type;
  /* do not call cleave_wire_append(): it needs a list that it allocated, but protobuf-c may have
   * allocated this list for a node of a file */
  node->attribute = g_renew (Onnx__AttributeProto *, node->attribute, node->n_attribute + 1);
  node->attribute[node->n_attribute++] = attr;
  return attr;
}

void
cleave_onnx_add_int (Onnx__NodeProto *node, const char *name, gint64 value)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  attr->has_i = 1;
  attr->i = value;
}

void
cleave_onnx_add_ints (Onnx__NodeProto *node, const char *name, const gint64 *values, guint n)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  attr->n_ints = n;
  attr->ints = g_memdup2 (values, n * sizeof *values);
}

Onnx__GraphProto *
cleave_onnx_add_graph (Onnx__NodeProto *node, const char *name)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);

  attr->g = g_new (Onnx__GraphProto, 1);
  onnx__graph_proto__init (attr->g);
  attr->g->name = g_strdup (name);
  return attr->g;
}

static void
add_float (Onnx__NodeProto *node, const char *name, double value)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  attr->has_f = 1;
  attr->f = (float) value;
}

static void
add_floats (Onnx__NodeProto *node, const char *name, const CleaveDoubles *values)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);

  attr->n_floats = values->n;
  attr->floats = g_new (float, values->n);
  for (guint i = 0; i < values->n; i++)
    attr->floats[i] = (float) values->v[i];
}

void
cleave_onnx_add_string (Onnx__NodeProto *node, const char *name, const char *value)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  attr->has_s = 1;
  attr->s.len = strlen (value);
  attr->s.data = (uint8_t *) g_strdup (value);
}

static void
add_enums (Onnx__NodeProto *node, const CleaveAttr *described, const CleaveInts *enums)
{
  Onnx__AttributeProto *attr =
      cleave_onnx_add_attr (node, described->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

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
  cleave_onnx_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t = proto;
}

static gboolean
is_always_written (const CleaveAttr *attr)
{
  return attr->kind == CLEAVE_ATTR_ENUM && (attr->flags & CLEAVE_ATTR_NO_DEFAULT) != 0;
}

/* Writes an attribute. Writes an integer also if its value is the default of the op record, since
 * ONNX requires some integers. */
void
cleave_onnx_write_attr (Onnx__NodeProto *node, const CleaveAttr *attr, gconstpointer attrs)
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
    cleave_onnx_add_string (node, attr->name, attr->names[*(const int *) field]);
  else if (attr->kind == CLEAVE_ATTR_STRING)
    cleave_onnx_add_string (node, attr->name, *(char *const *) field);
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

/* The functions below convert attributes that ONNX has as operands. */

/* Returns the element type of an attribute that becomes a scalar operand: the type of operand 0, or
 * float32 if the node has no operand 0. */
static CleaveElement
get_number_type (const CleaveNode *node)
{
  return node->n_operands > 0 ? node->operands[0].result->type.element : CLEAVE_FLOAT32;
}

/* Returns a scalar constant with the number `value`. Rounds it to the element type in the same way
 * as the kernels. */
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

/* Returns whether to omit the operand that ONNX has in place of an attribute. Omits an empty list,
 * except for ops such as ConstantOfShape: their operand `shape` is required, and an empty list is
 * the shape of a scalar. */
gboolean
cleave_onnx_attr_is_absent (const CleaveAttr *attr, gconstpointer attrs)
{
  gboolean says = attr->onnx_operand <= 1 && (attr->flags & CLEAVE_ATTR_NO_DEFAULT) != 0;
  gconstpointer field = cleave_attr_const_field (attr, attrs);

  if (attr->kind == CLEAVE_ATTR_INTS)
    return ((const CleaveInts *) field)->n == 0 && !says;
  if (attr->kind == CLEAVE_ATTR_INT || attr->kind == CLEAVE_ATTR_ELEMENT)
    return FALSE;
  return cleave_attr_is_default (attr, attrs);
}

/* Returns the element type for the operand `depth` of OneHot. ONNX Runtime has kernels for only
 * some of the 72 combinations of the types of indices, depth and values. */
static CleaveElement
choose_depth_element (const CleaveNode *node, gint64 depth)
{
  CleaveElement indices = node->operands[0].result->type.element;
  CleaveElement values = node->results[0].type.element;

  if (values == CLEAVE_INT64 || depth > 1 << 24) /* float32 may not represent a depth above 2^24 */
    return CLEAVE_INT64;
  if (values == CLEAVE_INT32 || indices == CLEAVE_FLOAT16 || indices == CLEAVE_FLOAT32)
    return CLEAVE_FLOAT32;
  return indices == CLEAVE_INT32 ? CLEAVE_INT32 : CLEAVE_INT64;
}

static CleaveTensor *
scalar_of_int (const CleaveNode *node, gint64 value)
{
  CleaveElement element =
      strcmp (node->op->name, "OneHot") == 0 ? choose_depth_element (node, value) : CLEAVE_INT64;

  if (element != CLEAVE_INT64)
    return scalar_of_double (element, (double) value);
  return cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), &value, NULL);
}

CleaveTensor *
cleave_onnx_attr_to_tensor (const CleaveNode *node, const CleaveAttr *attr, gconstpointer attrs)
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
    return scalar_of_int (node, *(const gint64 *) field);
  return list_of_ints (field, 1);
}

/* The functions below free the attributes of nodes. */

/* Frees the attributes of all nodes, also of nodes in nested graphs. The pool of the export owns
 * the nodes themselves. */
void
cleave_onnx_free_nodes (Onnx__GraphProto *graph)
{
  for (size_t i = 0; graph != NULL && i < graph->n_node; i++)
    cleave_onnx_free_attributes (graph->node[i]);
  for (size_t i = 0; graph != NULL && i < graph->n_initializer; i++) /* the bytes of an initializer
                                                                      * belong to a tensor */
    graph->initializer[i]->raw_data = (ProtobufCBinaryData){ 0 };
  if (graph != NULL)
    graph->n_node = 0;
}

void
cleave_onnx_free_attributes (Onnx__NodeProto *node)
{
  for (size_t i = 0; i < node->n_attribute; i++)
    {
      cleave_onnx_free_nodes (node->attribute[i]->g);
      onnx__attribute_proto__free_unpacked (node->attribute[i], NULL);
    }
  g_free (node->attribute);
  for (unsigned i = 0; i < node->base.n_unknown_fields; i++)
    g_free (node->base.unknown_fields[i].data);
  g_free (node->base.unknown_fields);
}
