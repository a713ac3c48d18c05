/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LpNormalization, opset 1: each element divided by the norm of its line along the axis. If the
 * norm is 0, the result is 0, as in ONNX Runtime. All dimensions but the axis can be split.
 *
 * Order of operations: the norm is computed as norms.h describes. float64 is divided by the norm.
 * Shorter floats are multiplied by 1 / norm in double, which cannot overflow, and rounded. */

#include "../ir/op.h"
#include "norms.h"

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

/* Sets y[i] to x[i] / norms[i] or, if `step` is 0, to x[i] / norms[0], for n elements. The result
 * is 0 if the norm is 0. */
static void
divide (const double *x, const double *norms, gint64 step, gint64 n, double *y)
{
  if (step == 0)
    for (gint64 i = 0; i < n; i++)
      y[i] = norms[0] == 0 ? 0 : x[i] / norms[0];
  else
    for (gint64 i = 0; i < n; i++)
      y[i] = norms[i] == 0 ? 0 : x[i] / norms[i];
}

static void
scale (const double *x, const double *factors, gint64 step, gint64 n, double *y)
{
  if (step == 0)
    for (gint64 i = 0; i < n; i++)
      y[i] = x[i] * factors[0];
  else
    for (gint64 i = 0; i < n; i++)
      y[i] = x[i] * factors[i];
}

/* Writes the results of a line of n elements. Divides float64 elements by a norm, and multiplies
 * elements of all other types by a factor. Element i has the norm or factor by[i * by_step];
 * `by_step` is 1, or 0 if all elements have the same norm or factor. */
static void
write_line (const CleaveView *const *views,
            const gint64 *offset,
            const gint64 *step,
            gint64 n,
            const double *by,
            gint64 by_step)
{
  CleaveLineBuffer in, out;

  for (gint64 at = 0; at < n; at += CLEAVE_LINE)
    {
      gint64 count = MIN (n - at, CLEAVE_LINE), to = offset[0] + at * step[0];
      const double *x = cleave_line_read (views[1], offset[1] + at * step[1], step[1], count,
                                          CLEAVE_WIDE_F64, &in);
      double *y = cleave_line_begin (views[0], to, step[0], CLEAVE_WIDE_F64, &out);

      (views[0]->type.element == CLEAVE_FLOAT64 ? divide : scale) (x, by + at * by_step, by_step,
                                                                   count, y);
      cleave_line_write (views[0], to, step[0], count, CLEAVE_WIDE_F64, y);
    }
}

/* Normalizes n lines along the axis, at most CLEAVE_LINE. The first line begins at `offset`, each
 * further line `across` elements after the line before it. */
static void
normalize (const CleaveLpNormAttrs *a,
           const CleaveView *const *views,
           const gint64 *offset,
           const gint64 *across,
           gint64 n)
{
  gint64 axis[] = { views[0]->stride[a->axis], views[1]->stride[a->axis] };
  gint64 length = views[1]->type.shape.dim[a->axis];
  double norms[CLEAVE_LINE];
  CleaveLines elements;

  cleave_lines_init_dims (&elements, &views[1], 1, 1u << a->axis);
  cleave_norms (views[1], offset[1], across[1], n, &elements, a->p, norms);
  if (views[0]->type.element != CLEAVE_FLOAT64)
    for (gint64 i = 0; i < n; i++)
      norms[i] = norms[i] == 0 ? 0 : 1 / norms[i];
  if (ABS (across[0]) < ABS (axis[0]))
    for (gint64 i = 0; i < length; i++)
      write_line (views, (gint64[]){ offset[0] + i * axis[0], offset[1] + i * axis[1] }, across, n,
                  norms, 1);
  else
    for (gint64 i = 0; i < n; i++)
      write_line (views, (gint64[]){ offset[0] + i * across[0], offset[1] + i * across[1] }, axis,
                  length, &norms[i], 0);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveLpNormAttrs *a = call->attrs;
  const CleaveView *views[] = { &results[0], &operands[X] };
  CleaveLines lines;

  if (operands[X].type.shape.dim[a->axis] == 0)
    return;
  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i += CLEAVE_LINE)
      {
        gint64 offset[] = { lines.offset[0] + i * lines.step[0],
                            lines.offset[1] + i * lines.step[1] };

        normalize (a, views, offset, lines.step, MIN (lines.length - i, CLEAVE_LINE));
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
