/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Convolutions of dequantised bytes, quantised, with the bits of the sum in floats; most of it in
 * whole numbers.
 *
 * The sum in floats begins with the bias b and adds one product p = x' * w' after the other, x' and
 * w' the dequantised bytes; let u be 2^-24, s the sums without rounding of the products of bytes,
 * and units those of x_scale * w_scale.  Each step rounds once, by at most u times what it makes:
 *
 *   |error| <= u * sum of |s_i + b| * (1 + n u ...) + 2 u * sum of |x||w|,
 *
 * the last since x' and w' were rounded.  Up to MAX_SINGLE products, the j-th of which is in n - j
 * of the sums, let its weight c_j be n - j + 2.  Then, by Cauchy and Schwarz, or the largest of x,
 *
 *   sum of |s_i| + 2 * sum of |x||w| <= X W or max |x| * sum of c |w|,
 *   X^2 = sum of c x^2, W^2 = sum of c w^2.
 *
 * Of more, sums are known at checkpoints P, one after each chunk of at most L products; a sum in
 * between differs from that at the nearer end of its chunk by a sum of products between them.  An
 * element's c is two more than there are such sums that it is in, and with h = (L + 1) / 2
 *
 *   sum of |s_i| + 2 * sum of |x||w| <= 2 h * sum of |P| + X W.
 *
 * A bias that comes last is in none of these sums but in one more.
 *
 * What follows (bounds, division, rounding) never makes less of more, so that where the error leads
 * to no other byte, neither does the sum.  Where it might, that sum is made in floats: of 1000 sums
 * one to four.
 *
 * Results have 16 bits before the point and 16 after it, and a half more than they are, so that the
 * upper ones are the byte, and the lower ones how far it is from another.  Errors have 16 bits,
 * too. */

#include "byte-image.h"
#include "byte-product.h"

#include "../../written-conv.h"

#define cleave_written_new CLEAVE_LEVELLED (cleave_written_new)
#define cleave_written_add_memory CLEAVE_LEVELLED (cleave_written_add_memory)
#define cleave_written_columns_add_memory CLEAVE_LEVELLED (cleave_written_columns_add_memory)
#define cleave_written_free CLEAVE_LEVELLED (cleave_written_free)
#define cleave_written_n_scratch CLEAVE_LEVELLED (cleave_written_n_scratch)
#define cleave_written_find_scratch CLEAVE_LEVELLED (cleave_written_find_scratch)
#define cleave_written_read_norms CLEAVE_LEVELLED (cleave_written_read_norms)
#define cleave_written_run CLEAVE_LEVELLED (cleave_written_run)
#define cleave_written_run_again CLEAVE_LEVELLED (cleave_written_run_again)
#define cleave_written_columns_init CLEAVE_LEVELLED (cleave_written_columns_init)
#define cleave_written_columns_set CLEAVE_LEVELLED (cleave_written_columns_set)
#define cleave_written_columns_clear CLEAVE_LEVELLED (cleave_written_columns_clear)

/* What the error comes of: the column alone, the norm of a pixel too, or checkpoints as well. */
typedef enum {
  CLEAVE_WRITTEN_CONSTANT,
  CLEAVE_WRITTEN_NORMS,
  CLEAVE_WRITTEN_GROWTH
} CleaveWrittenKind;

/* From sums to bytes, for each column. */
typedef struct
{
  float *factor, *addend; /* from sums to the result, in units of 2^-16 */
  float *by_growth;       /* what a unit of checkpoints adds to the error, */
  guint16 *by_norm;       /* one of norms, times 2^16, */
  guint16 *margin;        /* and what there is of it anyhow */
  float least, most;
} CleaveWrittenColumns;

/* What is the same for all columns. */
typedef struct
{
  const CleaveWrittenConv *conv;
  gint64 length, half;
  gint64 n_chunks;    /* 0: checkpoints are not added up */
  double x_norm;      /* 0: it is known for each pixel, */
  double x_norm_most; /* and at most this, which is 65535 there */
} CleaveWrittenSums;

/* Of the weights of one. */
typedef struct
{
  double norm; /* what goes with that of x */
  double zero; /* what is added to sums */
  double most; /* the largest that a sum may be, if checkpoints are added up */
} CleaveWrittenColumn;

void cleave_written_columns_init (CleaveWrittenColumns *columns,
                                  const CleaveWrittenSums *sums,
                                  gint64 n);
/* Of a channel of the result.  FALSE: numbers are too large, or too small, for the bound. */
gboolean cleave_written_columns_set (CleaveWrittenColumns *columns,
                                     const CleaveWrittenSums *sums,
                                     CleaveWrittenColumn numbers,
                                     gint64 channel,
                                     gint64 column);
void cleave_written_columns_clear (CleaveWrittenColumns *columns);
/* Adds what a run reads. */
void cleave_written_columns_add_memory (const CleaveWrittenColumns *columns, GArray *lines);

typedef struct _CleaveWritten
{
  gint64 n_taps, n_units;
  gint64 chunk; /* units; of taps that are shorter several are one */
  gint64 taps_at_once;
  gint64 n_chunks; /* 0: all is one */
  gint32 stands;   /* for the zero point of x */
  gint64 n_columns;
  gint32 *chunk_bias; /* of each chunk, of each column; NULL: all are 0 */
  CleaveWrittenColumns columns;
  CleaveWrittenKind kind;
  gboolean has_norms;
  gint64 pixel;        /* bytes in x */
  gint64 pixel_length; /* of which these are the group's */
  gint16 *weight;      /* of each of them: c, halved */
  float norm_unit;
  gint64 n_beside;   /* pixels of a tap */
  gint64 *tap_pixel; /* where taps begin */
  float *w_scale, *bias;
  gboolean bias_is_last; /* as of matrix products */
  float x_scale, y_scale;
  gint32 y_zero, least, most;
} CleaveWritten;

/* What a product has in scratch: of each pixel the norm of what it reads, twice 16 bits of it, and
 * the columns of a panel that are in doubt; a list of pixels with such; and the squares of each
 * pixel of x. */
typedef struct
{
  guint32 *norm, *lanes;
  gint32 *doubtful;
  guint32 *doubtful_lanes;
  float *squares;
} CleaveWrittenScratch;

CleaveWrittenScratch cleave_written_find_scratch (const CleaveByteProduct *product);

/* Where a convolution has what. */
typedef struct
{
  const CleaveBytePanels *panels;
  const gint8 *packed;
  gint64 first, n; /* columns of the packed weights */
  gint64 n_taps, group_in, group_out;
  const gint64 *tap_at;
  const CleaveByteImage *image;
  gboolean in_place;
} CleaveWrittenLayout;

/* NULL: numbers are too large, or too small, for the bound. */
CleaveWritten *cleave_written_new (const CleaveWrittenConv *conv,
                                   const CleaveWrittenLayout *layout);
void cleave_written_free (CleaveWritten *written);
/* Adds what a run reads, but where it is in doubt. */
void cleave_written_add_memory (const CleaveWritten *written, GArray *lines);
/* Bytes of scratch for so many pixels of the result, and of x. */
gsize cleave_written_n_scratch (gint64 n_pixels, gint64 n_x);
/* Of what each pixel of a product reads, into its scratch; `image` has rows for `n_rows` of the
 * result.  NULL: x is read in place. */
void cleave_written_read_norms (const CleaveByteProduct *product,
                                const CleaveByteImage *image,
                                gint64 n_rows);
/* Columns [begin, end) of the packed form, which lie in one panel. */
void cleave_written_run (const CleaveByteProduct *product, gint64 begin, gint64 end);

/* Columns that are worked on together. */
typedef struct
{
  const CleaveWritten *s;
  const CleaveByteProduct *product;
  CleaveWrittenScratch scratch;
  const gint8 *w;
  gint64 w_step, column, n; /* columns */
  guint32 mask;             /* of the lanes that are columns */
} CleaveWrittenPanel;

/* What is in doubt, in floats. */
void cleave_written_run_again (const CleaveWrittenPanel *panel);
