/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Iterates over the runs of contiguous bytes of a message's value in memory (CleaveMessagePlace),
 * and copies a message from one CleaveMessagePlace to another (copy-runs.h). */

#include "copy-runs.h"

#include <string.h>

void
cleave_runs_init (CleaveRuns *runs, const CleaveMessagePlace *place)
{
  *runs = (CleaveRuns){ .place = place, .data = place->data, .left = place->run_bytes };
  for (guint i = 0; i < place->n_loops; i++)
    if (place->counts[i] == 0)
      runs->left = 0;
}

static void
go_on (CleaveRuns *runs)
{
  const CleaveMessagePlace *place = runs->place;

  runs->data -= place->run_bytes;
  for (guint i = 0; i < place->n_loops; i++)
    {
      runs->data += place->strides[i];
      if (++runs->index[i] < place->counts[i])
        {
          runs->left = place->run_bytes;
          return;
        }
      runs->data -= place->strides[i] * place->counts[i];
      runs->index[i] = 0;
    }
}

void
cleave_runs_skip (CleaveRuns *runs, gint64 n_bytes)
{
  runs->data += n_bytes;
  runs->left -= n_bytes;
  if (runs->left == 0)
    go_on (runs);
}

gint64
cleave_runs_copy (const CleaveMessagePlace *from, const CleaveMessagePlace *to)
{
  CleaveRuns source, target;
  gint64 n_bytes = 0;

  cleave_runs_init (&source, from);
  cleave_runs_init (&target, to);
  while (source.left > 0 && target.left > 0)
    {
      gint64 n = MIN (source.left, target.left);

      memcpy (target.data, source.data, (gsize) n);
      cleave_runs_skip (&source, n);
      cleave_runs_skip (&target, n);
      n_bytes += n;
    }
  return n_bytes;
}

gint64
cleave_runs_get_span (const CleaveMessagePlace *place)
{
  gint64 n_bytes = place->run_bytes;

  for (guint i = 0; i < place->n_loops; i++)
    n_bytes += MAX (place->counts[i] - 1, 0) * place->strides[i];
  return n_bytes;
}
