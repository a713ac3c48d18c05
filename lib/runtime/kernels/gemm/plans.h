/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "blockwise.h"
#include "gemm.h"
#include "narrow.h"

#define cleave_brgemm_plan_conv CLEAVE_LEVELLED (cleave_brgemm_plan_conv)
#define cleave_brgemm_plan_conv_transpose CLEAVE_LEVELLED (cleave_brgemm_plan_conv_transpose)
#define cleave_brgemm_plan_matmul CLEAVE_LEVELLED (cleave_brgemm_plan_matmul)
#define cleave_brgemm_plan_gemm CLEAVE_LEVELLED (cleave_brgemm_plan_gemm)
#define cleave_brgemm_conv_product CLEAVE_LEVELLED (cleave_brgemm_conv_product)
#define cleave_brgemm_conv_panels CLEAVE_LEVELLED (cleave_brgemm_conv_panels)
#define cleave_brgemm_can_serve_conv CLEAVE_LEVELLED (cleave_brgemm_can_serve_conv)
#define cleave_brgemm_set_images CLEAVE_LEVELLED (cleave_brgemm_set_images)
#define cleave_brgemm_nests CLEAVE_LEVELLED (cleave_brgemm_nests)
#define cleave_brgemm_add_columns CLEAVE_LEVELLED (cleave_brgemm_add_columns)

/* Rows of x whose elements do not lie side by side: each run packs those of a band. */
typedef struct
{
  gint64 n, n_per_band, k;
  gint64 row_step, column_step;
} CleavePackedRows;

/* A kernel instance as a product that is run for each index of some batch dimensions. */
typedef struct
{
  CleaveProduct *product;
  CleaveNarrow *narrow;                     /* instead of a product, or NULL */
  CleaveBlockwise *blockwise;               /* instead of a product, or NULL */
  guint operand_x, operand_a, operand_bias; /* bias 0: none */
  guint columns_dim;                        /* of the result; its rank: there is but one column */
  const float *a;        /* packed for good; NULL: read in place or packed by each run */
  CleavePanels panels;   /* of a width: packed by each run */
  CleavePackedRows rows; /* n 0: x is read in place */
  guint n_batch_dims;
  gint64 extent[CLEAVE_MAX_RANK], x_step[CLEAVE_MAX_RANK], a_step[CLEAVE_MAX_RANK],
      y_step[CLEAVE_MAX_RANK];
  gboolean nests; /* memory has the bands of all indices one after the other, and they are final */
  void (*finish) (const CleaveKernelInstance *instance); /* what follows the sums, or NULL */
  CleaveView apart; /* where a matrix of y lies whose columns are apart: the product is dense, in
                       scratch; rank 0: they lie side by side */
} CleaveBrgemm;

/* Each plans all but the code; FALSE: the kernel instance is not served. */
gboolean cleave_brgemm_plan_conv (const CleaveKernelInstance *instance,
                                  CleaveWeights *weights,
                                  CleaveBrgemm *brgemm);
gboolean cleave_brgemm_plan_conv_transpose (const CleaveKernelInstance *instance,
                                            CleaveWeights *weights,
                                            CleaveBrgemm *brgemm);
gboolean cleave_brgemm_plan_matmul (const CleaveKernelInstance *instance,
                                    CleaveWeights *weights,
                                    CleaveBrgemm *brgemm);
gboolean cleave_brgemm_plan_gemm (const CleaveKernelInstance *instance,
                                  CleaveWeights *weights,
                                  CleaveBrgemm *brgemm);

/* Whether X and Y have their channels side by side, and B its own. */
gboolean cleave_brgemm_can_serve_conv (const CleaveKernelInstance *instance,
                                       const CleaveDims *dims);
/* The product of a convolution, whose weights are panels from the packed column `first` on, and of
 * which only some of the input channels of each group are read; x and y have strides, but need no
 * data. */
CleaveProduct *cleave_brgemm_conv_product (const CleaveKernelInstance *instance,
                                           const CleavePanels *panels,
                                           gint64 first,
                                           const CleaveSpan *channels);
/* The weights of a convolution as a matrix, whose columns are dimension 0 or 1, the channels of y;
 * rows: taps, then the other of the two. */
CleavePanels cleave_brgemm_conv_panels (const CleaveView *w, guint columns);
/* Images of a convolution one after the other, of operands that begin with X and W. */
void cleave_brgemm_set_images (CleaveBrgemm *brgemm,
                               const CleaveKernelInstance *instance,
                               CleaveDims dims);

/* Whether what each index makes, of a size, comes after what the one before it makes. */
gboolean cleave_brgemm_nests (const CleaveBrgemm *brgemm, gint64 size);

/* Columns of a, from the packed column `first` on, cut where panels and groups end; each group has
 * its own part of x. */
void cleave_brgemm_add_columns (CleaveProduct *product,
                                const CleavePanels *panels,
                                gint64 first,
                                gint64 n_groups,
                                gint64 group_in,
                                gint64 group_out);
