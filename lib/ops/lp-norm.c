/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LpNormalization, opset 1: each element divided by the norm of its line along the axis, which is
 * whole; every other dimension splits at will.  Where the norm is 0, so is the result, as in ONNX
 * Runtime.
 *
 * Order: the sum of magnitudes or of squares in 8 parts (axes.h), in double; each element of the
 * result is rounded once. */

#include <math.h>

#include "../ir/op.h"
#include "axes.h"
#include "elementwise-math.h"
#include "lines.h"

enum { X };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveLpNormAttrs *a = call->attrs;
  guint floats = CLEAVE_ELEMENTS_FLOAT & ~CLEAVE_ELEMENT_BIT (CLEAVE_BFLOAT16);

  if (!cleave_call_check_element (call, X, floats, error) ||
      !cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (a->p > 2)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "p must be 1 or 2, not %" G_GINT64_FORMAT,
                        a->p);
  return cleave_infer_same (call, results, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveLpNormAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_whole (call->operands[X].shape.dim[a->axis]);
}

/* One line along the axis. */
typedef struct
{
  const CleaveView *x, *y;
  gint64 from, to; /* where it begins */
  gint64 x_step, y_step;
  gint64 n;
} Line;

CLEAVE_LANES_FOLD (fold_add, double, cleave_f64_add)

static const double *
read_block (const Line *line, gint64 at, gint64 n, CleaveLineBuffer *buffer)
{
  return cleave_line_read (line->x, line->from + at * line->x_step, line->x_step, n,
                           CLEAVE_WIDE_F64, buffer);
}

static double
norm_of (const Line *line, gint64 p)
{
  double lane[CLEAVE_N_LANES] = { 0 }, terms[CLEAVE_LINE], sum;
  CleaveLineBuffer buffer;

  for (gint64 at = 0; at < line->n; at += CLEAVE_LINE)
    {
      gint64 n = MIN (line->n - at, CLEAVE_LINE);
      const double *x = read_block (line, at, n, &buffer);

      for (gint64 i = 0; i < n; i++)
        terms[i] = p == 1 ? fabs (x[i]) : x[i] * x[i];
      fold_add (lane, terms, at, n);
    }
  sum = CLEAVE_LANES_JOIN (lane, cleave_f64_add);
  return p == 1 ? sum : sqrt (sum);
}

static void
divide (const Line *line, double norm)
{
  CleaveLineBuffer buffer;
  double y[CLEAVE_LINE];

  for (gint64 at = 0; at < line->n; at += CLEAVE_LINE)
    {
      gint64 n = MIN (line->n - at, CLEAVE_LINE);
      const double *x = read_block (line, at, n, &buffer);

      for (gint64 i = 0; i < n; i++)
        y[i] = norm == 0 ? 0 : x[i] / norm;
      cleave_line_write (line->y, line->to + at * line->y_step, line->y_step, n, CLEAVE_WIDE_F64,
                         y);
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveLpNormAttrs *a = call->attrs;
  const CleaveView *views[] = { &results[0], &operands[X] };
  Line line = { .x = views[1],
                .y = views[0],
                .x_step = views[1]->stride[a->axis],
                .y_step = views[0]->stride[a->axis],
                .n = views[1]->type.shape.dim[a->axis] };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        line.to = lines.offset[0] + i * lines.step[0];
        line.from = lines.offset[1] + i * lines.step[1];
        divide (&line, norm_of (&line, a->p));
      }
}

static const CleaveAttr attr_table[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveLpNormAttrs, axis), .fallback = -1,
    .flags = CLEAVE_ATTR_AXIS },
  { "p", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveLpNormAttrs, p), .fallback = 2, CLEAVE_AT_LEAST (1) },
  { 0 },
};

const CleaveOp cleave_op_lp_normalization = {
  .name = "LpNormalization",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveLpNormAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .compute = compute,
};
