/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GridSample, in 1 to 6 spatial dimensions: each element of the result is interpolated at a
 * position of X that the grid gives. N, C, and the spatial dimensions of the grid can be split; a
 * piece reads all spatial dimensions of X.
 *
 * Order of the sum: taps in row-major order. The weight of a tap is the product of its weights
 * along the dimensions, in double. Each weight, product and sum is rounded to float32, or to
 * float64 for float64 elements. */

#include "build.h"
#include "grid-taps.h"
#include "reference.h"

enum { X, GRID };

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveGridSampleAttrs, mode),
    .names = (const char *const[]){ "bilinear", "nearest", "bicubic", NULL } },
  { "padding_mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveGridSampleAttrs, padding_mode),
    .names = (const char *const[]){ "zeros", "border", "reflection", NULL } },
  { "align_corners", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveGridSampleAttrs, align_corners) },
  { 0 },
};

static gboolean
check_grid (const CleaveCall *call, GError **error)
{
  const CleaveShape *x = &call->operands[X].shape, *grid = &call->operands[GRID].shape;
  gint64 n = x->rank - 2, last = grid->dim[x->rank - 1];

  if (grid->dim[0] == x->dim[0] && last == n)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                      "grid must be %" G_GINT64_FORMAT "x…x%" G_GINT64_FORMAT
                      ", not %" G_GINT64_FORMAT "x…x%" G_GINT64_FORMAT,
                      x->dim[0], n, grid->dim[0], last);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveGridSampleAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *grid = &call->operands[GRID].shape;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_element (call, GRID, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_rank (call, GRID, x->rank, x->rank, error) || !check_grid (call, error))
    return FALSE;
  if (a->mode == CLEAVE_GRID_BICUBIC && x->rank != 4)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "mode bicubic needs 2 spatial dimensions, not %u", x->rank - 2);
  for (guint d = 2; d < x->rank; d++)
    if (x->dim[d] == 0)
      return cleave_fail (error, CLEAVE_ERROR_SHAPE, "dimension %u of X is empty", d);
  results[0] = call->operands[X];
  for (guint d = 2; d < x->rank; d++)
    results[0].shape.dim[d] = grid->dim[d - 1];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;

  map[0] = cleave_dim_map_same (0);
  for (guint d = 1; d < own->rank; d++)
    map[d] = operand == GRID && d + 1 < own->rank ? cleave_dim_map_same (d + 1)
             : operand == X && d == 1             ? cleave_dim_map_same (1)
                                                  : cleave_dim_map_whole (own->dim[d]);
}

static double
work (const CleaveCall *call)
{
  const CleaveGridSampleAttrs *a = call->attrs;
  double taps =
      a->mode == CLEAVE_GRID_BICUBIC ? 16 : ldexp (1, (int) call->operands[X].shape.rank - 2);

  return taps * (double) cleave_shape_n_elements (&call->results[0].shape);
}

/* Rounds a number to the type in which sums are computed: float64 for float64, else float32. */
static double
narrowed (const CleaveView *x, double value)
{
  return x->type.element == CLEAVE_FLOAT64 ? value : (double) (float) value;
}

/* Returns the interpolated value of a channel, given the taps along each of the n spatial
 * dimensions. */
static double
sample (const CleaveView *x, gint64 channel, const CleaveGridTaps *taps, guint n)
{
  CleaveShape counts = { .rank = n };
  gint64 tap[CLEAVE_MAX_RANK];
  double sum = 0;

  for (guint d = 0; d < n; d++)
    counts.dim[d] = taps[d].n;
  CLEAVE_EACH_INDEX (tap, &counts)
    {
      gint64 offset = channel;
      gboolean is_inside = TRUE;
      double weight = 1;

      for (guint d = 0; d < n; d++)
        {
          gint64 at = taps[d].at[tap[d]];

          is_inside = is_inside && cleave_grid_is_inside (at, x->type.shape.dim[2 + d]);
          offset += at * x->stride[2 + d];
          weight *= taps[d].weight[tap[d]];
        }
      if (is_inside)
        sum = narrowed (x,
                        sum + narrowed (x, narrowed (x, weight) *
                                               cleave_real_load (x->type.element,
                                                                 cleave_view_element (x, offset))));
    }
  return sum;
}

/* Finds the taps along each dimension for one position of the grid. The grid stores the coordinate
 * of the last dimension of X first. */
static void
find_taps (const CleaveCall *call,
           const CleaveView *x,
           const CleaveView *grid,
           gint64 place,
           CleaveGridTaps *taps)
{
  guint n = x->type.shape.rank - 2;

  for (guint d = 0; d < n; d++)
    cleave_grid_taps (
        call->attrs,
        cleave_real_load (grid->type.element,
                          cleave_view_element (grid, place + (n - 1 - d) * grid->stride[n + 1])),
        x->type.shape.dim[2 + d], &taps[d]);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *grid = &operands[GRID], *y = &results[0];
  guint n = x->type.shape.rank - 2;
  CleaveShape places = grid->type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  places.rank--;
  CLEAVE_EACH_INDEX (at, &places)
    {
      gint64 to = at[0] * y->stride[0] + cleave_index_offset (n, at + 1, y->stride + 2);
      CleaveGridTaps taps[CLEAVE_MAX_RANK];

      find_taps (call, x, grid, cleave_index_offset (n + 1, at, grid->stride), taps);
      for (gint64 c = 0; c < y->type.shape.dim[1]; c++)
        cleave_real_store (y->type.element, cleave_view_element (y, to + c * y->stride[1]),
                           sample (x, at[0] * x->stride[0] + c * x->stride[1], taps, n));
    }
}

/* Returns 0 if X has rank 4, which every opset of GridSample allows. Returns 20 for other ranks,
 * which opset 20 is the first to allow. */
static guint
since (const CleaveCall *call)
{
  return call->operands[X].shape.rank == 4 ? 0 : 20;
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].shape.rank == 4
             ? cleave_kernel_of_floats (call, CLEAVE_KERNEL_GRID_SAMPLE)
             : CLEAVE_KERNEL_REFERENCE;
}

const CleaveOp cleave_op_grid_sample = {
  .name = "GridSample",
  .operands = (const char *const[]){ "X", "grid", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveGridSampleAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = work,
  .layout = cleave_call_letters,
  .kernel = kernel,
  .compute = compute,
  .since = since,
};
