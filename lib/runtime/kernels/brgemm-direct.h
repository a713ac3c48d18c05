/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stages.h"

#define cleave_direct_run CLEAVE_LEVELLED (cleave_direct_run)
#define cleave_direct_do_stages CLEAVE_LEVELLED (cleave_direct_do_stages)

/* Pixels of a line times columns of a panel, as LIBXSMM would do them, in the same order, but with
 * the bias in registers from the start, any distance of pixels, and any number of columns: what is
 * faster where the sums are short or the columns few. */
typedef struct
{
  const float *x, *a, *bias; /* bias NULL: begins with 0, or with y */
  float *y;
  gboolean adds; /* to what is in y */
  gint64 n, x_step, y_step;
  gint64 m, lda, k;
  guint n_taps;
  const unsigned long long *a_offset, *x_offset; /* bytes */
  const CleaveStages *stages;                    /* of sums that are all there; or NULL */
} CleaveDirect;

/* Columns must be at least as many as a vector holds, or whole vectors be readable in `a`. */
void cleave_direct_run (const CleaveDirect *direct);
/* Stages of n pixels of y, m columns each, that are there. */
void
cleave_direct_do_stages (const CleaveStages *stages, float *y, gint64 y_step, gint64 n, gint64 m);
