/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* QDQ-exact convolutions and matrix products: they compute the float sequence dequantize, convolve,
 * quantize mostly in integers, with the same bits. integer-conv.c makes the constants
 * (cleave_qdq_new()). byte-product.c runs the products (cleave_qdq_run()). Most integer sums are so
 * far from a rounding boundary of the quantized result that the float sum gives the same byte. The
 * other sums, one to four of 1000, are ambiguous: they are recomputed in float, in the order of the
 * reference kernel.
 *
 * The error bound: let x and w be bytes minus their zero points, and let x' and w' be these numbers
 * as dequantized floats. The float sum begins with the bias b and adds n products x' * w', one
 * after the other. Let s_i be the exact sum of the first i products x * w, let u = 2^-24, and
 * measure in units of x_scale * w_scale. Each step rounds once, by at most u times its result:
 *
 *   |error| <= u * sum of |s_i + b| * (1 + n u ...) + 2 u * sum of |x||w|,
 *
 * where the last term is the rounding of x' and w'. The bias adds at most n |b| to the sum of |s_i
 * + b|, which the constant `margin` includes. The sum of |s_i| is bounded in one of two ways.
 *
 * Up to MAX_SINGLE products: product j, counted from 0, is contained in the n - j partial sums from
 * s_(j + 1) to s_n. Let c_j = n - j + 2 be the coefficient of product j. Two bounds hold; the first
 * one follows from Cauchy-Schwarz:
 *
 *   sum of |s_i| + 2 * sum of |x||w| <= X W, with X^2 = sum of c x^2 and W^2 = sum of c w^2
 *   sum of |s_i| + 2 * sum of |x||w| <= max |x| * sum of c |w|
 *
 * X depends only on the elements x that a pixel of the result reads: X is the norm of the pixel.
 *
 * More than MAX_SINGLE products: the products are cut into chunks of at most L products. The
 * partial sum P after each chunk is a checkpoint, whose magnitude the kernel measures. A partial
 * sum inside a chunk differs from the checkpoint at the nearer end of the chunk by the sum of the
 * products between them. The coefficient c of a product is 2 plus the number of these differences
 * that contain the product. With h = (L + 1) / 2,
 *
 *   sum of |s_i| + 2 * sum of |x||w| <= 2 h * sum of |P| + X W.
 *
 * If the bias is added last, the partial sums s_i do not contain it, but its addition rounds once
 * more.
 *
 * The operations after the sum (bounds, division, rounding) never increase the difference of two
 * numbers. So if the error cannot change the byte, the integer sum gives the right byte.
 *
 * Results are fixed-point numbers with 16 bits before and 16 bits after the point. One half is
 * added to them, so that the upper 16 bits are the rounded byte. The lower 16 bits are then the
 * distance of the result from a rounding boundary. Errors have 16 bits, too. */

#include "byte-image.h"
#include "byte-product.h"

#include "../../qdq-conv.h"

#define cleave_qdq_new CLEAVE_LEVELLED (cleave_qdq_new)
#define cleave_qdq_add_memory CLEAVE_LEVELLED (cleave_qdq_add_memory)
#define cleave_qdq_columns_add_memory CLEAVE_LEVELLED (cleave_qdq_columns_add_memory)
#define cleave_qdq_free CLEAVE_LEVELLED (cleave_qdq_free)
#define cleave_qdq_n_scratch CLEAVE_LEVELLED (cleave_qdq_n_scratch)
#define cleave_qdq_find_scratch CLEAVE_LEVELLED (cleave_qdq_find_scratch)
#define cleave_qdq_read_norms CLEAVE_LEVELLED (cleave_qdq_read_norms)
#define cleave_qdq_run CLEAVE_LEVELLED (cleave_qdq_run)
#define cleave_qdq_recompute CLEAVE_LEVELLED (cleave_qdq_recompute)
#define cleave_qdq_columns_init CLEAVE_LEVELLED (cleave_qdq_columns_init)
#define cleave_qdq_columns_set CLEAVE_LEVELLED (cleave_qdq_columns_set)
#define cleave_qdq_columns_clear CLEAVE_LEVELLED (cleave_qdq_columns_clear)

/* The terms of the error bound, from few to many. CONSTANT: a constant for the column. NORMS: the
 * constant, and a term for the norm of each pixel. GROWTH: both, and a term for the growth of each
 * sum, which is the total of its magnitudes at the checkpoints. */
typedef enum { CLEAVE_QDQ_CONSTANT, CLEAVE_QDQ_NORMS, CLEAVE_QDQ_GROWTH } CleaveQdqKind;

/* CLEAVE_HAS_QDQ: the level has kernels of QDQ-exact products. cleave_qdq_runs_here () returns
 * whether the processor has their instructions. */
#if defined(CLEAVE_HAS_DOT4)
#define CLEAVE_HAS_QDQ
#define cleave_qdq_runs_here() __builtin_cpu_supports ("avx512vnni")
#elif defined(CLEAVE_DOT)
#define CLEAVE_HAS_QDQ
#define cleave_qdq_runs_here() TRUE
#endif

/* Factor by which error bounds are increased. It covers second-order products of rounding errors,
 * and the rounding of the constants. */
#define CLEAVE_QDQ_MORE 1.02

/* Limit on the growth of a sum. A checkpoint is the value of the sum after a chunk of products, and
 * the growth is the total of the magnitudes of all checkpoints. AVX-512 adds magnitudes as floats,
 * since float operations cost no time beside products of bytes. Other levels add magnitudes as
 * integers: NEON has one instruction for this. */
#if defined(CLEAVE_AVX512)
#define CLEAVE_QDQ_GROWTH_MOST G_MAXFLOAT
#else
#define CLEAVE_QDQ_GROWTH_MOST G_MAXINT32
#endif

/* Constants that convert sums to bytes. The arrays are indexed by column. */
typedef struct
{
  float *factor, *addend; /* a result in units of 2^-16 is sum * factor + addend */
  float *by_growth;       /* error bound for each unit of growth; the growth of a sum is the total
                             of its magnitudes |P| at the checkpoints */
  guint16 *by_norm;       /* error bound for each unit of the pixel's norm, times 2^16 */
  guint16 *margin;        /* part of the error bound that does not depend on x */
  float least, most;
} CleaveQdqColumns;

/* Parameters of the error bound that all columns of a convolution share. */
typedef struct
{
  const CleaveQdqConv *conv;
  gint64 length, half;
  gint64 n_chunks; /* number of chunks of products, each of which ends at a checkpoint; 0: sums are
                      not cut into chunks */
  double x_norm; /* largest magnitude of an element of x, if no run computes norms; 0: runs compute
                    the norm of each pixel */
  double x_norm_most; /* largest possible norm of a pixel; a norm is stored in 16 bits, and 65535
                         stands for this norm */
} CleaveQdqSums;

/* Parameters of the error bound that are computed from the weights of one column. */
typedef struct
{
  double norm; /* If runs compute norms of pixels: W, the square root of the sum of c w^2 over the
                  column's weights w. Otherwise: the sum of c |w|. The error bound at the begin of
                  this file defines c and W. */
  double zero; /* number that is added to each sum: minus the zero point of x, times the sum of the
                  weights */
  double most; /* largest magnitude that a sum can have, at its end or at a checkpoint; used only if
                  sums are cut into chunks */
} CleaveQdqColumn;

void cleave_qdq_columns_init (CleaveQdqColumns *columns, const CleaveQdqSums *sums, gint64 n);
/* Sets the constants of column `column` for channel `channel` of the result. Returns FALSE if a
 * scale or sum is too large or too small for the error bound. */
gboolean cleave_qdq_columns_set (CleaveQdqColumns *columns,
                                 const CleaveQdqSums *sums,
                                 CleaveQdqColumn numbers,
                                 gint64 channel,
                                 gint64 column);
void cleave_qdq_columns_clear (CleaveQdqColumns *columns);
/* Appends to `lines` (CleaveMemoryLines) the cache lines of the constants. */
void cleave_qdq_columns_add_memory (const CleaveQdqColumns *columns, GArray *lines);

typedef struct _CleaveQdq
{
  gint64 n_taps, n_units;
  /* A chunk is the products between two checkpoints. It consists of dot-4 groups of one tap, or of
   * several whole taps. `taps_at_once`: number of taps of a chunk. `chunk`: number of dot-4 groups
   * that one chunk has in each of these taps. */
  gint64 chunk;
  gint64 taps_at_once;
  gint64 n_chunks; /* number of chunks of a sum; 0: sums are not cut into chunks */
  gint32 stands;   /* zero point of the converted elements of x */
  gint64 n_columns;
  gint32 *chunk_bias; /* indexed by chunk, then by column: number that is added to the sum at the
                         begin of the chunk; NULL: nothing is added */
  CleaveQdqColumns columns;
  CleaveQdqKind kind;
  gboolean has_norms;
  gint64 pixel;        /* bytes of a pixel of x */
  gint64 pixel_length; /* number of elements of a pixel that one group of a grouped convolution
                          reads */
  gint16 *coefficient; /* indexed by element of a pixel: half of the coefficient c that multiplies
                          the square of the element in the norm of the pixel */
  float norm_unit;
  gint64 n_beside;   /* number of adjacent pixels that a tap reads */
  gint64 *tap_pixel; /* indexed by tap: index of the first pixel that the tap reads */
  float *w_scale, *bias;
  gboolean bias_is_last; /* TRUE: the bias is added last, as in matrix products; FALSE: sums begin
                            with the bias */
  float x_scale, y_scale;
  gint32 y_zero, least, most;
} CleaveQdq;

/* The arrays of a product in scratch. Three of them are indexed by pixel. `norm`: the norm of the
 * pixel as 16 bits, stored twice. `lanes`: a mask of the ambiguous columns of a panel. `squares`:
 * the sum of squares of x. `doubtful` lists the pixels with ambiguous columns, and `doubtful_lanes`
 * contains the mask of each listed pixel. */
typedef struct
{
  guint32 *norm, *lanes;
  gint32 *doubtful;
  guint32 *doubtful_lanes;
  float *squares;
} CleaveQdqScratch;

CleaveQdqScratch cleave_qdq_find_scratch (const CleaveByteProduct *product);

/* The operands of a convolution in memory: packed weights, taps, and the image of x. */
typedef struct
{
  const CleaveBytePanels *panels;
  const gint8 *packed;
  gint64 first, n; /* first column of the packed weights; number of columns */
  gint64 n_taps, group_in, group_out;
  const gint64 *tap_at;
  const CleaveByteImage *image;
  gboolean in_place;
} CleaveQdqLayout;

/* Computes all constants of a convolution. Returns NULL if a scale or sum is too large or too small
 * for the error bound. */
CleaveQdq *cleave_qdq_new (const CleaveQdqConv *conv, const CleaveQdqLayout *layout);
void cleave_qdq_free (CleaveQdq *qdq);
/* Appends to `lines` (CleaveMemoryLines) the cache lines of the constants that each run reads,
 * without the data that only the recomputation of ambiguous sums reads. */
void cleave_qdq_add_memory (const CleaveQdq *qdq, GArray *lines);
/* Returns the bytes of scratch for n_pixels pixels of the result and n_x pixels of x. */
gsize cleave_qdq_n_scratch (gint64 n_pixels, gint64 n_x);
/* Computes, for each pixel of the result, the norm of the elements of x that the pixel reads.
 * Stores the norms in the product's scratch. `image` contains the elements of x for `n_rows` rows
 * of the result; NULL: the product reads x in place. */
void cleave_qdq_read_norms (const CleaveByteProduct *product,
                            const CleaveByteImage *image,
                            gint64 n_rows);
/* Computes columns [begin, end) of the packed weights, which must be in one panel, for all
 * pixels. */
void cleave_qdq_run (const CleaveByteProduct *product, gint64 begin, gint64 end);

/* Up to two vectors of columns of one panel. A kernel computes them together. */
typedef struct
{
  const CleaveQdq *s;
  const CleaveByteProduct *product;
  CleaveQdqScratch scratch;
  const gint8 *w;
  gint64 w_step, column, n; /* `n`: number of columns; `column`: index in y of the first column */
  guint32 mask;             /* mask of the lanes that contain a column */
} CleaveQdqPanel;

/* Recomputes the ambiguous sums of the columns in float, and stores their bytes. */
void cleave_qdq_recompute (const CleaveQdqPanel *panel);
