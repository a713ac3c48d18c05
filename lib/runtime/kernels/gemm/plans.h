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

/* The plans of float convolutions and matrix products. conv.c, conv-transpose.c and matmul.c fill a
 * CleaveBrgemm in `prepare`; families.c runs it, and upcast.h uses parts of it for 16-bit floats.
 *
 * CleavePackedRows describes the `n` rows of an operand x, if the `k` elements of a row are not
 * contiguous. Before a run computes a band of y, the run packs the `n_per_band` rows of x that the
 * band reads. */
typedef struct
{
  gint64 n, n_per_band, k;
  gint64 row_step, column_step;
} CleavePackedRows;

/* The plan of a kernel instance: a CleaveProduct (gemm.h), which runs once for each index of the
 * batch dimensions. */
typedef struct
{
  CleaveProduct *product;
  CleaveNarrow *narrow; /* the narrow kernel that runs instead of the float product; NULL: none */
  CleaveBlockwise *blockwise; /* the product of integer weights that runs instead of the float
                                 product; NULL: none */
  /* indices of the operands that are x, a and the bias; bias 0: no bias */
  guint operand_x, operand_a, operand_bias;
  guint columns_dim; /* dimension of the result whose indices are the columns; the result's rank if
                        there is only one column */
  /* the packed matrix `a`, if it was packed when the program was made; NULL: each run reads `a` in
   * place or packs it */
  const float *a;
  /* layout of the matrix `a` if each run packs it; width 0: runs do not pack it */
  CleavePanels panels;
  /* the rows of x that each run packs; `n` 0: the product reads x in place */
  CleavePackedRows rows;
  guint n_batch_dims;
  gint64 extent[CLEAVE_MAX_RANK], x_step[CLEAVE_MAX_RANK], a_step[CLEAVE_MAX_RANK],
      y_step[CLEAVE_MAX_RANK];
  gboolean nests; /* TRUE: the bands of all batch indices follow each other in memory, and no
                     operation after the product changes the bands */
  void (*finish) (const CleaveKernelInstance *instance); /* function that a run calls after it has
                                                            stored all sums; NULL: none */
  CleaveView apart; /* view of y, if the columns of y are strided: the product computes a dense
                       matrix in scratch, and a run copies it to this view; rank 0: not used */
} CleaveBrgemm;

/* Plans the product of a convolution, without the generated code. Returns FALSE if the family does
 * not serve the kernel instance. The next three functions plan the product of a transposed
 * convolution, a MatMul and a Gemm. */
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

/* Returns whether the channels of X, the channels of Y and the elements of the bias B are
 * contiguous. */
gboolean cleave_brgemm_can_serve_conv (const CleaveKernelInstance *instance,
                                       const CleaveDims *dims);
/* Returns the product of a convolution. Its weights are columns of the packed matrix that `panels`
 * describes, from column `first` on. The product reads only the operand channels `channels` of each
 * group. The views of x and y need strides, but no data. */
CleaveProduct *cleave_brgemm_conv_product (const CleaveKernelInstance *instance,
                                           const CleavePanels *panels,
                                           gint64 first,
                                           const CleaveSpan *channels);
/* Returns the weights of a convolution as a matrix, which has a column for each channel of y.
 * `columns` is the dimension of w (0 or 1) whose indices are these channels. The rows of the matrix
 * are the taps and, within a tap, the channels of dimension 1 - `columns` of w. */
CleavePanels cleave_brgemm_conv_panels (const CleaveView *w, guint columns);
/* Makes the dimension of the images (N) the batch dimension of the plan. Operand 0 is X, operand 1
 * is W. */
void cleave_brgemm_set_images (CleaveBrgemm *brgemm,
                               const CleaveKernelInstance *instance,
                               CleaveDims dims);

/* Returns whether the results of all batch indices, `size` elements each, follow each other in
 * memory. */
gboolean cleave_brgemm_nests (const CleaveBrgemm *brgemm, gint64 size);

/* Appends columns to the columns that the product computes: n_groups * group_out columns of the
 * packed matrix `a`, from column `first` on. Cuts the columns where panels and groups end. The
 * columns of group g read the channels of x from channel g * group_in on. */
void cleave_brgemm_add_columns (CleaveProduct *product,
                                const CleavePanels *panels,
                                gint64 first,
                                gint64 n_groups,
                                gint64 group_in,
                                gint64 group_out);
