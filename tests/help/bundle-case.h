/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes a bundle of one random node, with inputs and the result of the op's reference code. */

#include "../../lib/bundle/model.h"
#include "random-ops.h"

/* A graph of one node, and the values of its inputs and its result. */
typedef struct
{
  CleaveBundleModel *model;
  const char *op;
  guint seed;
  guint first; /* index of the kernel of the bundle's first step in the table `test_kernels` of
                * bundle/kernels.c */
  GPtrArray *inputs;
  CleaveTensor *result;
} CleaveBundleCase;

/* Makes a case of a random node. Returns NULL if a bundle cannot compute the node. */
CleaveBundleCase *cleave_bundle_case_new (const CleaveRandomOp *maker, guint seed);
void cleave_bundle_case_free (gpointer data);
/* If `to_memory`, copies an image from the dense tensor to the memory of a bundle. If not, copies
 * the image back. In the memory of a bundle, channels are innermost. */
void cleave_bundle_case_copy_image (const CleaveResult *result,
                                    char *dense,
                                    char *memory,
                                    gboolean to_memory);
