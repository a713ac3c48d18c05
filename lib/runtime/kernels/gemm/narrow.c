/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans convolutions, transposed or not, with few result channels per group. A vector holds pixels
 * of a row, since vectors of channels would be mostly empty. narrow-sums.h defines phases and
 * jobs. */

#include "narrow-plan.h"

enum { X, W, B };

/* Limits on the transposed rows of a tile, which should stay in the caches while they are read.
 * TILE_FLOATS: preferred number of floats. MAX_TILE_FLOATS: largest number of floats. MIN_TILE:
 * smallest number of pixels of a tile. */
#define TILE_FLOATS 24576
#define MAX_TILE_FLOATS 131072
#define MIN_TILE 64
/* MIN_PIXELS: smallest number of pixels of a row of y; with fewer pixels, vectors are not full.
 * MAX_COLUMNS, MAX_COLUMNS_OF_ONE_TAP: largest number of result channels per group; with more
 * channels, vectors of channels are faster (measured). */
#define MIN_PIXELS 8
#define MAX_COLUMNS (CLEAVE_VECTOR / 2)
#define MAX_COLUMNS_OF_ONE_TAP 4

void
cleave_narrow_free (CleaveNarrow *narrow)
{
  if (narrow == NULL)
    return;
  g_array_unref (narrow->jobs);
  g_array_unref (narrow->taps);
  g_free (narrow);
}

gsize
cleave_narrow_n_scratch (const CleaveNarrow *narrow)
{
  gint64 n_channels = narrow->n_groups * narrow->n_in;

  return (gsize) (narrow->n_slots * narrow->n_phases * n_channels * narrow->line + CLEAVE_VECTOR) *
         sizeof (float);
}

gboolean
cleave_narrow_nests (const CleaveNarrow *narrow, gint64 *y_size)
{
  *y_size = narrow->rows.n_y * narrow->rows.y_step;
  return narrow->nests;
}

static gint64
divide_down (gint64 a, gint64 b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static void
add_tap (CleaveNarrow *n, gint64 phase, gint64 shift, gint64 a)
{
  gint64 n_x = MAX (n->columns.n_x - phase + n->n_phases - 1, 0) / n->n_phases;
  CleaveNarrowTap tap = {
    .phase = phase, .shift = shift, .a = a, .begin = -shift, .end = n_x - shift
  };

  g_array_append_val (n->taps, tap);
}

/* Adds jobs that compute `columns`. All these columns are in one panel and one group. The function
 * divides the columns among the jobs as evenly as possible. Each job gets the pixels and taps of
 * the job `like`. */
static void
add_jobs (CleaveNarrow *n, const CleaveNarrowJob *like, const GArray *columns)
{
  guint n_jobs = (columns->len + CLEAVE_NARROW_COLUMNS - 1) / CLEAVE_NARROW_COLUMNS;

  for (guint begin = 0; n_jobs > 0; n_jobs--)
    {
      CleaveNarrowJob job = *like;

      job.n_columns = (columns->len - begin + n_jobs - 1) / n_jobs;
      job.dense = TRUE;
      for (guint j = 0; j < job.n_columns; j++)
        {
          job.column[j] = g_array_index (columns, CleaveNarrowColumn, begin + j);
          job.dense = job.dense && job.column[j].y == job.column[0].y + j;
        }
      begin += job.n_columns;
      g_array_append_val (n->jobs, job);
    }
}

/* Returns a job for a row of y, without columns. The job of a convolution that is not transposed
 * computes all pixels of the row. The job of a transposed convolution computes one pixel out of
 * `stride` pixels, phase q. Pixel p of this job is pixel p * stride + q - pad of the row, with the
 * stride and the pad of the convolution. */
static CleaveNarrowJob
job_of_phase (const CleaveNarrow *n, gint64 q)
{
  const CleaveAxis *axis = &n->columns;

  if (!n->transposed)
    return (CleaveNarrowJob){ .end = axis->n_y, .y_step = axis->y_step };
  return (CleaveNarrowJob){ .begin = MAX (-divide_down (q - axis->pad, axis->stride), 0),
                            .end = divide_down (axis->n_y - 1 + axis->pad - q, axis->stride) + 1,
                            .y_step = axis->stride * axis->y_step };
}

static void
add_taps_of_phase (CleaveNarrow *n, gint64 q, gint64 a_tap)
{
  const CleaveAxis *axis = &n->columns;

  for (gint64 tap = 0; tap < axis->n_taps; tap++)
    {
      gint64 at = n->transposed ? q - tap * axis->dilation : tap * axis->dilation - axis->pad;
      gint64 shift = divide_down (at, axis->stride), phase = at - shift * axis->stride;

      if (!n->transposed || phase == 0)
        add_tap (n, phase, shift, tap * a_tap);
    }
}

/* Returns whether two jobs can be merged. The taps of both jobs must read the same elements of x.
 * The distance from the weights of job a to the weights of job b must be equal for all taps. */
static gboolean
can_merge (const CleaveNarrow *n, const CleaveNarrowJob *a, const CleaveNarrowJob *b)
{
  const CleaveNarrowTap *taps = (const CleaveNarrowTap *) (gpointer) n->taps->data;

  if (a->begin != b->begin || a->end != b->end || a->n_taps != b->n_taps)
    return FALSE;
  for (guint t = 0; t < a->n_taps; t++)
    {
      const CleaveNarrowTap *s = &taps[a->first_tap + t], *u = &taps[b->first_tap + t];

      if (s->shift != u->shift || s->phase != u->phase ||
          u->a - s->a != taps[b->first_tap].a - taps[a->first_tap].a)
        return FALSE;
    }
  return TRUE;
}

/* Appends all columns of group `group` to `columns`. `a`: offset of the group's weights, in floats.
 * `q`: in a transposed convolution, the phase of y (narrow-sums.h) to which the columns belong;
 * otherwise 0. */
static void
add_columns (const CleaveNarrow *n,
             const CleavePanels *panels,
             gint64 first,
             gint64 group,
             gint64 q,
             gint64 a,
             GArray *columns)
{
  gint64 panel_floats = panels->width * cleave_panels_n_rows (panels);
  gint64 begin = n->transposed ? 0 : group * n->n_out;
  gint64 y = n->transposed ? (q - n->columns.pad) * n->columns.y_step : 0;

  for (gint64 o = 0; o < n->n_out; o++)
    {
      gint64 at = first + begin + o;
      CleaveNarrowColumn column = { .a = a + at / panels->width * panel_floats + at % panels->width,
                                    .y = y + group * n->n_out + o,
                                    .bias = group * n->n_out + o };

      if (n->transposed)
        column.a += group * n->n_in * n->lda;
      g_array_append_val (columns, column);
    }
}

/* Plans all jobs. In a transposed convolution, the result pixels of a phase use the same taps. If
 * several phases read the same elements of x, their columns become columns of the same jobs. */
static void
plan_jobs (CleaveNarrow *n, const CleavePanels *panels, gint64 first)
{
  gint64 n_phases = n->transposed ? n->columns.stride : 1;
  gint64 a_tap = (n->transposed ? n->n_groups : 1) * n->n_in * n->lda;
  g_autofree CleaveNarrowJob *jobs = g_new (CleaveNarrowJob, (gsize) n_phases);

  n->a_row = n->columns.n_taps * a_tap;
  for (gint64 q = 0; q < n_phases; q++)
    {
      jobs[q] = job_of_phase (n, q);
      jobs[q].first_tap = n->taps->len;
      add_taps_of_phase (n, q, a_tap);
      jobs[q].n_taps = n->taps->len - jobs[q].first_tap;
    }
  for (gint64 group = 0; group < n->n_groups; group++)
    for (gint64 q = 0, end; q < n_phases; q = end)
      {
        g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (CleaveNarrowColumn));
        const CleaveNarrowTap *taps = (const CleaveNarrowTap *) (gpointer) n->taps->data;

        for (end = q; end < n_phases && can_merge (n, &jobs[q], &jobs[end]); end++)
          add_columns (
              n, panels, first, group, end,
              jobs[q].n_taps == 0 ? 0 : taps[jobs[end].first_tap].a - taps[jobs[q].first_tap].a,
              columns);
        jobs[q].channel = group * n->n_in;
        if (jobs[q].begin < jobs[q].end)
          add_jobs (n, &jobs[q], columns);
      }
}

/* Chooses the number of pixels of a tile, and the offsets at which taps read the transposed
 * channels of x. Returns FALSE if a tile would have more than MAX_TILE_FLOATS floats. The distance
 * of channels is an odd number of cache lines, so that channels use different sets of a cache. */
static gboolean
plan_tiles (CleaveNarrow *n)
{
  gint64 per_pixel = n->n_slots * n->n_phases * n->n_groups * n->n_in;
  gint64 least = 0, most = 0, tile, n_tiles;

  n->begin = n->columns.n_y;
  for (guint j = 0; j < n->jobs->len; j++)
    {
      n->begin = MIN (n->begin, g_array_index (n->jobs, CleaveNarrowJob, j).begin);
      n->end = MAX (n->end, g_array_index (n->jobs, CleaveNarrowJob, j).end);
    }
  for (guint t = 0; t < n->taps->len; t++)
    {
      least = MIN (least, g_array_index (n->taps, CleaveNarrowTap, t).shift);
      most = MAX (most, g_array_index (n->taps, CleaveNarrowTap, t).shift);
    }
  tile = MAX (TILE_FLOATS / per_pixel, MIN_TILE);
  n_tiles = MAX ((n->end - n->begin + tile - 1) / tile, 1);
  n->tile = ((n->end - n->begin + n_tiles - 1) / n_tiles + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR *
            CLEAVE_VECTOR;
  n->least_shift = least;
  n->spread = most - least;
  n->line = ((n->tile + n->spread + 15) / 16 | 1) * 16;
  for (guint t = 0; t < n->taps->len; t++)
    {
      CleaveNarrowTap *tap = &g_array_index (n->taps, CleaveNarrowTap, t);

      tap->x = tap->phase * n->n_groups * n->n_in * n->line + tap->shift - least;
    }
  return n->line <= MAX_TILE_FLOATS / per_pixel;
}

static CleaveNarrow *
plan (CleaveNarrow *n, const CleaveAxis axes[2], const CleavePanels *panels, gint64 first)
{
  gint64 reach = (axes[0].n_taps - 1) * axes[0].dilation + 1, n_y_channels = n->n_groups * n->n_out;
  gint64 least = n->transposed ? MIN_PIXELS * axes[1].stride : MIN_PIXELS;

  n->rows = axes[0];
  n->columns = axes[1];
  n->nests = cleave_axes_nest (axes, n_y_channels, 1, 0);
  n->lda = panels->width;
  n->n_phases = n->transposed ? 1 : axes[1].stride;
  n->n_slots = n->transposed ? (reach - 1) / axes[0].stride + 1 : reach;
  n->jobs = g_array_new (FALSE, FALSE, sizeof (CleaveNarrowJob));
  n->taps = g_array_new (FALSE, FALSE, sizeof (CleaveNarrowTap));
  if (axes[1].n_y < least || n->n_phases > MAX_PHASES || n->n_slots > MAX_SLOTS ||
      axes[0].n_taps > CLEAVE_NARROW_TAPS)
    {
      cleave_narrow_free (n);
      return NULL;
    }
  plan_jobs (n, panels, first);
  if (!plan_tiles (n))
    {
      cleave_narrow_free (n);
      return NULL;
    }
  return n;
}

/* Returns whether the narrow kernel serves a convolution. The dimensions of w from 2 on are the
 * taps. With one tap, transposing x takes as long as the sums, so the limit on the result channels
 * is smaller. */
static gboolean
is_narrow (const CleaveShape *w, CleaveDims dims, gint64 n_out)
{
  gint64 n_taps = 1;

  for (guint d = 2; d < w->rank; d++)
    n_taps *= w->dim[d];
  return dims.n_spatial <= 2 && n_out <= (n_taps == 1 ? MAX_COLUMNS_OF_ONE_TAP : MAX_COLUMNS);
}

CleaveNarrow *
cleave_narrow_of_conv (const CleaveKernelInstance *instance,
                       const CleavePanels *panels,
                       gint64 first)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveShape *w = &instance->operands[W].type.shape;
  CleaveDims dims = cleave_layout_dims (a->layout, w->rank);
  gint64 n_groups = MAX (a->group, 1), n_out = w->dim[0] / n_groups;
  CleaveAxis axes[2] = { { 0 } };
  CleaveNarrow *n;

  if (!is_narrow (w, dims, n_out))
    return NULL;
  cleave_axes_init (axes, &instance->operands[X], &instance->results[0], dims, w->dim + 2,
                    &a->strides, &a->dilations, &a->pads);
  n = g_new0 (CleaveNarrow, 1);
  n->n_groups = n_groups;
  n->n_in = w->dim[1];
  n->n_out = n_out;
  return plan (n, axes, panels, first);
}

CleaveNarrow *
cleave_narrow_of_conv_transpose (const CleaveKernelInstance *instance,
                                 const CleavePanels *panels,
                                 gint64 first)
{
  const CleaveConvTransposeAttrs *a = instance->call.attrs;
  const CleaveShape *w = &instance->operands[W].type.shape;
  CleaveDims dims = cleave_layout_dims (a->layout, w->rank);
  CleaveAxis axes[2] = { { 0 } };
  CleaveNarrow *n;

  if (!is_narrow (w, dims, w->dim[1]))
    return NULL;
  cleave_axes_init (axes, &instance->operands[X], &instance->results[0], dims, w->dim + 2,
                    &a->strides, &a->dilations, &a->pads);
  n = g_new0 (CleaveNarrow, 1);
  n->transposed = TRUE;
  n->n_groups = MAX (a->group, 1);
  n->n_in = w->dim[0] / n->n_groups;
  n->n_out = w->dim[1];
  return plan (n, axes, panels, first);
}
