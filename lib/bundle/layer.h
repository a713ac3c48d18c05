/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The kernel and the constants of a layer, and the pool of constant arrays of a bundle. */

#include "op.h"

/* The constant arrays of a bundle. */
typedef struct
{
  char *prefix;      /* prefix of the names of the arrays */
  GArray *arrays;    /* CleaveBundleArray: the arrays, each with contents of its own */
  GHashTable *names; /* maps the contents of an array to 1 plus its index */
} CleaveBundlePool;

typedef struct
{
  char *name, *type;
  char *expression; /* C expression for the address of the array; has a cast if the bytes are stored
                       as words */
  GBytes *bytes;
  gsize n_elements;
} CleaveBundleArray;

/* A layer that computes the steps of a sequence one after the other. Numbers of bytes are for one
 * column, which is a sequence of the batch. */
typedef struct
{
  gint64 steps, columns;
  guint x, h, c; /* indices of the operands: the sequence and the initial states */
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
  gboolean has_float_scales, is_wide;
  gboolean is_folded, is_flat;
  CleaveBundleRecurrent recurrent; /* n_steps 0: the layer is not recurrent */
  guint in_place; /* a bit for each variable operand that the result may overwrite */
  guint slot;     /* index among the node's operands of the first variable operand */
  guint
      zero_operand; /* 1 plus the index of the node's operand with the zero point `zero`; 0: none */
  gint64 zero;
};

CleaveBundlePool *cleave_bundle_pool_new (const char *prefix);
void cleave_bundle_pool_free (CleaveBundlePool *pool);
CleaveBundleLayer *cleave_bundle_layer_new (CleaveBundlePool *pool);
void cleave_bundle_layer_free (CleaveBundleLayer *layer);
/* Makes a layer recurrent. Kernel `sums` computes the state after step call->row of operand 0. Row
 * 0 begins with the states in operand 1, or with constants. The layer's own kernel copies h of a
 * step, or h and c, from the state. */
void cleave_bundle_layer_set_recurrent (CleaveBundleLayer *layer,
                                        const char *sums,
                                        const CleaveBundleRecurrent *recurrent);
/* Returns whether an initial state of a recurrent layer is computed at run time. */
gboolean cleave_bundle_has_variable_state (const CleaveNode *node,
                                           const CleaveBundleRecurrent *recurrent);
