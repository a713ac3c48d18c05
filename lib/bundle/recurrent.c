/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the steps of a recurrent node:
 *
 *   start   h and c before step 0, if they are computed at run time
 *   state   the state after each time step; only one row is in memory
 *   end     the results of the layer: h of each step, or h and c of the last step
 *   parts   one step for each used result (Y, Y_h, Y_c), which copies it from the value of `end`;
 *           not needed if only Y or only Y_h is used
 *
 * In these values, a row is a time step, and a column is a sequence of the batch. */

#include "model-parts.h"

enum { Y, Y_H, Y_C };

typedef struct
{
  CleaveBundleBuilder *builder;
  const CleaveNode *node;
  CleaveBundleLayer *layer;
  const CleaveBundleRecurrent *recurrent;
  gboolean has_all_steps, has_cell; /* whether the value `end` has h of all time steps, and whether
                                     * it has the cell state */
} Lowering;

gboolean
cleave_bundle_has_variable_state (const CleaveNode *node, const CleaveBundleRecurrent *recurrent)
{
  const guint states[] = { recurrent->h, recurrent->c };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    if (states[i] < node->n_operands && node->operands[states[i]].result != NULL &&
        !cleave_node_is_fixed (node->operands[states[i]].result->node))
      return TRUE;
  return FALSE;
}

static gboolean
is_used (const CleaveNode *node, guint result)
{
  return result < node->n_results && node->results[result].n_uses > 0;
}

static CleaveBundleImage
make_image (gint64 rows, gint64 columns, gsize pixel_bytes)
{
  return (CleaveBundleImage){ .images = 1,
                              .rows = rows,
                              .columns = columns,
                              .channels = 1,
                              .row_dim = -1,
                              .column_dim = -1,
                              .channel_dim = -1,
                              .pixel_bytes = pixel_bytes };
}

/* Returns the value of an operand, as an image with `rows` rows and one column for each
 * sequence. */
static guint
find_operand (const Lowering *l, guint operand, gint64 rows)
{
  const CleaveResult *x = l->node->operands[operand].result;
  guint value = cleave_bundle_find_value (l->builder, x);
  const CleaveBundleImage *own = &cleave_bundle_value (l->builder->model, value)->image;
  gint64 n_bytes = cleave_tensor_type_n_bytes (&x->type);
  CleaveBundleImage image =
      make_image (rows, l->recurrent->columns, (gsize) (n_bytes / (rows * l->recurrent->columns)));
  guint view;

  if (own->images == 1 && own->rows == image.rows && own->columns == image.columns &&
      own->pixel_bytes == image.pixel_bytes)
    return value;
  view = cleave_bundle_add_image (l->builder, x, value, &image);
  cleave_bundle_set_value (l->builder, x, value);
  return view;
}

static void
add_operand (CleaveBundleStep *step, guint slot, guint value, CleaveDimMap rows)
{
  guint i = step->n_operands++;

  step->slots[i] = slot;
  step->operands[i] = value;
  step->rows[i] = rows;
  step->columns[i] = cleave_dim_map_same (0);
}

/* Adds a step. Its result has `rows` rows, and `pixel_bytes` bytes for each column. Returns the
 * value of the result. */
static guint
add_step (const Lowering *l, CleaveBundleStep *step, guint result, gint64 rows, gsize pixel_bytes)
{
  guint y = cleave_bundle_add_value (l->builder, &l->node->results[result]);

  cleave_bundle_value (l->builder->model, y)->image =
      make_image (rows, l->recurrent->columns, pixel_bytes);
  step->node = l->node;
  cleave_bundle_append_step (l->builder, step, y);
  return y;
}

/* Adds the step that joins the initial states h and c. Returns the value of its result. */
static guint
add_start (const Lowering *l)
{
  const CleaveBundleRecurrent *recurrent = l->recurrent;
  const guint operands[] = { recurrent->h, recurrent->c };
  const gsize bytes[] = { recurrent->h_bytes, recurrent->c_bytes };
  CleaveBundleStep step = { .layer = cleave_bundle_layer_new (l->builder->model->pool) };
  g_autoptr (GString) constants = g_string_new (NULL), flags = g_string_new (NULL);
  g_autofree char *fields = NULL;

  for (guint i = 0; i < 2; i++)
    {
      const CleaveResult *x =
          operands[i] < l->node->n_operands ? l->node->operands[operands[i]].result : NULL;
      gboolean is_variable = x != NULL && !cleave_node_is_fixed (x->node);

      g_string_append_printf (
          constants, "%s %s", i == 0 ? "" : ",",
          x == NULL || is_variable
              ? "NULL"
              : cleave_bundle_layer_add_array (step.layer, "uint8_t",
                                               cleave_bundle_constant (l->node, operands[i]),
                                               (gsize) cleave_tensor_type_n_bytes (&x->type)));
      g_string_append_printf (flags, "%s %d", i == 0 ? "" : ",", is_variable);
      if (is_variable)
        add_operand (&step, operands[i], find_operand (l, operands[i], 1),
                     cleave_dim_map_whole (1));
    }
  fields = g_strdup_printf (".constants = {%s }, .bytes = { %u, %u }, .is_operand = {%s }",
                            constants->str, (guint) bytes[0], (guint) bytes[1], flags->str);
  cleave_bundle_layer_set_kernel (step.layer, "recurrent-start", "cleave_recurrent_start");
  cleave_bundle_layer_set_params (step.layer, "CleaveRecurrentStart", fields);
  step.kernel = step.layer->kernel;
  return add_step (l, &step, Y, 1, bytes[0] + bytes[1]);
}

/* Adds two steps: the first computes the state after each time step, the second copies the results
 * of the layer from the state. Returns the value of the second step. */
static guint
add_end (const Lowering *l, gboolean has_start)
{
  const CleaveBundleRecurrent *recurrent = l->recurrent;
  CleaveBundleStep state = { .layer = l->layer,
                             .kernel = l->layer->sums,
                             .is_sum = TRUE,
                             .macs = cleave_node_get_macs (l->node) };
  CleaveBundleStep end = { .layer = l->layer, .kernel = l->layer->kernel };
  CleaveDimMap last = { .block = 1, .offset = recurrent->steps - 1, .window = 1, .times = 1 };
  guint start = has_start ? add_start (l) : 0, value;

  add_operand (&state, recurrent->x, find_operand (l, recurrent->x, recurrent->steps),
               cleave_dim_map_same (0));
  if (has_start)
    add_operand (&state, recurrent->h, start, cleave_dim_map_whole (1));
  value = add_step (l, &state, Y, recurrent->steps, recurrent->state_bytes);
  add_operand (&end, recurrent->x, value, l->has_all_steps ? cleave_dim_map_same (0) : last);
  return add_step (l, &end, Y, l->has_all_steps ? recurrent->steps : 1,
                   recurrent->h_bytes + (l->has_cell ? recurrent->c_bytes : 0));
}

/* Adds the step that copies one result (Y, Y_h or Y_c) from `end`, the value with all results.
 * Returns the value of this result. */
static guint
add_part (const Lowering *l, guint end, guint result)
{
  const CleaveBundleRecurrent *recurrent = l->recurrent;
  const CleaveBundleImage *from = &cleave_bundle_value (l->builder->model, end)->image;
  CleaveBundleStep step = { .layer = cleave_bundle_layer_new (l->builder->model->pool) };
  gint64 rows = result == Y ? recurrent->steps : 1, first = from->rows - rows;
  gsize offset = result == Y_C ? recurrent->h_bytes : 0;
  gsize bytes = result == Y_C ? recurrent->c_bytes : recurrent->h_bytes;
  CleaveDimMap map = { .block = 1, .stride = 1, .offset = first, .window = 1, .times = 1 };
  g_autofree char *fields = g_strdup_printf (
      ".axes = { { NULL, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }, { NULL, 0, %" G_GINT64_FORMAT
      " }, { NULL, %u, %u } }, .channels = %u, .size = 1, .fill = { 0 }",
      first, from->rows, from->columns, (guint) offset, (guint) from->pixel_bytes, (guint) bytes);

  cleave_bundle_layer_set_kernel (step.layer, "move", "cleave_move");
  cleave_bundle_layer_set_params (step.layer, "CleaveMove", fields);
  step.kernel = step.layer->kernel;
  add_operand (&step, recurrent->x, end, map);
  return add_step (l, &step, result, rows, bytes);
}

static gboolean
fail (const CleaveNode *node, GError **error, const char *why)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s", node->op->name, node->name, why);
}

static gboolean
check (const Lowering *l, GError **error)
{
  const CleaveNode *node = l->node;
  const guint operands[] = { l->recurrent->x, l->recurrent->h, l->recurrent->c };

  if (l->recurrent->is_batch_first && l->recurrent->columns > 1)
    return fail (node, error, "a bundle needs a batch of 1, or the steps in dimension 0");
  for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
    if (operands[i] < node->n_operands && node->operands[operands[i]].result != NULL &&
        !cleave_bundle_is_row_major (node->operands[operands[i]].result))
      return fail (node, error, "a bundle needs the dimensions of its operands in their order");
  for (guint i = 0; i < node->n_results; i++)
    if (is_used (node, i) && !cleave_bundle_is_row_major (&node->results[i]))
      return fail (node, error, "a bundle needs the dimensions of its results in their order");
  return TRUE;
}

/* Maps each used result of the recurrent node to a value of the bundle. `end`: index of the value
 * that contains all results of the node. */
static void
add_results (const Lowering *l, guint end)
{
  guint n = 0;

  for (guint i = 0; i < l->node->n_results; i++)
    n += is_used (l->node, i) ? 1 : 0;
  for (guint i = 0; i < l->node->n_results; i++)
    if (is_used (l->node, i))
      {
        CleaveBundleImage image = cleave_bundle_image (&l->node->results[i]);
        gboolean is_end = n == 1 && i != Y_C;

        cleave_bundle_add_image (l->builder, &l->node->results[i],
                                 is_end ? end : add_part (l, end, i), &image);
      }
}

gboolean
cleave_bundle_add_recurrent (CleaveBundleBuilder *b,
                             const CleaveNode *node,
                             const CleaveBundleOp *op,
                             GError **error)
{
  CleaveBundleLayer *layer = cleave_bundle_layer_new (b->model->pool);
  Lowering l = { b, node, layer, &layer->recurrent, is_used (node, Y), is_used (node, Y_C) };
  gboolean has_start;
  g_autofree char *fields = NULL;

  if (!op->describe (node, layer, error) || !check (&l, error))
    {
      cleave_bundle_layer_free (layer);
      return FALSE;
    }
  has_start = cleave_bundle_has_variable_state (node, &layer->recurrent);
  fields = g_strdup_printf ("%s, .has_start = %d, .has_all_steps = %d, .has_cell = %d",
                            layer->fields, has_start, l.has_all_steps, l.has_cell);
  cleave_bundle_layer_set_params (layer, layer->type, fields);
  add_results (&l, add_end (&l, has_start));
  return TRUE;
}
