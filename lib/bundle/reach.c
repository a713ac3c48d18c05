/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The rows and columns of operands that a step needs. */

#include "model.h"

static CleaveSpan
map_span (CleaveDimMap map, CleaveSpan span, gint64 extent)
{
  map.from = 0;
  span = cleave_dim_map_apply (&map, &span);
  span.begin = CLAMP (span.begin, 0, extent);
  span.end = CLAMP (span.end, span.begin, extent);
  return span;
}

CleaveSpan
cleave_bundle_step_rows (const CleaveBundleModel *model,
                         const CleaveBundleStep *step,
                         guint operand,
                         gint64 row)
{
  return map_span (step->rows[operand], (CleaveSpan){ row, row + 1 },
                   cleave_bundle_value (model, step->operands[operand])->image.rows);
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
