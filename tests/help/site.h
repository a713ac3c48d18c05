/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/runtime/kernels.h"

/* A node to try a fast kernel on. */
typedef struct
{
  const char *op;
  const CleaveOp *record; /* of an op that no graph holds; NULL: look it up */
  gconstpointer attrs;
  guint n_operands, n_results; /* 0 results: one */
  CleaveTensorType operands[9];
  guint constants; /* bits: which operands are constants */
  guint sliced; /* bits: which of them are cut, along dimension `sliced_dim`, out of bigger ones */
  guint sliced_dim;
  guint row_major; /* bits: which operands have their last dimension innermost; else a rank of 3 or
                    * more means that dimension 1 is */
  guint broadcast; /* bits: which operands have one element along their last dimension */
  gboolean y_row_major;
  gint64 gap;        /* elements between what would be neighbours in a dense value */
  gint64 y_gap;      /* and so many more in results */
  gboolean in_place; /* the result lies where operand 0 does, which is no constant and of the same
                        type */
  gboolean special;  /* operands hold infinities, NaNs and zeros of both signs, and any bytes */
  guint filled;      /* bits: which operands, of bytes, hold nothing but the byte in `fill` */
  guint8 fill[9];
  guint small;        /* bits: which operands, of bytes, are within 64 of the middle of a byte */
  gboolean counted;   /* operands hold all 16-bit floats, or the floats with all sizes of these */
  gboolean near_ties; /* operand 1 holds one scale, of any size, and operand 0 floats that lie next
                         to the middle of two whole multiples of it */
  guint in_blocks;    /* bits: which operands, of floats and a rank of 2, hold whole numbers of
                         `block_bits` times a scale, one for each block along dimension `block_dim` */
  guint block_dim, block_bits;
  gint64 block;
  guint32 seed;
} CleaveTrySite;

/* Runs the fast kernel of a level (NULL: the best) and the reference kernel, and compares all bits,
 * those between the elements included; but a NaN equals any NaN.  FALSE: the fast kernel does not
 * serve the kernel instance. */
gboolean cleave_try_instance (const CleaveTrySite *instance, const char *level);
/* Whether a level that runs here has a fast kernel for the op, be the kernel instance served or
 * not. */
gboolean cleave_level_has_kernel (const CleaveTrySite *instance, const char *level);
/* Seconds of the fastest of many runs; negative: not served. */
double cleave_time_instance (const CleaveTrySite *instance, const char *level, gboolean reference);
