/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds ONNX models as protobuf-c messages. */

#include "models.h"

#include <check.h>
#include <string.h>

#include "../../lib/onnx/tensor-proto.h"
#include "../../lib/onnx/wire.h"
#include "dump.h"

Model *
model_new (gint64 opset)
{
  Model *model = g_new (Model, 1);
  Onnx__OperatorSetIdProto *set = g_new (Onnx__OperatorSetIdProto, 1);

  onnx__model_proto__init (model);
  onnx__operator_set_id_proto__init (set);
  set->has_version = 1;
  set->version = opset;
  cleave_wire_append (&model->opset_import, &model->n_opset_import, set);
  model->has_ir_version = 1;
  model->ir_version = 8;
  model->graph = g_new (Onnx__GraphProto, 1);
  onnx__graph_proto__init (model->graph);
  model->graph->name = g_strdup ("test");
  return model;
}

void
model_free (Model *model)
{
  onnx__model_proto__free_unpacked (model, NULL);
}

static Onnx__TensorShapeProto *
shape_new (const char *dims)
{
  g_auto (GStrv) parts = g_strsplit (dims, "x", -1);
  Onnx__TensorShapeProto *shape = g_new (Onnx__TensorShapeProto, 1);

  onnx__tensor_shape_proto__init (shape);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      Onnx__TensorShapeProto__Dimension *dim = g_new (Onnx__TensorShapeProto__Dimension, 1);

      onnx__tensor_shape_proto__dimension__init (dim);
      if (g_ascii_isdigit (parts[i][0]) || parts[i][0] == '-')
        {
          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
          dim->dim_value = g_ascii_strtoll (parts[i], NULL, 10);
        }
      else if (parts[i][0] != '?')
        {
          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
          dim->dim_param = g_strdup (parts[i]);
        }
      cleave_wire_append (&shape->dim, &shape->n_dim, dim);
    }
  return shape;
}

static Onnx__ValueInfoProto *
info_new (const char *name, const char *dims)
{
  Onnx__ValueInfoProto *info = g_new (Onnx__ValueInfoProto, 1);
  Onnx__TypeProto__Tensor *tensor = g_new (Onnx__TypeProto__Tensor, 1);

  onnx__value_info_proto__init (info);
  onnx__type_proto__tensor__init (tensor);
  info->name = g_strdup (name);
  info->type = g_new (Onnx__TypeProto, 1);
  onnx__type_proto__init (info->type);
  info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  info->type->tensor_type = tensor;
  tensor->has_elem_type = 1;
  tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  tensor->shape = dims == NULL ? NULL : shape_new (dims);
  return info;
}

Onnx__ValueInfoProto *
model_add_input (Model *model, const char *name, const char *dims)
{
  Onnx__ValueInfoProto *info = info_new (name, dims);

  cleave_wire_append (&model->graph->input, &model->graph->n_input, info);
  return info;
}

void
model_add_output (Model *model, const char *name)
{
  Onnx__ValueInfoProto *info = info_new (name, NULL);

  /* an output without an element type matches any type */
  info->type->tensor_type->has_elem_type = 0;
  info->type->tensor_type->elem_type = 0;
  cleave_wire_append (&model->graph->output, &model->graph->n_output, info);
}

void
model_declare_output (Model *model, guint index, const char *dims)
{
  Onnx__ValueInfoProto *output = model->graph->output[index];
  Onnx__ValueInfoProto *declared = info_new (output->name, dims);
  Onnx__TypeProto *type = output->type;

  output->type = declared->type;
  declared->type = type;
  onnx__value_info_proto__free_unpacked (declared, NULL);
}

static void
append_names (char ***list, size_t *n, const char *names)
{
  g_auto (GStrv) parts = g_strsplit (names, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      cleave_wire_append (list, n, g_strdup (strcmp (parts[i], "-") == 0 ? "" : parts[i]));
}

Onnx__NodeProto *
model_add_node (
    Model *model, const char *op, const char *name, const char *operands, const char *results)
{
  Onnx__NodeProto *node = g_new (Onnx__NodeProto, 1);

  onnx__node_proto__init (node);
  node->op_type = g_strdup (op);
  node->name = g_strdup (name);
  append_names (&node->input, &node->n_input, operands);
  append_names (&node->output, &node->n_output, results);
  cleave_wire_append (&model->graph->node, &model->graph->n_node, node);
  return node;
}

Onnx__AttributeProto *
node_add_attr (Onnx__NodeProto *node, const char *name, Onnx__AttributeProto__AttributeType type)
{
  Onnx__AttributeProto *attr = g_new (Onnx__AttributeProto, 1);

  onnx__attribute_proto__init (attr);
  attr->name = g_strdup (name);
  attr->has_type = 1;
  attr->type = type;
  cleave_wire_append (&node->attribute, &node->n_attribute, attr);
  return attr;
}

void
node_add_int (Onnx__NodeProto *node, const char *name, gint64 value)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  attr->has_i = 1;
  attr->i = value;
}

void
node_add_ints (Onnx__NodeProto *node, const char *name, const CleaveInts *values)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  attr->n_ints = values->n;
  attr->ints = g_memdup2 (values->v, values->n * sizeof (gint64));
}

void
node_add_float (Onnx__NodeProto *node, const char *name, float value)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  attr->has_f = 1;
  attr->f = value;
}

void
node_add_floats (Onnx__NodeProto *node, const char *name, const CleaveDoubles *values)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);

  attr->n_floats = values->n;
  attr->floats = g_new (float, values->n);
  for (guint i = 0; i < values->n; i++)
    attr->floats[i] = (float) values->v[i];
}

void
node_add_string (Onnx__NodeProto *node, const char *name, const char *value)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  attr->has_s = 1;
  attr->s.len = strlen (value);
  attr->s.data = (guint8 *) g_strdup (value);
}

void
node_add_strings (Onnx__NodeProto *node, const char *name, const char *const *values, guint n)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

  attr->n_strings = n;
  attr->strings = g_new (ProtobufCBinaryData, n);
  for (guint i = 0; i < n; i++)
    attr->strings[i] = (ProtobufCBinaryData){ strlen (values[i]), (guint8 *) g_strdup (values[i]) };
}

Onnx__TensorProto *
tensor_new (const char *name, const CleaveTensorType *type, gconstpointer data)
{
  Onnx__TensorProto *tensor = g_new (Onnx__TensorProto, 1);
  gint64 n = cleave_shape_n_elements (&type->shape);

  onnx__tensor_proto__init (tensor);
  tensor->name = g_strdup (name);
  tensor->has_data_type = 1;
  tensor->data_type = cleave_onnx_element_number (type->element);
  tensor->n_dims = type->shape.rank;
  tensor->dims = g_memdup2 (type->shape.dim, type->shape.rank * sizeof (gint64));
  tensor->has_raw_data = 1;
  tensor->raw_data.len = (size_t) cleave_tensor_type_n_bytes (type);
  tensor->raw_data.data = g_malloc0 (tensor->raw_data.len + 1);
  for (gint64 i = 0; data == NULL && i < n; i++)
    if (type->element == CLEAVE_FLOAT32)
      ((float *) (gpointer) tensor->raw_data.data)[i] = (float) i;
    else if (type->element == CLEAVE_INT64)
      ((gint64 *) (gpointer) tensor->raw_data.data)[i] = i;
  if (data != NULL && tensor->raw_data.len > 0)
    memcpy (tensor->raw_data.data, data, tensor->raw_data.len);
  return tensor;
}

Onnx__TensorProto *
model_add_initializer (Model *model,
                       const char *name,
                       const CleaveTensorType *type,
                       gconstpointer data)
{
  Onnx__TensorProto *tensor = tensor_new (name, type, data);

  cleave_wire_append (&model->graph->initializer, &model->graph->n_initializer, tensor);
  return tensor;
}

Onnx__TensorProto *
model_add_ints (Model *model, const char *name, const CleaveInts *values)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, values->n);

  return model_add_initializer (model, name, &type, values->v);
}

void
tensor_add_external (Onnx__TensorProto *tensor, const char *key, const char *value)
{
  Onnx__StringStringEntryProto *entry = g_new (Onnx__StringStringEntryProto, 1);

  onnx__string_string_entry_proto__init (entry);
  entry->key = g_strdup (key);
  entry->value = g_strdup (value);
  cleave_wire_append (&tensor->external_data, &tensor->n_external_data, entry);
  tensor->has_data_location = 1;
  tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  tensor->has_raw_data = 0;
}

void
node_add_graph (Onnx__NodeProto *node, const char *name, Model *body)
{
  Onnx__AttributeProto *attr =
      node_add_attr (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);

  attr->g = body->graph;
  body->graph = NULL;
  model_free (body);
}

GBytes *
model_pack (const Model *model)
{
  size_t n = onnx__model_proto__get_packed_size (model);
  guint8 *data = g_malloc (n + 1);

  onnx__model_proto__pack (model, data);
  return g_bytes_new_take (data, n);
}

CleaveGraph *
model_import (const Model *model, GError **error)
{
  g_autoptr (GBytes) bytes = model_pack (model);

  return cleave_onnx_parse (bytes, NULL, NULL, error);
}

void
model_assert_error (const Model *model, CleaveError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);

  ck_assert_ptr_null (graph);
  cleave_assert_error (&error, code, message);
}

void
model_assert_dump (const Model *model, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);

  cleave_assert_no_error (error);
  ck_assert_msg (cleave_graph_validate (graph, &error), "%s", error == NULL ? "" : error->message);
  cleave_assert_dump (graph, expected);
}
