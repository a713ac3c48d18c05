/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the steps that read each value, and finds the rows and columns of operands that a step
 * needs. */

#include "model.h"

void
cleave_bundle_list_readers (CleaveBundleModel *model)
{
  guint n = model->values->len, n_readers = 0;

  model->first_reader = g_new0 (guint, n + 1);
  for (guint s = 0; s < model->steps->len; s++)
    for (guint i = 0; i < cleave_bundle_step (model, s)->n_operands; i++, n_readers++)
      model->first_reader[cleave_bundle_step (model, s)->operands[i] + 1]++;
  for (guint i = 0; i < n; i++)
    model->first_reader[i + 1] += model->first_reader[i];
  model->readers = g_new (CleaveBundleReader, MAX (n_readers, 1));
  for (guint s = model->steps->len; s-- > 0;)
    for (guint i = cleave_bundle_step (model, s)->n_operands; i-- > 0;)
      {
        guint value = cleave_bundle_step (model, s)->operands[i];

        model->readers[--model->first_reader[value + 1]] = (CleaveBundleReader){ s, i };
      }
  for (guint i = 0; i < n; i++)
    model->first_reader[i] = model->first_reader[i + 1];
  model->first_reader[n] = n_readers;
}

static CleaveSpan
map_span (CleaveDimMap map, CleaveSpan span, gint64 extent)
{
  map.from = 0;
  span = cleave_dim_map_apply (&map, &span);
  span.begin = CLAMP (span.begin, 0, extent);
  span.end = CLAMP (span.end, span.begin, extent);
  return span;
}

/* Avoids divisions for most maps, since the planner calls this function for each row of each
 * segment. */
CleaveSpan
cleave_bundle_step_rows (const CleaveBundleModel *model,
                         const CleaveBundleStep *step,
                         guint operand,
                         gint64 row)
{
  const CleaveDimMap *map = &step->rows[operand];
  gint64 extent = cleave_bundle_value (model, step->operands[operand])->image.rows;
  gint64 at = row * map->times + map->shift;
  CleaveSpan span;

  if (map->block != 1)
    at = cleave_floor_div (at, map->block);
  span.begin = CLAMP (at * map->stride + map->offset, 0, extent);
  span.end = CLAMP (at * map->stride + map->offset + map->window, span.begin, extent);
  return span;
}

CleaveSpan
cleave_bundle_step_columns (const CleaveBundleModel *model,
                            const CleaveBundleStep *step,
                            guint operand,
                            CleaveSpan columns)
{
  return map_span (step->columns[operand], columns,
                   cleave_bundle_value (model, step->operands[operand])->image.columns);
}

gboolean
cleave_bundle_is_read (const CleaveBundleModel *model, guint value)
{
  for (guint i = 0; i < model->graph->outputs->len; i++)
    if (model->outputs[i] == value)
      return TRUE;
  return model->first_reader[value + 1] > model->first_reader[value];
}
