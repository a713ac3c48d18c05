/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#define cleave_narrow_of_conv CLEAVE_LEVELLED (cleave_narrow_of_conv)
#define cleave_narrow_of_conv_transpose CLEAVE_LEVELLED (cleave_narrow_of_conv_transpose)
#define cleave_narrow_free CLEAVE_LEVELLED (cleave_narrow_free)
#define cleave_narrow_n_scratch CLEAVE_LEVELLED (cleave_narrow_n_scratch)
#define cleave_narrow_nests CLEAVE_LEVELLED (cleave_narrow_nests)
#define cleave_narrow_run CLEAVE_LEVELLED (cleave_narrow_run)

/* The narrow kernel computes a convolution, transposed or not, with so few result channels per
 * group that vectors of channels would be mostly empty. Vectors hold pixels of a row instead.
 * families.c runs the narrow kernel in place of a product (gemm.h), with the same order of sums. A
 * run transposes rows of x right before the first row of y that reads them. Example: a convolution
 * from 64 to 3 channels, whose vectors of channels would use 3 of 8 lanes. */
typedef struct _CleaveNarrow CleaveNarrow;

/* Plans the convolution of an instance. Its weights are columns of the packed matrix that `panels`
 * describes, from column `first` on. Returns NULL if the narrow kernel does not serve the
 * instance. */
CleaveNarrow *cleave_narrow_of_conv (const CleaveKernelInstance *instance,
                                     const CleavePanels *panels,
                                     gint64 first);
CleaveNarrow *cleave_narrow_of_conv_transpose (const CleaveKernelInstance *instance,
                                               const CleavePanels *panels,
                                               gint64 first);
void cleave_narrow_free (CleaveNarrow *narrow);
/* Returns the bytes of scratch that a run needs. */
gsize cleave_narrow_n_scratch (const CleaveNarrow *narrow);
/* Returns whether the rows of y follow each other in memory. Sets `y_size` to the distance of
 * adjacent images, in elements. */
gboolean cleave_narrow_nests (const CleaveNarrow *narrow, gint64 *y_size);
/* Computes one image, whose result begins at element `y_at` of result 0. */
void cleave_narrow_run (const CleaveNarrow *narrow,
                        const float *x,
                        const float *a,
                        const float *bias,
                        const CleaveKernelInstance *instance,
                        gint64 y_at,
                        float *scratch);
