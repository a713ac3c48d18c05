/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The reference kernel of LpPool: computes a line of results at once. */

#include "pool.h"

#include "norms.h"

/* The state of an LpPool. A line is a list of results along the innermost spatial dimension or, if
 * channels are contiguous, along the channels. For each tap, the kernel adds the tap's term to all
 * sums of a line. */
typedef struct
{
  const CleaveView *x, *y;
  const CleaveWindow *windows;
  CleaveDims dims;
  CleaveShape taps;
  guint line; /* index of the dimension along which lines run */
  gint64 p;
} Job;

/* The elements of x that a tap reads for the results [begin, end) of a line. The tap reads element
 * `offset` of x for the first of these results, and an element `step` elements further for each
 * next result. */
typedef struct
{
  gint64 offset, step, begin, end;
} Reads;

/* Sets `begin` and `end` of `reads` to the results for which a tap reads data instead of padding.
 * `tap` is the tap's index along the line; the line consists of n results from result `first` on.
 * Advances `offset` to the element that the tap reads for result `begin`. Sets `step` to the
 * distance of the elements that the tap reads for adjacent results. */
static void
clip_to_data (
    const CleaveWindow *w, gint64 tap, gint64 first, gint64 n, gint64 stride, Reads *reads)
{
  gint64 before = w->pad_begin - tap * w->dilation, last = w->extent - 1 + before;
  gint64 begin = before <= 0 ? 0 : (before + w->stride - 1) / w->stride;
  gint64 end = last < 0 ? 0 : last / w->stride + 1;

  reads->begin = MAX (begin - first, 0);
  reads->end = MIN (end - first, n);
  reads->offset += ((first + reads->begin) * w->stride - before) * stride;
  reads->step = w->stride * stride;
}

/* Sets `reads` to the elements that a tap reads for a line of results. Returns FALSE if the tap
 * reads only padding. */
static gboolean
find_reads (
    const Job *job, const gint64 *at, const gint64 *tap, gint64 first, gint64 n, Reads *reads)
{
  const gint64 *stride = job->x->stride;
  guint c = job->dims.c;

  *reads = (Reads){ at[job->dims.n] * stride[job->dims.n] + at[c] * stride[c], stride[c], 0, n };
  if (job->line == c)
    reads->offset += first * stride[c];
  for (guint i = 0; i < job->dims.n_spatial; i++)
    {
      const CleaveWindow *w = &job->windows[i];
      guint d = job->dims.h + i;
      gint64 from = at[d] * w->stride - w->pad_begin + tap[i] * w->dilation;

      if (d == job->line)
        clip_to_data (w, tap[i], first, n, stride[d], reads);
      else if (from < 0 || from >= w->extent)
        return FALSE;
      else
        reads->offset += from * stride[d];
    }
  return reads->begin < reads->end;
}

static void
make_line (const Job *job, const gint64 *at, gint64 first, gint64 n)
{
  double sums[CLEAVE_LINE] = { 0 }, terms[CLEAVE_LINE];
  gint64 tap[CLEAVE_MAX_RANK];
  CleaveLineBuffer buffer;
  Reads reads;

  CLEAVE_EACH_INDEX (tap, &job->taps)
    if (find_reads (job, at, tap, first, n, &reads))
      {
        gint64 count = reads.end - reads.begin;
        double *sum = sums + reads.begin;

        cleave_norm_terms (
            cleave_line_read (job->x, reads.offset, reads.step, count, CLEAVE_WIDE_F64, &buffer),
            count, job->p, terms);
        for (gint64 i = 0; i < count; i++)
          sum[i] += terms[i];
      }
  for (gint64 i = 0; i < n; i++)
    sums[i] = cleave_norm_root (sums[i], job->p);
  cleave_line_write (job->y, cleave_view_offset (job->y, at) + first * job->y->stride[job->line],
                     job->y->stride[job->line], n, CLEAVE_WIDE_F64, sums);
}

void
cleave_pool_lp (const CleaveCall *call,
                const CleaveWindow *windows,
                const CleaveView *x,
                const CleaveView *y)
{
  const CleavePoolAttrs *a = call->attrs;
  Job job = { .x = x, .y = y, .windows = windows, .dims = cleave_call_dims (call), .p = a->p };
  guint inner = job.dims.h + job.dims.n_spatial - 1;
  CleaveShape lines = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK], n;

  job.taps.rank = job.dims.n_spatial;
  for (guint i = 0; i < job.dims.n_spatial; i++)
    job.taps.dim[i] = windows[i].kernel;
  job.line = ABS (x->stride[job.dims.c]) < ABS (x->stride[inner]) ? job.dims.c : inner;
  n = lines.dim[job.line];
  lines.dim[job.line] = 1;
  CLEAVE_EACH_INDEX (at, &lines)
    for (gint64 i = 0; i < n; i += CLEAVE_LINE)
      make_line (&job, at, i, MIN (n - i, CLEAVE_LINE));
}
