/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lowers a graph to values and steps: turns each node into one or several steps (model-parts.h). */

#include "cmsis.h"
#include "model-parts.h"

#define MAX_NAMED 8 /* an error message names at most this many refused nodes after the first */

/* The functions below add values. */

static gboolean
is_same_image (const CleaveBundleImage *a, const CleaveBundleImage *b)
{
  return a->images == b->images && a->rows == b->rows && a->columns == b->columns &&
         a->channels == b->channels;
}

/* Makes the result of a node a view of its operand. If both have equal numbers of images, rows,
 * columns and channels, the result gets no value of its own: it shares the operand's value. */
static void
add_view (CleaveBundleBuilder *b, const CleaveNode *node)
{
  guint x = cleave_bundle_find_value (b, node->operands[0].result);
  CleaveBundleImage image = cleave_bundle_image (&node->results[0]);

  if (is_same_image (&image, &cleave_bundle_value (b->model, x)->image))
    cleave_bundle_set_value (b, &node->results[0], x);
  else
    cleave_bundle_add_image (b, &node->results[0], x, &image);
}

/* Returns the image that the kernel of a layer gets: one image with the rows of all images
 * (is_folded), or one row with all rows of an image (is_flat). */
static CleaveBundleImage
fold (CleaveBundleImage image, const CleaveBundleLayer *layer)
{
  if (layer->is_folded)
    {
      image.rows *= image.images;
      image.images = 1;
    }
  if (layer->is_flat)
    {
      image.columns *= image.rows;
      image.rows = 1;
    }
  return image;
}

/* Replaces the first `n` operands of a step by views with the images that fold() returns. */
static void
fold_operands (CleaveBundleBuilder *b, CleaveBundleStep *step, guint n)
{
  if (!step->layer->is_folded && !step->layer->is_flat)
    return;
  for (guint i = 0; i < n; i++)
    {
      guint x = step->operands[i];
      CleaveBundleImage own = cleave_bundle_value (b->model, x)->image, image;
      const CleaveResult *result = cleave_bundle_value (b->model, x)->result;

      image = fold (own, step->layer);
      step->rows[i] = cleave_dim_map_whole (image.rows);
      step->columns[i] = cleave_dim_map_whole (image.columns);
      if (is_same_image (&own, &image))
        continue;
      step->operands[i] = cleave_bundle_add_image (b, result, x, &image);
      cleave_bundle_set_value (b, result, x);
    }
}

/* Adds the value that a step computes, and returns its index. */
static guint
add_result (CleaveBundleBuilder *b, const CleaveNode *node, const CleaveBundleStep *step)
{
  guint y = cleave_bundle_add_value (b, &node->results[0]);
  CleaveBundleImage *image = &cleave_bundle_value (b->model, y)->image;

  *image = fold (*image, step->layer);
  return y;
}

/* If the kernel of a step folds or flattens the result `y` (fold()), adds a view of `y`, which
 * later steps read. The view has the image of the node's result. */
static void
unfold_result (CleaveBundleBuilder *b, const CleaveNode *node, guint y)
{
  CleaveBundleImage image = cleave_bundle_image (&node->results[0]);

  if (!is_same_image (&image, &cleave_bundle_value (b->model, y)->image))
    cleave_bundle_add_image (b, &node->results[0], y, &image);
}

/* The functions below add steps. */

/* Returns the map for a dimension that the operand does not have: the step reads index 0. */
static CleaveDimMap
only_index (void)
{
  return cleave_dim_map_whole (1);
}

/* Returns the map from a row (or column) of the result to dimension `dim` of an operand. `from`:
 * the dimension of the result that gives its rows (or columns). If `dim` depends on another
 * dimension of the result, returns a map to all indices of `dim`. */
static CleaveDimMap
find_map (const CleaveDimMap *maps, gint dim, gint from, const CleaveShape *operand)
{
  if (dim < 0)
    return only_index ();
  if (maps[dim].stride == 0 || (from >= 0 && maps[dim].from == (guint) from))
    return maps[dim];
  return cleave_dim_map_whole (operand->dim[dim]);
}

static void
set_maps (const CleaveNode *node, guint slot, const CleaveBundleImage *y, CleaveBundleStep *step)
{
  const CleaveResult *x = node->operands[slot].result;
  CleaveBundleImage image = cleave_bundle_image (x);
  CleaveDimMap maps[CLEAVE_MAX_RANK];
  g_auto (CleaveNodeCall) call = { 0 };
  guint i = step->n_operands;

  node->op->maps (cleave_node_call_init (&call, node), slot, maps);
  step->rows[i] = find_map (maps, image.row_dim, y->row_dim, &x->type.shape);
  step->columns[i] = find_map (maps, image.column_dim, y->column_dim, &x->type.shape);
}

static gboolean
fail (const CleaveNode *node, GError **error, const char *why)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s", node->op->name, node->name, why);
}

static gboolean
add_operand (CleaveBundleBuilder *b,
             const CleaveNode *node,
             guint slot,
             CleaveBundleStep *step,
             GError **error)
{
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  const CleaveResult *x = node->operands[slot].result;
  CleaveBundleImage image = cleave_bundle_image (x);

  if (step->n_operands == CLEAVE_BUNDLE_MAX_OPERANDS)
    return fail (node, error, "a bundle has no kernel for more than two operands that vary");
  step->mixes_images |= image.images != 1 && image.images != y.images;
  set_maps (node, slot, &y, step);
  step->slots[step->n_operands] = slot;
  step->operands[step->n_operands++] = cleave_bundle_find_value (b, x);
  return TRUE;
}

static gboolean
describe (CleaveBundleBuilder *b, const CleaveNode *node, CleaveBundleStep *step, GError **error)
{
  const CleaveBundleOp *op = cleave_bundle_op_find (node);

  if (op == NULL)
    return fail (node, error,
                 "a bundle has no kernel for this operator; compute it outside, or see `cleave "
                 "extract` for the part of the model before it");
  step->layer = cleave_bundle_layer_new (b->model->pool);
  step->layer->slot = step->slots[0];
  if (!cleave_bundle_describe_cmsis (node, b->max_call_bytes, step->layer) &&
      !op->describe (node, step->layer, error))
    return FALSE;
  if (step->mixes_images && !step->layer->is_folded)
    return fail (node, error,
                 "a bundle computes image by image, but this node mixes the images of a batch; "
                 "use a batch of 1");
  step->kernel = step->layer->kernel;
  return TRUE;
}

/* Adds a step that sums the rows of operand 0 of `step`. Replaces that operand by the complete sum,
 * which is the last row. */
static void
add_sums (CleaveBundleBuilder *b, const CleaveNode *node, CleaveBundleStep *step)
{
  const CleaveBundleLayer *layer = step->layer;
  CleaveBundleStep sums = { .node = node,
                            .layer = step->layer,
                            .kernel = layer->sums,
                            .is_sum = TRUE,
                            .n_operands = 1,
                            .operands = { step->operands[0] },
                            .slots = { step->slots[0] },
                            .macs = step->macs };
  gint64 rows = cleave_bundle_value (b->model, step->operands[0])->image.rows;
  guint index = cleave_bundle_add_value (b, &node->results[0]);
  CleaveBundleImage *image = &cleave_bundle_value (b->model, index)->image;

  image->rows = rows;
  image->columns = layer->sum_columns;
  image->channels = 1;
  image->pixel_bytes = layer->sum_pixel_bytes;
  sums.rows[0] = cleave_dim_map_same (0);
  sums.columns[0] =
      cleave_dim_map_whole (cleave_bundle_value (b->model, step->operands[0])->image.columns);
  cleave_bundle_append_step (b, &sums, index);
  step->operands[0] = index;
  step->rows[0] = (CleaveDimMap){ .block = 1, .offset = rows - 1, .window = 1, .times = 1 };
  step->columns[0] = cleave_dim_map_whole (layer->sum_columns);
  step->macs = 0;
}

/* Adds the step of a node. If the layer has sums, first adds the step that computes the sums. */
static gboolean
add_step (CleaveBundleBuilder *b, const CleaveNode *node, GError **error)
{
  CleaveBundleStep step = { .node = node, .macs = cleave_node_get_macs (node) };
  guint y;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL &&
        !cleave_node_is_fixed (node->operands[i].result->node) &&
        !add_operand (b, node, i, &step, error))
      return FALSE;
  if (!describe (b, node, &step, error))
    {
      g_clear_pointer (&step.layer, cleave_bundle_layer_free);
      return FALSE;
    }
  if (step.layer->sums != NULL)
    add_sums (b, node, &step);
  fold_operands (b, &step, step.n_operands);
  if (step.layer->context_bytes > 0)
    cleave_bundle_add_context (b, node, &step);
  y = add_result (b, node, &step);
  cleave_bundle_append_step (b, &step, y);
  unfold_result (b, node, y);
  return TRUE;
}

/* Adds a join, a node whose operands are parts of its result, such as a Concat. Adds one step for
 * each part. All steps copy into one value: each step adds its part to the parts that earlier steps
 * have copied. */
static gboolean
add_join (CleaveBundleBuilder *b, const CleaveNode *node, GError **error)
{
  guint before = CLEAVE_BUNDLE_NONE;

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveBundleStep step = { .node = node, .slots = { i } };

      if (!cleave_node_is_fixed (node->operands[i].result->node) &&
          !add_operand (b, node, i, &step, error))
        return FALSE;
      if (before != CLEAVE_BUNDLE_NONE)
        {
          guint last = step.n_operands++;

          step.rows[last] = step.columns[last] = cleave_dim_map_same (0);
          step.operands[last] = before;
        }
      if (!describe (b, node, &step, error))
        {
          g_clear_pointer (&step.layer, cleave_bundle_layer_free);
          return FALSE;
        }
      fold_operands (b, &step, cleave_node_is_fixed (node->operands[i].result->node) ? 0 : 1);
      before = add_result (b, node, &step);
      cleave_bundle_append_step (b, &step, before);
    }
  unfold_result (b, node, before);
  return TRUE;
}

static gboolean
add_node (CleaveBundleBuilder *b, const CleaveNode *node, GError **error)
{
  const CleaveBundleOp *op = cleave_bundle_op_find (node);

  if (node->op == &cleave_op_input || cleave_node_is_fixed (node) || !cleave_node_is_used (node))
    return TRUE;
  if (op != NULL && node->op->sequence != NULL)
    return cleave_bundle_add_recurrent (b, node, op, error);
  for (guint r = 1; r < node->n_results; r++)
    if (node->results[r].n_uses > 0)
      return fail (node, error, "a bundle has no kernel for more than one result");
  if (node->op->maps == NULL)
    return fail (node, error, "a bundle has no kernel for an operator that cannot be split");
  if (cleave_bundle_is_view (node))
    {
      add_view (b, node);
      return TRUE;
    }
  return node->op->flags & CLEAVE_OP_JOIN ? add_join (b, node, error) : add_step (b, node, error);
}

/* Appends the name of a refused node. `n`: number of nodes that were refused before. */
static void
name_refused (const CleaveNode *node, guint n, GString *names)
{
  if (n <= MAX_NAMED)
    g_string_append_printf (names, "%s%s '%s'", n == 1 ? "" : ", ", node->op->name, node->name);
}

/* Adds all nodes. Fails if nodes are refused. The error has the reason for the first refused node,
 * and the names of all other refused nodes, so that the user can change all of them at once. */
static gboolean
add_nodes (CleaveBundleBuilder *b, const GPtrArray *order, GError **error)
{
  g_autoptr (GError) first = NULL;
  g_autoptr (GString) others = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (add_node (b, node, first == NULL ? &first : NULL))
        continue;
      if (n++ > 0)
        name_refused (node, n - 1, others);
      for (guint r = 0; r < node->n_results; r++) /* adds values for the results of a refused node,
                                                   * so that its readers are checked, too */
        cleave_bundle_add_value (b, &node->results[r]);
    }
  if (n == 0)
    return TRUE;
  if (n == 1)
    {
      g_propagate_error (error, g_steal_pointer (&first));
      return FALSE;
    }
  if (n - 1 > MAX_NAMED)
    g_string_append_printf (others, " and %u more", n - 1 - MAX_NAMED);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s; %u other node%s also refused: %s",
                      first->message, n - 1, n == 2 ? " is" : "s are", others->str);
}

static gboolean
build (CleaveBundleBuilder *b, GError **error)
{
  g_autoptr (GPtrArray) order = NULL;

  if (!cleave_bundle_fold_constants (b->model->graph, error) ||
      !cleave_bundle_find_states (b, error) ||
      !cleave_bundle_set_io_type (b->model, b->options->io_type, error))
    return FALSE;
  b->model->source = cleave_graph_copy (b->model->graph);
  if (!cleave_bundle_prepare (b->model->graph, error) ||
      !cleave_bundle_fold_constants (b->model->graph, error))
    return FALSE;
  cleave_bundle_add_inputs (b);
  order = cleave_bundle_order_nodes (b->model->graph, b->by_memory, error);
  if (order == NULL || !add_nodes (b, order, error) || !cleave_bundle_mark_readers (b, error))
    return FALSE;
  cleave_bundle_list_readers (b->model);
  cleave_bundle_set_starts (b->model);
  return TRUE;
}

CleaveBundleModel *
cleave_bundle_model_new (CleaveGraph *graph,
                         const CleaveBundleOptions *options,
                         gint64 max_call_bytes,
                         gboolean by_memory,
                         GError **error)
{
  g_autoptr (CleaveBundleModel) model = g_new0 (CleaveBundleModel, 1);
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);
  CleaveBundleBuilder b = { model, options, values, max_call_bytes, by_memory };

  model->graph = cleave_graph_copy (graph);
  model->values = g_array_new (FALSE, TRUE, sizeof (CleaveBundleValue));
  model->steps = g_array_new (FALSE, TRUE, sizeof (CleaveBundleStep));
  model->pool = cleave_bundle_pool_new (options->name);
  model->outputs = g_new0 (guint, graph->outputs->len + 1);
  model->states = g_array_new (FALSE, FALSE, sizeof (CleaveBundleKept));
  model->input_scales = g_new0 (CleaveBundleQuantization, graph->inputs->len + 1);
  model->output_scales = g_new0 (CleaveBundleQuantization, graph->outputs->len + 1);
  return build (&b, error) ? g_steal_pointer (&model) : NULL;
}

void
cleave_bundle_model_free (CleaveBundleModel *model)
{
  for (guint s = 0; s < model->steps->len; s++)
    if (!cleave_bundle_step (model, s)->is_sum)
      cleave_bundle_layer_free (cleave_bundle_step (model, s)->layer);
  g_array_unref (model->steps);
  g_array_unref (model->values);
  g_free (model->outputs);
  g_array_unref (model->states);
  g_free (model->input_scales);
  g_free (model->output_scales);
  g_free (model->readers);
  g_free (model->first_reader);
  cleave_bundle_pool_free (model->pool);
  cleave_graph_unref (model->graph);
  g_clear_pointer (&model->source, cleave_graph_unref);
  g_free (model);
}
