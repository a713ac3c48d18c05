/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packs the matrices W and R of recurrent layers into panels, and multiplies rows by them. */

#include "recurrent-walk.h"

gboolean
cleave_recurrent_plan_matrix (const CleaveKernelInstance *instance,
                              CleaveWeights *weights,
                              guint operand,
                              CleaveRecurrentMatrix *matrix)
{
  const CleaveView *view = &instance->operands[operand];
  const gint64 *dim = view->type.shape.dim;

  for (guint d = 0; d < 3; d++)
    if (view->stride[d] < 0)
      return FALSE;
  matrix->k = dim[2];
  matrix->panels = (CleavePanels){ .element = view->type.element,
                                   .n_columns = dim[1],
                                   .column_stride = view->stride[1],
                                   .extent = { 1, 1, dim[0], dim[2] },
                                   .stride = { 0, 0, view->stride[0], view->stride[2] },
                                   .width = cleave_panels_width (dim[1]) };
  if (instance->constants[operand] != NULL)
    matrix->packed = cleave_panels_of_constant (weights, instance->constants[operand], 1,
                                                &matrix->panels, &matrix->first);
  return TRUE;
}

gsize
cleave_recurrent_round_up (gsize n_bytes)
{
  return (n_bytes + 63) / 64 * 64;
}

gsize
cleave_recurrent_bytes_of_matrix (const CleaveRecurrentMatrix *matrix)
{
  if (matrix->packed != NULL || matrix->panels.width == 0)
    return 0;
  return cleave_recurrent_round_up (cleave_panels_n_bytes (&matrix->panels));
}

const float *
cleave_recurrent_pack_matrix (const CleaveRecurrentMatrix *matrix,
                              const CleaveView *view,
                              char **scratch)
{
  float *to = (float *) (gpointer) *scratch;

  if (matrix->packed != NULL)
    return matrix->packed;
  cleave_panels_pack (&matrix->panels, view->data, to);
  *scratch += cleave_recurrent_bytes_of_matrix (matrix);
  return to;
}

void
cleave_recurrent_multiply (const CleaveRecurrentMatrix *matrix,
                           const float *a,
                           gint64 direction,
                           gint64 begin,
                           gint64 end,
                           CleaveDirect *d,
                           gboolean is_reversed)
{
  static const unsigned long long zero = 0;
  gint64 width = matrix->panels.width, n_rows = cleave_panels_n_rows (&matrix->panels);
  gint64 first = (matrix->first + begin) / width, last = (matrix->first + end - 1) / width;
  float *y = d->y;
  const float *bias = d->bias;

  d->lda = width;
  d->k = matrix->k;
  d->n_taps = 1;
  d->a_offset = d->x_offset = &zero;
  for (gint64 i = first; i <= last; i++)
    {
      gint64 panel = is_reversed ? first + last - i : i;
      gint64 from = MAX (panel * width - matrix->first, begin);
      gint64 to = MIN ((panel + 1) * width - matrix->first, end);

      d->m = to - from;
      d->a = a + panel * width * n_rows + direction * matrix->k * width +
             (matrix->first + from) % width;
      d->y = y + from - begin;
      d->bias = bias == NULL ? NULL : bias + from - begin;
      cleave_direct_run (d);
    }
}
