/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Basic output functions of the exporter: names, nodes, types of values, initializers and Slices.
 * The other files of the exporter build the model with these functions. */

#include "export.h"

#include <string.h>

#include "../../ir/deferred-tensor.h"
#include "../wire.h"

/* The functions below make names of values and nodes. */

static gboolean
is_taken (const CleaveOnnxExport *export, GHashTable *taken, const char *name)
{
  return (taken == export->node_names && g_hash_table_contains (export->graph->nodes, name)) ||
         g_hash_table_contains (taken, name);
}

/* Returns a name that is not in use: `base`, "_" and the next number. The caller frees the name. */
static char *
number_name (CleaveOnnxExport *export, GHashTable *taken, const char *base)
{
  guint suffix = GPOINTER_TO_UINT (g_hash_table_lookup (export->suffixes, base));
  char *name = NULL;

  do
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, ++suffix);
    }
  while (is_taken (export, taken, name));
  g_hash_table_insert (export->suffixes, cleave_pool_strdup (export->pool, base),
                       GUINT_TO_POINTER (suffix));
  return name;
}

/* Returns a unique name. `is_kept`: `base` stays valid as long as the export, so it need not be
 * copied. */
static const char *
make_unique (CleaveOnnxExport *export, GHashTable *taken, const char *base, gboolean is_kept)
{
  g_autofree char *numbered =
      is_taken (export, taken, base) ? number_name (export, taken, base) : NULL;
  const char *name = numbered == NULL && is_kept
                         ? base
                         : cleave_pool_strdup (export->pool, numbered != NULL ? numbered : base);

  g_hash_table_add (taken, (gpointer) name);
  return name;
}

const char *
cleave_onnx_name_value (CleaveOnnxExport *export, const char *name)
{
  return make_unique (export, export->value_names, name, FALSE);
}

const char *
cleave_onnx_result_name (CleaveOnnxExport *export, const CleaveResult *result)
{
  const char **name = cleave_onnx_value_name (export, result);
  const char *own = result->name != NULL ? result->name : result->node->name;
  g_autofree char *made = NULL;

  if (*name != NULL)
    return *name;
  if (result->name == NULL && result->index > 0)
    made = cleave_result_dup_name (result);
  *name = make_unique (export, export->value_names, made != NULL ? made : own, made == NULL);
  return *name;
}

/* The functions below add nodes to the file. */

/* Returns the name that a node gets in the file. Only the node that the exporter writes now
 * (export->node) may have the name of a graph node; the function recognizes that name by its
 * address. Any other node gets a new name if its name is in use. */
static const char *
name_node (CleaveOnnxExport *export, const char *name)
{
  return export->node != NULL && export->node->name == name
             ? name
             : make_unique (export, export->node_names, name, FALSE);
}

static char **
list_names (CleaveOnnxExport *export, const char *const *names, guint n)
{
  const char **list = cleave_pool_alloc (export->pool, n * sizeof *list);

  for (guint i = 0; i < n; i++)
    list[i] = names[i] == NULL || *names[i] == '\0' ? "" : names[i];
  return (char **) list;
}

Onnx__NodeProto *
cleave_onnx_add_node (CleaveOnnxExport *export,
                      const char *op,
                      const char *name,
                      const char *const *operands,
                      guint n_operands,
                      const char *const *results,
                      guint n_results)
{
  Onnx__NodeProto *node = cleave_pool_alloc (export->pool, sizeof *node);

  onnx__node_proto__init (node);
  node->op_type = (char *) op;
  node->name = (char *) name_node (export, name);
  if (export->origin != NULL && g_hash_table_size (export->origin->node_docs) > 0)
    node->doc_string = g_hash_table_lookup (export->origin->node_docs, node->name);
  while (n_operands > 0 && operands[n_operands - 1] == NULL)
    n_operands--;
  node->n_input = n_operands;
  node->input = list_names (export, operands, n_operands);
  node->n_output = n_results;
  node->output = list_names (export, results, n_results);
  cleave_wire_append (&export->scope->node, &export->scope->n_node, node);
  return node;
}

/* The function below makes the type of a value in the file. */

Onnx__ValueInfoProto *
cleave_onnx_info_new (const CleaveOnnxExport *export,
                      const char *name,
                      const CleaveTensorType *type)
{
  Onnx__ValueInfoProto *info = g_new (Onnx__ValueInfoProto, 1);
  Onnx__TypeProto__Tensor *tensor = g_new (Onnx__TypeProto__Tensor, 1);

  onnx__value_info_proto__init (info);
  info->name = g_strdup (name);
  if (export->origin != NULL)
    info->doc_string = g_strdup (g_hash_table_lookup (export->origin->value_docs, name));
  info->type = g_new (Onnx__TypeProto, 1);
  onnx__type_proto__init (info->type);
  onnx__type_proto__tensor__init (tensor);
  info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  info->type->tensor_type = tensor;
  tensor->has_elem_type = 1;
  tensor->elem_type = cleave_onnx_element_number (type->element);
  tensor->shape = g_new (Onnx__TensorShapeProto, 1);
  onnx__tensor_shape_proto__init (tensor->shape);
  for (guint d = 0; d < type->shape.rank; d++)
    {
      Onnx__TensorShapeProto__Dimension *dim = g_new (Onnx__TensorShapeProto__Dimension, 1);

      onnx__tensor_shape_proto__dimension__init (dim);
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      dim->dim_value = type->shape.dim[d];
      cleave_wire_append (&tensor->shape->dim, &tensor->shape->n_dim, dim);
    }
  return info;
}

/* The functions below add initializers to the file. */

/* Adds an initializer of the shape `shape`. `number` is ONNX's number of the element type. The
 * bytes belong to `data`, to which the export keeps a reference. */
static void
add_initializer (CleaveOnnxExport *export,
                 const char *name,
                 const CleaveShape *shape,
                 int number,
                 CleaveTensor *data)
{
  Onnx__TensorProto *proto = g_new (Onnx__TensorProto, 1);

  onnx__tensor_proto__init (proto);
  proto->name = g_strdup (name);
  proto->has_data_type = 1;
  proto->data_type = number;
  proto->n_dims = shape->rank;
  proto->dims = g_memdup2 (shape->dim, shape->rank * sizeof (gint64));
  proto->has_raw_data = 1;
  proto->raw_data.len = (size_t) cleave_tensor_type_n_bytes (cleave_tensor_get_type (data));
  proto->raw_data.data = (uint8_t *) cleave_tensor_get_data (data);
  if (export->origin != NULL)
    proto->doc_string = g_strdup (g_hash_table_lookup (export->origin->value_docs, name));
  g_ptr_array_add (export->tensors, cleave_tensor_ref (data));
  cleave_wire_append (&export->model->graph->initializer, &export->model->graph->n_initializer,
                      proto);
}

void
cleave_onnx_add_initializer (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);

  add_initializer (export, name, &type->shape, cleave_onnx_element_number (type->element), tensor);
}

void
cleave_onnx_add_packed (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) packed = cleave_tensor_dup_packed (tensor);
  gboolean is_signed = cleave_tensor_get_bits (tensor) == CLEAVE_BITS_INT4;

  add_initializer (export, name, &cleave_tensor_get_type (tensor)->shape,
                   is_signed ? CLEAVE_ONNX_INT4 : CLEAVE_ONNX_UINT4, packed);
}

/* The functions below add small constants, which several nodes may share. */

/* An attribute of our op may be an operand in ONNX, as the axes of a Squeeze are, so the file has
 * an initializer for the attribute. A constant of the graph with at most MAX_SMALL bytes shares
 * this initializer if both had the same name in the imported file and have the same contents. */
#define MAX_SMALL 4096

static GBytes *
key_of (const char *name, CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  g_autofree char *text = cleave_tensor_type_to_string (type);
  GByteArray *key = g_byte_array_new ();

  g_byte_array_append (key, (const guint8 *) name, (guint) strlen (name) + 1);
  g_byte_array_append (key, (const guint8 *) text, (guint) strlen (text) + 1);
  if (cleave_tensor_type_n_bytes (type) > 0)
    g_byte_array_append (key, cleave_tensor_get_data (tensor),
                         (guint) cleave_tensor_type_n_bytes (type));
  return g_byte_array_free_to_bytes (key);
}

static const char *
share (CleaveOnnxExport *export, const char *name, const char *shared_name, CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) owned = tensor;
  g_autoptr (GBytes) key = key_of (shared_name, tensor);
  const char *known = g_hash_table_lookup (export->small, key);

  if (known != NULL)
    return known;
  name = cleave_onnx_name_value (export, name);
  g_hash_table_insert (export->small, g_steal_pointer (&key), (gpointer) name);
  cleave_onnx_add_initializer (export, name, owned);
  return name;
}

void
cleave_onnx_share_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor)
{
  if (cleave_tensor_type_n_bytes (cleave_tensor_get_type (tensor)) <= MAX_SMALL)
    g_hash_table_insert (export->small, key_of (name, tensor), (gpointer) name);
}

const char *
cleave_onnx_add_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor)
{
  return share (export, name, "", tensor);
}

const char *
cleave_onnx_add_named (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor)
{
  return share (export, name, name, tensor);
}

const char *
cleave_onnx_add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);

  return cleave_onnx_add_small (export, name, cleave_tensor_new_copy (&type, values, NULL));
}

/* The function below adds a Slice to the file. */

const char *
cleave_onnx_add_slice (CleaveOnnxExport *export,
                       const char *name,
                       const char *from,
                       const CleaveShape *shape,
                       const CleaveRange *range,
                       const char *to)
{
  g_autofree char *slice_name = g_strconcat (name, ".slice", NULL);
  gint64 starts[CLEAVE_MAX_RANK], ends[CLEAVE_MAX_RANK], axes[CLEAVE_MAX_RANK];
  const char *operands[4] = { from };
  guint n = 0;

  for (guint d = 0; d < shape->rank; d++)
    if (range->dim[d].begin != 0 || range->dim[d].end != shape->dim[d])
      {
        starts[n] = range->dim[d].begin;
        ends[n] = range->dim[d].end;
        axes[n++] = d;
      }
  operands[1] = cleave_onnx_add_list (export, "starts", starts, n);
  operands[2] = cleave_onnx_add_list (export, "ends", ends, n);
  operands[3] = cleave_onnx_add_list (export, "axes", axes, n);
  if (to == NULL)
    to = cleave_onnx_name_value (export, slice_name);
  cleave_onnx_add_node (export, "Slice", slice_name, operands, 4, &to, 1);
  return to;
}
