/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs the fast kernel of one node without a graph or a program. The suites in
 * tests/runtime/kernels compare the bits with the reference kernel, and bench-kernels.c measures
 * the time. kernel-cases.h draws random nodes. */

#include "../../lib/runtime/kernels.h"

/* A node on which a test runs a fast kernel and the reference kernel. */
typedef struct
{
  const char *op;
  const CleaveOp *record; /* record of an op that no graph contains; NULL: the record is found by
                             the name `op` */
  gconstpointer attrs;
  guint n_operands, n_results; /* `n_results` 0 means one result */
  CleaveTensorType operands[9];
  guint constants; /* bit mask of the operands that are constants */
  guint sliced; /* bit mask of the operands that are slices of larger values along `sliced_dim` */
  guint sliced_dim;
  guint row_major; /* bit mask of the operands whose last dimension is innermost in memory. All
                      other operands of rank 3 or more have dimension 1 innermost */
  guint broadcast; /* bit mask of the operands with one element along their last dimension */
  gboolean y_row_major;
  gint64 gap;   /* number of unused elements after each row of operands and results, of unused rows
                 * after each plane, and so on for all dimensions */
  gint64 y_gap; /* number that is added to `gap` for results */
  /* the result overwrites operand 0, which is not constant and has the same type */
  gboolean in_place;
  gboolean special; /* float operands hold infinities, NaNs and zeros of both signs; operands of
                       bytes hold all bytes, not only 0 to 127 */
  guint filled;     /* bit mask of byte operands that hold only the byte in `fill` */
  guint8 fill[9];
  guint small;      /* bit mask of byte operands whose bytes are 64 to 191 (int8: -64 to 63) */
  gboolean counted; /* operands hold all 16-bit floats; in a float32 operand, many elements are ties
                       of the rounding to float16 */
  gboolean near_ties; /* operand 1 holds one scale of any size; each float of operand 0 is close to
                         the middle between two integer multiples of the scale */
  guint in_blocks;    /* bit mask of float operands of rank 2 whose elements are integers of
                         `block_bits` bits, each multiplied by a scale. Each block along dimension
                         `block_dim` has one scale */
  guint block_dim, block_bits;
  gint64 block; /* number of elements of a block */
  guint32 seed;
} CleaveTrySite;

/* Runs the fast kernel of a level (NULL: the best) and the reference kernel. Asserts that all bits
 * are equal, including the bits in gaps; all NaNs are equal. Returns FALSE if the fast kernel does
 * not serve the kernel instance. */
gboolean cleave_try_instance (const CleaveTrySite *instance, const char *level);
/* Returns whether `level` has a fast kernel for the op of `instance`. This machine must be able to
 * run `level`. The kernel may still refuse the types or attributes of `instance`. */
gboolean cleave_level_has_kernel (const CleaveTrySite *instance, const char *level);
/* Runs the fast kernel for about `seconds`. Returns the seconds of the fastest run; negative if
 * the level has no kernel for the instance. */
double cleave_time_instance (const CleaveTrySite *instance, const char *level, double seconds);
