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

/* Rows of x whose elements are not contiguous. Each run packs the `n_per_band` rows of a band
 * before it computes the band. */
typedef struct
{
  gint64 n, n_per_band, k;
  gint64 row_step, column_step;
} CleavePackedRows;

/* The plan of a kernel instance: a product that runs for each index of the batch dimensions. */
typedef struct
{
  CleaveProduct *product;
  CleaveNarrow *narrow;       /* the narrow kernel that runs instead of the product; NULL: none */
  CleaveBlockwise *blockwise; /* the blockwise product that runs instead; NULL: none */
  guint operand_x, operand_a,
      operand_bias;    /* indices of the operands that are x, a and the bias; bias 0: no bias */
  guint columns_dim;   /* dimension of the result that holds the columns; the result's rank if there
                          is only one column */
  const float *a;      /* the matrix a, packed once; NULL: each run reads it in place or packs it */
  CleavePanels panels; /* layout of a, if each run packs it; width 0: runs do not pack it */
  CleavePackedRows rows; /* the rows of x that each run packs; `n` 0: products read x in place */
  guint n_batch_dims;
  gint64 extent[CLEAVE_MAX_RANK], x_step[CLEAVE_MAX_RANK], a_step[CLEAVE_MAX_RANK],
      y_step[CLEAVE_MAX_RANK];
  gboolean nests; /* the bands of all batch indices follow each other in memory, and no operation
                     after the product changes them */
  void (*finish) (const CleaveKernelInstance *instance); /* function that a run calls after it has
                                                            stored all sums; NULL: none */
  CleaveView apart; /* if the columns of y are strided: the layout in y of a matrix that the product
                       computes dense in scratch; rank 0: columns are contiguous */
} CleaveBrgemm;

/* Each of the next functions plans an op of one kind, without the generated code. It returns FALSE
 * if the family does not serve the kernel instance. */
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

/* Returns whether the channels of X and Y are contiguous, and the elements of B are contiguous,
 * too. */
gboolean cleave_brgemm_can_serve_conv (const CleaveKernelInstance *instance,
                                       const CleaveDims *dims);
/* Returns the product of a convolution, whose weights are panels from packed column `first` on. It
 * reads only the operand channels `channels` of each group. The views of x and y need strides, but
 * no data. */
CleaveProduct *cleave_brgemm_conv_product (const CleaveKernelInstance *instance,
                                           const CleavePanels *panels,
                                           gint64 first,
                                           const CleaveSpan *channels);
/* Returns the weights of a convolution as a matrix. Its columns are dimension `columns` of w, 0 or
 * 1, which holds the channels of y. Its rows are the taps and, within a tap, the other of the two
 * dimensions. */
CleavePanels cleave_brgemm_conv_panels (const CleaveView *w, guint columns);
/* Uses the dimension of the images (N) as the batch dimension of the plan. Operand 0 is X, operand
 * 1 is W. */
void cleave_brgemm_set_images (CleaveBrgemm *brgemm,
                               const CleaveKernelInstance *instance,
                               CleaveDims dims);

/* Returns whether the results of the batch indices, `size` elements each, follow each other in
 * memory. */
gboolean cleave_brgemm_nests (const CleaveBrgemm *brgemm, gint64 size);

/* Adds to the product the columns of a from packed column `first` on, cut where panels and groups
 * end. Each group of columns reads its own channels of x. */
void cleave_brgemm_add_columns (CleaveProduct *product,
                                const CleavePanels *panels,
                                gint64 first,
                                gint64 n_groups,
                                gint64 group_in,
                                gint64 group_out);
