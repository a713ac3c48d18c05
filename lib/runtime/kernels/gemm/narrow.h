/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#define cleave_narrow_of_conv CLEAVE_LEVELLED (cleave_narrow_of_conv)
#define cleave_narrow_of_conv_transpose CLEAVE_LEVELLED (cleave_narrow_of_conv_transpose)
#define cleave_narrow_free CLEAVE_LEVELLED (cleave_narrow_free)
#define cleave_narrow_n_scratch CLEAVE_LEVELLED (cleave_narrow_n_scratch)
#define cleave_narrow_nests CLEAVE_LEVELLED (cleave_narrow_nests)
#define cleave_narrow_run CLEAVE_LEVELLED (cleave_narrow_run)

/* Convolutions, transposed or not, that make few channels from each group, so that vectors over
 * channels would be mostly empty: vectors run over the pixels of a row instead.  Rows of x are
 * transposed as they are needed, channel by channel; the order of each sum is that of the other
 * kernels. */
typedef struct _CleaveNarrow CleaveNarrow;

/* `panels` has the weights, from the packed column `first` on.  NULL: it is not for these. */
CleaveNarrow *cleave_narrow_of_conv (const CleaveKernelInstance *instance,
                                     const CleavePanels *panels,
                                     gint64 first);
CleaveNarrow *cleave_narrow_of_conv_transpose (const CleaveKernelInstance *instance,
                                               const CleavePanels *panels,
                                               gint64 first);
void cleave_narrow_free (CleaveNarrow *narrow);
/* Bytes. */
gsize cleave_narrow_n_scratch (const CleaveNarrow *narrow);
/* Whether memory has the rows of y one after the other; `y_size`: up to the next image. */
gboolean cleave_narrow_nests (const CleaveNarrow *narrow, gint64 *y_size);
/* One image; its part of the first result begins at y_at. */
void cleave_narrow_run (const CleaveNarrow *narrow,
                        const float *x,
                        const float *a,
                        const float *bias,
                        const CleaveKernelInstance *instance,
                        gint64 y_at,
                        float *scratch);
