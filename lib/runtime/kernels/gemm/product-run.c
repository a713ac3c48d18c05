/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs products of floats that product.c has planned, one panel of packed weights at a time. */

#include "direct.h"
#include "product-parts.h"

#include <math.h>
#include <string.h>

/* Sets n pixels of y to the bias. A pixel has m contiguous columns, each with its own bias. Pixels
 * are `step` elements apart. */
static void
fill (float *y, gint64 step, gint64 n, const float *bias, gint64 m)
{
  for (gint64 i = 0; i < n; i++, y += step)
    for (gint64 j = 0; j < m; j++)
      y[j] = bias[j];
}

static void
call (Kernel kernel,
      const Region *region,
      guint tap,
      guint n_taps,
      const float *x,
      const float *a,
      float *y)
{
  unsigned long long count = n_taps;

  kernel (a, x, y, &count, region->a_offset + tap, region->x_tap_offset + tap);
}

/* The arguments of all calls that compute one panel of one region. */
typedef struct
{
  const Region *region;
  gint64 m, lda;
  Method method;
  /* code of LIBXSMM; unused (and possibly NULL) if the method is not BY_LIBXSMM */
  const Kernel *kernels;
  const float *x, *a, *bias;
  float *y;
  const CleaveEpilogue *epilogue; /* epilogue ops to apply; NULL: none */
} Work;

/* Returns the epilogue ops if the n_taps taps from index `tap` on include the last tap. Otherwise
 * returns NULL, since the sums are incomplete. */
static const CleaveEpilogue *
epilogues_of (const Work *work, guint tap, guint n_taps)
{
  return tap + n_taps == work->region->n_taps ? work->epilogue : NULL;
}

static void
run_line (const Work *work, guint tap, guint n_taps, const float *x, float *y)
{
  const Region *region = work->region;
  const CleaveEpilogue *epilogue = epilogues_of (work, tap, n_taps);

  for (guint p = 0; p < region->n_pieces; p++)
    {
      const Piece *piece = &region->pieces[p];
      float *to = y + piece->y_offset;

      if (tap == 0 && work->bias != NULL)
        fill (to, region->y_line_step, piece->n, work->bias, work->m);
      call (work->kernels[2 * p + (tap != 0)], region, tap, n_taps, x + piece->x_offset, work->a,
            to);
      if (epilogue != NULL)
        cleave_direct_do_epilogue (epilogue, to, region->y_line_step, piece->n, work->m);
    }
}

static void
run_line_directly (const Work *work, guint tap, guint n_taps, const float *x, float *y)
{
  const Region *region = work->region;
  CleaveDirect direct = { .x = x,
                          .a = work->a,
                          .bias = tap == 0 ? work->bias : NULL,
                          .y = y,
                          .adds = tap != 0,
                          .n = region->n,
                          .x_step = region->x_step_in_line,
                          .y_step = region->y_step_in_line,
                          .m = work->m,
                          .lda = work->lda,
                          .k = region->k,
                          .n_taps = n_taps,
                          .a_offset = n_taps == 0 ? NULL : region->a_offset + tap,
                          .x_offset = n_taps == 0 ? NULL : region->x_tap_offset + tap,
                          .epilogue = epilogues_of (work, tap, n_taps) };

  cleave_direct_run (&direct);
}

/* Multiplies one tap of one pixel by the weights, and adds the products to the pixel's sums, column
 * by column. */
static void
add_elements (const Work *work, const float *x, const float *a, float *y)
{
  for (gint64 i = 0; i < work->region->k; i++, a += work->lda)
    for (gint64 j = 0; j < work->m; j++)
      y[j] = fmaf (x[i], a[j], y[j]);
}

static void
run_line_by_elements (const Work *work, guint tap, guint n_taps, const float *x, float *y)
{
  const Region *region = work->region;
  const CleaveEpilogue *epilogue = epilogues_of (work, tap, n_taps);
  gint64 x_step = region->x_step_in_line, y_step = region->y_step_in_line;

  for (gint64 i = 0; i < region->n; i++)
    {
      if (tap == 0 && work->bias != NULL)
        fill (y + i * y_step, y_step, 1, work->bias, work->m);
      else if (tap == 0)
        memset (y + i * y_step, 0, (gsize) work->m * sizeof *y);
      for (guint t = tap; t < tap + n_taps; t++)
        add_elements (work,
                      x + i * x_step + (gint64) region->x_tap_offset[t] / (gint64) sizeof (float),
                      work->a + region->a_offset[t] / sizeof (float), y + i * y_step);
    }
  if (epilogue != NULL)
    cleave_direct_do_epilogue (epilogue, y, y_step, region->n, work->m);
}

static void
run_lines (const Work *work, guint tap, guint n_taps)
{
  static void (*const run[]) (const Work *work, guint tap, guint n_taps, const float *x,
                              float *y) = {
    [BY_ELEMENTS] = run_line_by_elements, [BY_DIRECT] = run_line_directly, [BY_LIBXSMM] = run_line
  };
  const Region *region = work->region;

  for (gint64 i = 0; i < region->extent[0]; i++)
    for (gint64 j = 0; j < region->extent[1]; j++)
      {
        const float *x = work->x + i * region->x_step[0] + j * region->x_step[1];
        float *y = work->y + i * region->y_step[0] + j * region->y_step[1];

        run[work->method](work, tap, n_taps, x, y);
      }
}

/* Computes all pixels of a region for one panel. If the region has no taps, its result is the bias,
 * or 0 if there is no bias. */
static void
run_region (const Work *work)
{
  const Region *region = work->region;
  guint tap = 0;

  do
    {
      run_lines (work, tap, MIN (region->n_taps_per_call, region->n_taps - tap));
      tap += region->n_taps_per_call;
    }
  while (tap < region->n_taps);
}

static void
run_panel (const CleaveProduct *product, const Panel *panel, const Region *region, const Work *all)
{
  const CleaveColumns *columns = &panel->columns;
  Work work = *all;

  work.region = region;
  work.m = columns->m;
  work.method = region->method[panel->width];
  if (work.method == BY_LIBXSMM)
    work.kernels = region->kernels + 2 * panel->width * region->n_pieces;
  work.x += region->x_offset + columns->x_offset;
  work.a += columns->a_offset;
  if (work.bias != NULL)
    work.bias += columns->y_offset;
  work.y += region->y_offset + columns->y_offset;
  run_region (&work);
}

static void
run_band (const CleaveProduct *product, guint band, const Work *all)
{
  guint first = band == 0 ? 0 : g_array_index (product->bands, Band, band - 1).end_region;
  guint end = g_array_index (product->bands, Band, band).end_region;

  for (guint p = 0; p < product->panels->len; p++)
    for (guint z = first; z < end; z++)
      run_panel (product, &g_array_index (product->panels, Panel, p),
                 &g_array_index (product->regions, Region, z), all);
}

void
cleave_product_run_band (const CleaveProduct *product,
                         guint band,
                         const float *x,
                         const float *a,
                         const float *bias,
                         float *y)
{
  Work all = { .lda = product->lda, .x = x, .a = a, .bias = bias, .y = y };

  run_band (product, band, &all);
}

void
cleave_product_run (const CleaveProduct *product,
                    guint band,
                    const float *x,
                    const float *a,
                    const float *bias,
                    const CleaveKernelInstance *instance,
                    gint64 y_at)
{
  CleaveEpilogue epilogue = cleave_epilogue_of (instance);
  Work all = { .lda = product->lda,
               .x = x,
               .a = a,
               .bias = bias,
               .y = (float *) instance->results[0].data + y_at,
               .epilogue = epilogue.n == 0 ? NULL : &epilogue };

  const CleaveBand *part = cleave_product_get_band (product, band);

  run_band (product, band, &all);
  cleave_kernel_range_done (instance, y_at + part->y_begin, y_at + part->y_end);
}
