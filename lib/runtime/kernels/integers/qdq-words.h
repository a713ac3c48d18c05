/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts integer sums to bytes and finds ambiguous sums (qdq.h), in the vectors of any level.
 * qdq-blocks.c and integer-depthwise.c use these functions. qdq-finish.h contains the code for
 * AVX512-VNNI. */

#include "qdq.h"
#include "word-vector.h"

/* The constants that convert the sums of one or two vectors of columns. */
typedef struct
{
  CleaveVector factor[2], addend[2], by_growth[2];
  float least, most;
  CleaveWords margin, by_norm;
} CleaveQdqFinish;

CLEAVE_WORDS_INLINE CleaveQdqFinish
cleave_qdq_finish_load (const CleaveQdqColumns *c, gint64 column, int vectors, CleaveQdqKind kind)
{
  CleaveQdqFinish f = { .least = c->least,
                        .most = c->most,
                        .margin = cleave_words_load (c->margin + column) };

  CLEAVE_EACH (v, vectors)
    {
      f.factor[v] = cleave_vector_load (c->factor + column + v * CLEAVE_LANES);
      f.addend[v] = cleave_vector_load (c->addend + column + v * CLEAVE_LANES);
      if (kind == CLEAVE_QDQ_GROWTH)
        f.by_growth[v] = cleave_vector_load (c->by_growth + column + v * CLEAVE_LANES);
    }
  if (kind != CLEAVE_QDQ_CONSTANT)
    f.by_norm = cleave_words_load (c->by_norm + column);
  return f;
}

/* Returns the error bound of each sum of a pixel (qdq.h). Adds up to three terms, depending on
 * `kind`: the constant of the column, a term for the norm of the pixel, and a term for the growth
 * of the sum. The growth is the total of the magnitudes that the sum has at its checkpoints. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_qdq_find_margin (const CleaveQdqFinish *f,
                        CleaveQdqKind kind,
                        guint16 norm,
                        const CleaveIntVector *growth,
                        int vectors)
{
  CleaveWords margin = f->margin;
  CleaveIntVector error[2];

  if (kind != CLEAVE_QDQ_CONSTANT)
    margin = cleave_words_add (margin, cleave_words_multiply_high (f->by_norm, norm));
  if (kind != CLEAVE_QDQ_GROWTH)
    return margin;
  CLEAVE_EACH (v, vectors)
    error[v] = cleave_ints_of_wide_floats (cleave_ints_to_floats (growth[v]) * f->by_growth[v]);
  return cleave_words_add (margin, cleave_words_saturate (error[0], error[vectors - 1]));
}

/* Converts one or two vectors of sums to bytes. Lane i of `bytes` has 16 bits; its lower 8 bits are
 * the byte of sum i. Returns a mask with a bit for each ambiguous sum. */
CLEAVE_WORDS_INLINE guint32
cleave_qdq_finish (const CleaveQdqFinish *f,
                   CleaveWords margin,
                   const CleaveIntVector *sum,
                   int vectors,
                   CleaveWords *bytes)
{
  CleaveIntVector whole[2];
  guint32 doubt;

  CLEAVE_EACH (v, vectors)
    {
      CleaveVector y =
          cleave_vector_fma (cleave_ints_to_floats (sum[v]), f->factor[v], f->addend[v]);

      whole[v] = cleave_ints_of_floats_within (y, f->least, f->most);
    }
  *bytes = cleave_words_of_high_halves (whole[0], whole[vectors - 1]);
  doubt = cleave_words_within (cleave_words_of_low_halves (whole[0], whole[vectors - 1]), margin);
  return vectors == 2 ? doubt : doubt & ((1u << CLEAVE_LANES) - 1);
}
