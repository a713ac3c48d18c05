/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the attributes of windows, and counts windows. */

#include "window.h"

void
cleave_windows_init (CleaveWindow *windows,
                     guint n,
                     const gint64 *extents,
                     const gint64 *kernel,
                     const CleaveInts *strides,
                     const CleaveInts *dilations,
                     const CleaveInts *pads)
{
  for (guint i = 0; i < n; i++)
    windows[i] = (CleaveWindow){ .extent = extents[i],
                                 .kernel = kernel[i],
                                 .stride = cleave_ints_at (strides, i, 1),
                                 .dilation = cleave_ints_at (dilations, i, 1),
                                 .pad_begin = cleave_ints_at (pads, i, 0),
                                 .pad_end = cleave_ints_at (pads, n + i, 0) };
}

gboolean
cleave_window_check_list (const CleaveInts *list, guint n, const char *name, GError **error)
{
  if (list->n != 0 && list->n != n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u entries, but must have %u", name,
                        list->n, n);
  for (guint i = 0; i < list->n; i++)
    if (list->v[i] > CLEAVE_WINDOW_MAX)
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "%s has %" G_GINT64_FORMAT ", more than %d", name, list->v[i],
                          CLEAVE_WINDOW_MAX);
  return TRUE;
}

gboolean
cleave_window_check_lists (const CleaveInts *strides,
                           const CleaveInts *dilations,
                           const CleaveInts *pads,
                           guint n,
                           GError **error)
{
  return cleave_window_check_list (strides, n, "strides", error) &&
         cleave_window_check_list (dilations, n, "dilations", error) &&
         cleave_window_check_list (pads, 2 * n, "pads", error);
}

/* Sets `count` to the number of windows along spatial dimension `i`. With ceil_mode, the last
 * window may extend beyond the padding. As in PyTorch and ONNX Runtime, the last window must begin
 * before the end of the data. */
gboolean
cleave_window_count (
    const CleaveWindow *w, guint i, gboolean ceil_mode, gint64 *count, GError **error)
{
  gint64 padded, room;

  if (w->kernel < 1 || w->kernel > CLEAVE_WINDOW_MAX)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the kernel has extent %" G_GINT64_FORMAT " in spatial dimension %u",
                        w->kernel, i);
  if (w->extent > G_MAXINT64 / 2)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "spatial dimension %u is too long", i);
  padded = w->extent + w->pad_begin + w->pad_end;
  room = padded - cleave_window_reach (w) + (ceil_mode ? w->stride - 1 : 0);
  if (room < 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the window reaches over %" G_GINT64_FORMAT
                        " elements of spatial dimension %u, "
                        "which has %" G_GINT64_FORMAT " with its padding",
                        cleave_window_reach (w), i, padded);
  *count = room / w->stride + 1;
  if (ceil_mode && *count > 1 && (*count - 1) * w->stride >= w->extent + w->pad_begin)
    *count -= 1;
  return TRUE;
}

void
cleave_pads_from_slice (CleaveInts *pads, guint n, const CleaveSlice *slice, guint h)
{
  *pads = (CleaveInts){ .n = 2 * n };
  for (guint i = 0; i < n; i++)
    {
      pads->v[i] = slice->clip_begin[h + i];
      pads->v[n + i] = slice->clip_end[h + i];
    }
}
