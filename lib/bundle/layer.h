/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A layer: the kernel and the constants of a step, and the pool of the bundle's constant arrays.
 * The describe() functions of op.h fill a layer for model.c. The writers print it as a CleaveLayer
 * (kernels/cleave-run.h). Example: kernel "cleave_conv_s8", struct "CleaveConvS8", arrays net_a0
 * (weights) and net_a1 (sums). */

#include "op.h"

/* The constant arrays of a bundle. */
typedef struct
{
  char *prefix;      /* prefix of the names of the arrays */
  GArray *arrays;    /* CleaveBundleArray: the arrays; no two have equal contents */
  GHashTable *names; /* maps the element type and contents of an array to 1 plus its index */
} CleaveBundlePool;

typedef struct
{
  char *name, *type;
  char *expression; /* C expression for the address of the array; includes a cast if the bytes are
                     * stored as words */
  GBytes *bytes;
  gsize n_elements;
} CleaveBundleArray;

/* The data of a recurrent layer, which computes the steps of a sequence one after the other.
 * Numbers of bytes are for one column; each column is one sequence of the batch. */
typedef struct
{
  gint64 steps, columns;
  guint x, h, c; /* indices of operands of the node: sequence, initial h, initial c */
  gsize h_bytes, c_bytes;
  gsize state_bytes;       /* bytes of the state that the layer keeps between time steps */
  gboolean is_batch_first; /* dimension 0 of x is the batch, and dimension 1 the steps */
} CleaveBundleRecurrent;

struct _CleaveBundleLayer
{
  CleaveBundlePool *pool;
  char *file, *kernel, *type, *fields;
  char *sums; /* kernel that adds each row of operand 0 to the sums; NULL: the layer has no sums */
  gint64 sum_columns;
  gsize sum_pixel_bytes;
  gboolean has_float_scales, has_fixed_scales, has_separate_weights, is_wide;
  gboolean is_folded, is_flat;
  gboolean calls_cmsis; /* whether the kernel calls a function of CMSIS-NN (cmsis.h) */
  /* bytes of the operands, the result and the context buffer of a call of CMSIS-NN, even if the
   * layer has another kernel; 0: no function of CMSIS-NN computes the same bits */
  gint64 call_bytes;
  gint64 context_bytes;            /* bytes of the context buffer of a call of CMSIS-NN */
  CleaveBundleRecurrent recurrent; /* data of a recurrent layer; `steps` is 0: not recurrent */
  guint in_place;     /* bit i is set if the kernel may write the result over variable operand
                         i (op.h) */
  guint slot;         /* index of the first variable operand among the node's operands */
  guint zero_operand; /* 1 plus the index, among the node's operands, of the operand whose zero
                       * point is `zero`; 0: none */
  gint64 zero;
};

CleaveBundlePool *cleave_bundle_pool_new (const char *prefix);
void cleave_bundle_pool_free (CleaveBundlePool *pool);
CleaveBundleLayer *cleave_bundle_layer_new (CleaveBundlePool *pool);
void cleave_bundle_layer_free (CleaveBundleLayer *layer);
/* Makes a layer recurrent. Kernel `sums` computes the state after each step of the sequence
 * (operand 0): row r is the state after step r. Step 0 begins with the states in operand 1, or with
 * constants. The layer's own kernel copies h of a step, or h and c, from the state. */
void cleave_bundle_layer_set_recurrent (CleaveBundleLayer *layer,
                                        const char *sums,
                                        const CleaveBundleRecurrent *recurrent);
/* Returns whether an initial state of a recurrent layer is computed at run time, and not
 * constant. */
gboolean cleave_bundle_has_variable_state (const CleaveNode *node,
                                           const CleaveBundleRecurrent *recurrent);
