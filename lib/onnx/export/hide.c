/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Hides shapes from ONNX Runtime until it runs the model.
 *
 * If the shape of a value is unknown before the run, ONNX Runtime frees the buffer of the value as
 * soon as the value is dead. If the shape is known, ONNX Runtime keeps the buffer for the next
 * value of the same shape, even if the next value comes much later.
 *
 * ONNX Runtime does not know a list of extents that a Loop returns, since constant folding does not
 * evaluate a Loop. So the exporter adds a Loop of one iteration that returns lists of extents. A
 * Reshape gives each input the shape in one of these lists, and each Resize reads its sizes from a
 * list:
 *
 *     Loop (lists) -> s, t      Reshape (input, s) -> x      Resize (y, sizes = t)
 *
 * In the constant lists of all remaining Reshapes, -1 replaces one extent. */

#include "export.h"

#include <string.h>

#include "../wire.h"

static const Onnx__TensorProto *
find_constant (const Onnx__GraphProto *graph, const char *name)
{
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (strcmp (graph->initializer[i]->name, name) == 0)
      return graph->initializer[i];
  return NULL;
}

/* Adds a list of integers as a new initializer, and returns the name of the initializer. Unlike
 * cleave_onnx_add_list(), does not reuse the initializer of an equal list. Such an initializer may
 * be in the body of a Loop, and nodes outside the body could not read it. */
static const char *
add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);

  name = cleave_onnx_name_value (export, name);
  cleave_onnx_add_initializer (export, name, tensor);
  return name;
}

/* The functions below hide the shapes of inputs and the sizes of Resizes. */

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
          rename_reads (node->attribute[k]->g, names); /* calls itself for each inner graph */
    }
}

/* Moves the nodes with an index of at least `first` before all other nodes of the graph. */
static void
move_to_front (Onnx__GraphProto *graph, size_t first)
{
  size_t n = graph->n_node - first;
  g_autofree Onnx__NodeProto **moved = g_memdup2 (graph->node + first, n * sizeof *moved);

  memmove (graph->node + n, graph->node, first * sizeof *moved);
  memcpy (graph->node, moved, n * sizeof *moved);
}

/* A Loop that returns constant lists unchanged. Constant folding cannot compute the results of a
 * Loop. */
typedef struct
{
  CleaveOnnxExport *export;
  GPtrArray *lists, *results; /* `lists`: names of the Loop's operands (iteration count, condition,
                               * lists); `results`: names of the Loop's results */
  GArray *ranks;              /* guint: length of each list */
} ShapeLoop;

static void
shape_loop_clear (ShapeLoop *shapes)
{
  g_ptr_array_unref (shapes->lists);
  g_ptr_array_unref (shapes->results);
  g_array_unref (shapes->ranks);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ShapeLoop, shape_loop_clear)

static void
shape_loop_init (ShapeLoop *shapes, CleaveOnnxExport *export)
{
  const gint64 once = 1;

  shapes->export = export;
  shapes->lists = g_ptr_array_new ();
  shapes->results = g_ptr_array_new ();
  shapes->ranks = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (shapes->lists, (gpointer) add_list (export, "iterations", &once, 1));
  g_ptr_array_add (shapes->lists, NULL);
}

/* Adds a constant list to the lists that the Loop returns. `list` is the name of the list, and
 * `rank` is the length of the list. Returns the name of the new result of the Loop; this name
 * begins with `name`. */
static const char *
pass_list (ShapeLoop *shapes, const char *list, const char *name, guint rank)
{
  const char *result = cleave_onnx_name_value (shapes->export, name);

  g_ptr_array_add (shapes->lists, (gpointer) list);
  g_ptr_array_add (shapes->results, (gpointer) result);
  g_array_append_val (shapes->ranks, rank);
  return result;
}

static void
write_body (const ShapeLoop *shapes, Onnx__NodeProto *loop)
{
  static const CleaveTensorType number = { .element = CLEAVE_INT64 },
                                flag = { .element = CLEAVE_BOOL };
  CleaveOnnxExport *export = shapes->export;
  Onnx__GraphProto *outer = export->scope, *body = cleave_onnx_add_graph (loop, "body");
  const char *iteration = cleave_onnx_name_value (export, "iteration");

  cleave_wire_append (&body->input, &body->n_input,
                      cleave_onnx_info_new (export, iteration, &number));
  export->scope = body;
  for (guint i = 0; i <= loop->n_output; i++)
    {
      CleaveTensorType list =
          CLEAVE_TYPE (CLEAVE_INT64, i == 0 ? 1 : g_array_index (shapes->ranks, guint, i - 1));
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
write_shape_loop (const ShapeLoop *shapes)
{
  Onnx__NodeProto *loop = cleave_onnx_add_node (
      shapes->export, "Loop", "shapes", (const char *const *) shapes->lists->pdata,
      shapes->lists->len, (const char *const *) shapes->results->pdata, shapes->results->len);

  write_body (shapes, loop);
}

/* A Reshape to add after the Loop: the names of its operands, and the name of its result. */
typedef struct
{
  const char *operands[2], *to;
} Shaping;

static void
write_reshapes (CleaveOnnxExport *export, const GArray *shapings)
{
  for (guint i = 0; i < shapings->len; i++)
    {
      const Shaping *shaping = &g_array_index (shapings, Shaping, i);

      cleave_onnx_add_node (export, "Reshape", shaping->to, shaping->operands, 2, &shaping->to, 1);
    }
}

/* Returns the only reader of a value, if this reader is a Reshape or another node that only changes
 * the shape. If not, returns NULL. */
static const CleaveNode *
find_reshaping (const CleaveResult *value)
{
  const CleaveNode *reader = value->n_uses == 1 ? value->first_use->node : NULL;

  return reader != NULL && (reader->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 ? reader : NULL;
}

/* Returns whether an input must keep its shape in the file. This is so if the input has one
 * element, or if a chain of nodes that only reshape leads from the input to an output. ONNX Runtime
 * 1.30 replaces a chain of reshapes by one Reshape to the last shape. ONNX Runtime would refuse a
 * file with the added Reshape at the begin of the chain, since the list of the added Reshape is no
 * constant. */
static gboolean
keeps_its_shape (const CleaveResult *input)
{
  if (cleave_shape_n_elements (&input->type.shape) == 1)
    return TRUE;
  for (const CleaveNode *node = find_reshaping (input); node != NULL;
       node = find_reshaping (&node->results[0]))
    for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        return TRUE;
  return FALSE;
}

static void
pass_shapes_of_inputs (ShapeLoop *shapes, GArray *shapings)
{
  CleaveOnnxExport *export = shapes->export;
  Onnx__GraphProto *graph = export->model->graph;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  /* the shapes of inputs with default values stay known, since these inputs are weights.
   * graph->input lists them last, so the loop does not reach them */
  for (guint i = 0; i < export->graph->inputs->len; i++)
    {
      const CleaveResult *input = export->graph->inputs->pdata[i];
      const CleaveShape *shape = &input->type.shape;
      Shaping shaping = { .operands = { graph->input[i]->name } };
      g_autofree char *shaped = NULL;

      if (cleave_shape_n_elements (shape) == 0 || keeps_its_shape (input))
        continue;
      shaping.operands[1] = pass_list (shapes, add_list (export, "shape", shape->dim, shape->rank),
                                       "shape", shape->rank);
      shaped = g_strconcat (graph->input[i]->name, CLEAVE_ONNX_SHAPED, NULL);
      shaping.to = cleave_onnx_name_value (export, shaped);
      g_hash_table_insert (names, graph->input[i]->name, (gpointer) shaping.to);
      g_array_append_val (shapings, shaping);
    }
  rename_reads (graph, names);
}

#define RESIZE_SIZES 3 /* index of the operand `sizes` */

/* Returns the initializer with the sizes that `node`, a Resize, reads. Returns NULL if the sizes
 * are not constant, or if `node` is no Resize. */
static const Onnx__TensorProto *
find_sizes (const Onnx__GraphProto *graph, const Onnx__NodeProto *node)
{
  const Onnx__TensorProto *list =
      strcmp (node->op_type, "Resize") == 0 && node->n_input > RESIZE_SIZES
          ? find_constant (graph, node->input[RESIZE_SIZES])
          : NULL;

  return list != NULL && list->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ? list : NULL;
}

/* Makes each Resize with constant sizes read its sizes from a result of the Loop that the exporter
 * adds (ShapeLoop). If the sizes stayed constant, ONNX Runtime would know the shapes of all later
 * values. A Resize requires a list of known length. So a Reshape between the Loop and the Resize
 * tells ONNX Runtime the length of the list. */
static void
pass_sizes (ShapeLoop *shapes, GArray *shapings)
{
  CleaveOnnxExport *export = shapes->export;
  Onnx__GraphProto *graph = export->model->graph;
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; i < graph->n_node; i++)
    {
      const Onnx__TensorProto *list = find_sizes (graph, graph->node[i]);
      gint64 rank = list == NULL ? 0 : list->dims[0];

      if (list == NULL)
        continue;
      if (!g_hash_table_contains (known, list->name))
        {
          Shaping shaping = { { pass_list (shapes, list->name, "sizes", (guint) rank),
                                add_list (export, "length", &rank, 1) },
                              cleave_onnx_name_value (export, "sizes") };

          g_array_append_val (shapings, shaping);
          g_hash_table_insert (known, list->name, (gpointer) shaping.to);
        }
      graph->node[i]->input[RESIZE_SIZES] = g_hash_table_lookup (known, list->name);
    }
}

static void
hide_known_shapes (CleaveOnnxExport *export)
{
  size_t first = export->model->graph->n_node;
  g_auto (ShapeLoop) shapes = { 0 };
  g_autoptr (GArray) shapings = g_array_new (FALSE, FALSE, sizeof (Shaping));

  shape_loop_init (&shapes, export);
  pass_shapes_of_inputs (&shapes, shapings);
  if (shapings->len == 0)
    return;
  pass_sizes (&shapes, shapings);
  write_shape_loop (&shapes);
  write_reshapes (export, shapings);
  move_to_front (export->model->graph, first);
}

/* The function below removes one extent from the constant list of a Reshape, so that the runtime
 * cannot infer the shape of the result. */

/* Replaces the largest extent in the constant list of a Reshape by -1. In a list of four or more
 * extents, keeps the first two extents (batch and channels). In a list of three extents, keeps the
 * last extent (channels). The channels need not be hidden: a runtime also knows the number of
 * channels from the shapes of the weights. */
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

/* The functions below put names instead of numbers into the shapes of intermediate values (symbolic
 * extents). */

/* Returns whether the runtime infers that a node's result has the shape of the operand. If so, the
 * runtime may write the result over the operand. */
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

/* Declares the type of each intermediate value, with a new symbolic name in place of each extent
 * above 1. Leaves out the result of an op that keeps the shape of its only operand
 * (keeps_shape()). */
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
  for (size_t i = 0; i < export->model->graph->n_node; i++)
    if (strcmp (export->model->graph->node[i]->op_type, "Reshape") == 0)
      hide_list (export, export->model->graph->node[i]);
  hide_known_shapes (export);
  name_shapes (export);
}
