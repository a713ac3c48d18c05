/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Shapes that a runtime is not to know before it runs.  ONNX Runtime gives the memory of a value to
 * the next one of the same shape, and keeps it until then, however late that is; what has a shape
 * that it does not know, it frees at once.  So inputs are reshaped as a Loop of one turn says,
 * which nothing computes ahead, and lists of a Reshape leave out a dimension.  */

#include "export.h"

#include <string.h>

#include "../wire.h"

/* A list of its own: what others share may be in bodies of loops alone. */
static const char *
add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);

  name = cleave_onnx_name_value (export, name);
  cleave_onnx_add_initializer (export, name, tensor);
  return name;
}

/* Inputs */

static void
rename_reads (Onnx__GraphProto *graph, GHashTable *names)
{
  for (size_t i = 0; i < graph->n_node; i++)
    {
      Onnx__NodeProto *node = graph->node[i];

      for (size_t k = 0; k < node->n_input; k++)
        {
          char *name = g_hash_table_lookup (names, node->input[k]);

          node->input[k] = name != NULL ? name : node->input[k];
        }
      for (size_t k = 0; k < node->n_attribute; k++)
        if (node->attribute[k]->g != NULL)
          rename_reads (node->attribute[k]->g, names); /* no deeper than branches and loops nest */
    }
}

/* The nodes from `first` on become the first. */
static void
move_to_front (Onnx__GraphProto *graph, size_t first)
{
  size_t n = graph->n_node - first;
  g_autofree Onnx__NodeProto **moved = g_memdup2 (graph->node + first, n * sizeof *moved);

  memmove (graph->node + n, graph->node, first * sizeof *moved);
  memcpy (graph->node, moved, n * sizeof *moved);
}

/* Gives lists back as they came. */
static void
write_body (CleaveOnnxExport *export, Onnx__NodeProto *loop, const guint *ranks)
{
  static const CleaveTensorType number = { .element = CLEAVE_INT64 },
                                flag = { .element = CLEAVE_BOOL };
  Onnx__GraphProto *outer = export->scope, *body = cleave_onnx_add_graph (loop, "body");
  const char *turn = cleave_onnx_name_value (export, "turn");

  cleave_wire_append (&body->input, &body->n_input, cleave_onnx_info_new (export, turn, &number));
  export->scope = body;
  for (guint i = 0; i <= loop->n_output; i++)
    {
      CleaveTensorType list = CLEAVE_TYPE (CLEAVE_INT64, i == 0 ? 1 : ranks[i - 1]);
      const CleaveTensorType *type = i == 0 ? &flag : &list;
      const char *from = cleave_onnx_name_value (export, i == 0 ? "goes_on" : "shape");
      const char *to = cleave_onnx_name_value (export, from);

      cleave_onnx_add_node (export, "Identity", to, &from, 1, &to, 1);
      cleave_wire_append (&body->input, &body->n_input, cleave_onnx_info_new (export, from, type));
      cleave_wire_append (&body->output, &body->n_output, cleave_onnx_info_new (export, to, type));
    }
  export->scope = outer;
}

static void
hide_inputs (CleaveOnnxExport *export)
{
  Onnx__GraphProto *graph = export->model->graph;
  const gint64 once = 1;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) lists = g_ptr_array_new (), told = g_ptr_array_new ();
  g_autofree guint *ranks = g_new (guint, graph->n_input + 1);
  size_t first = graph->n_node;
  Onnx__NodeProto *loop;

  g_ptr_array_add (lists, (gpointer) add_list (export, "turns", &once, 1));
  g_ptr_array_add (lists, NULL);
  for (size_t i = 0; i < graph->n_input; i++)
    {
      const CleaveResult *input = export->graph->inputs->pdata[i];
      const CleaveShape *shape = &input->type.shape;
      g_autofree char *shaped = NULL;
      guint rank = shape->rank;

      if (rank == 0 || cleave_shape_n_elements (shape) == 0)
        continue;
      ranks[told->len] = rank;
      g_ptr_array_add (lists, (gpointer) add_list (export, "shape", shape->dim, rank));
      g_ptr_array_add (told, (gpointer) cleave_onnx_name_value (export, "shape"));
      shaped = g_strconcat (graph->input[i]->name, CLEAVE_ONNX_SHAPED, NULL);
      g_hash_table_insert (names, graph->input[i]->name,
                           (gpointer) cleave_onnx_name_value (export, shaped));
    }
  if (told->len == 0)
    return;
  rename_reads (graph, names);
  loop = cleave_onnx_add_node (export, "Loop", "shapes", (const char *const *) lists->pdata,
                               lists->len, (const char *const *) told->pdata, told->len);
  write_body (export, loop, ranks);
  for (size_t i = 0, k = 0; i < graph->n_input; i++)
    {
      const char *operands[2] = { graph->input[i]->name };
      const char *to = g_hash_table_lookup (names, operands[0]);

      if (to == NULL)
        continue;
      operands[1] = told->pdata[k++];
      cleave_onnx_add_node (export, "Reshape", to, operands, 2, &to, 1);
    }
  move_to_front (graph, first);
}

/* Lists of a Reshape */

static const Onnx__TensorProto *
find_constant (const Onnx__GraphProto *graph, const char *name)
{
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (strcmp (graph->initializer[i]->name, name) == 0)
      return graph->initializer[i];
  return NULL;
}

/* Its largest dimension is what the others leave; not that of channels, which weights tell. */
static void
hide_list (CleaveOnnxExport *export, Onnx__NodeProto *node)
{
  const Onnx__TensorProto *list = find_constant (export->model->graph, node->input[1]);
  gint64 dims[CLEAVE_MAX_RANK];
  guint n, largest;

  if (list == NULL || list->data_type != ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
      list->raw_data.len == 0 || list->raw_data.len > sizeof dims)
    return;
  n = (guint) (list->raw_data.len / sizeof *dims);
  memcpy (dims, list->raw_data.data, n * sizeof *dims);
  largest = n < 4 ? 0 : 2;
  for (guint d = 0; d < n; d++)
    {
      if (dims[d] <= 0)
        return;
      if (d > largest && dims[d] > dims[largest] && (n != 3 || d < 2))
        largest = d;
    }
  dims[largest] = -1;
  node->input[1] = (char *) add_list (export, "shape", dims, n);
}

/* Names of shapes */

/* Whose result the runtime may write over the operand, since it finds their shapes to be the same.
 */
static gboolean
keeps_shape (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_IN_PLACE) != 0 && node->n_operands == 1;
}

static void
name_shape (CleaveOnnxExport *export, const char *name, const CleaveTensorType *type, guint number)
{
  Onnx__GraphProto *graph = export->model->graph;
  Onnx__ValueInfoProto *info = cleave_onnx_info_new (export, name, type);
  const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;

  for (size_t d = 0; d < shape->n_dim; d++)
    if (shape->dim[d]->dim_value > 1)
      {
        shape->dim[d]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        shape->dim[d]->dim_param = g_strdup_printf ("shape_%u_%zu", number, d);
      }
  cleave_wire_append (&graph->value_info, &graph->n_value_info, info);
}

/* Each value has a shape of its own, but what may lie in the place of its operand. */
static void
name_shapes (CleaveOnnxExport *export)
{
  const Onnx__GraphProto *graph = export->model->graph;
  g_autoptr (GHashTable) results = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 0;

  for (const CleaveNode *node = export->graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_results && !keeps_shape (node); i++)
      if (*cleave_onnx_value_name (export, &node->results[i]) != NULL)
        g_hash_table_insert (results,
                             (gpointer) *cleave_onnx_value_name (export, &node->results[i]),
                             (gpointer) &node->results[i].type);
  for (size_t i = 0; i < graph->n_output; i++)
    g_hash_table_remove (results, graph->output[i]->name);
  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t r = 0; r < graph->node[i]->n_output; r++)
      {
        const CleaveTensorType *type = g_hash_table_lookup (results, graph->node[i]->output[r]);

        if (type != NULL)
          name_shape (export, graph->node[i]->output[r], type, ++n);
      }
}

void
cleave_onnx_export_hide (CleaveOnnxExport *export)
{
  hide_inputs (export);
  for (size_t i = 0; i < export->model->graph->n_node; i++)
    if (strcmp (export->model->graph->node[i]->op_type, "Reshape") == 0)
      hide_list (export, export->model->graph->node[i]);
  name_shapes (export);
}
