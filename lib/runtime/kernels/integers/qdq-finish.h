/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts integer sums to bytes and finds ambiguous sums (qdq.h), in vectors of any width.
 * qdq-blocks.c and channel-dot4-rows.h include this file; other levels use qdq-words.h. The
 * including file defines NAME(), V() and the types. The arrays of constants (CleaveQdqColumns) are
 * indexed by column. A function converts two vectors of sums; the second vector begins COLUMNS
 * columns after the first. WORDS() loads an array's 16-bit numbers for the columns of both
 * vectors. */

/* Returns the permutation that selects 16 bits of each lane of two vectors: the upper 16 bits if
 * `upper` is 1, the lower 16 bits if it is 0. */
static inline __attribute__ ((always_inline)) VECTOR
NAME (word_order) (gint16 upper)
{
  gint16 at[sizeof (VECTOR) / 2];
  VECTOR order;

  for (gint16 i = 0; i < (gint16) G_N_ELEMENTS (at); i++)
    at[i] = (gint16) (2 * i + upper);
  __builtin_memcpy (&order, at, sizeof order);
  return order;
}

/* Converts one or two vectors of sums to fixed-point numbers. The upper 16 bits of a number are the
 * quantized result, as a signed 16-bit integer. Returns a mask with a bit for each ambiguous
 * sum. */
static inline __attribute__ ((always_inline)) guint32
NAME (finish_qdq) (const CleaveQdqColumns *c,
                   gint64 column,
                   CleaveQdqKind kind,
                   VECTOR growth,
                   guint32 norm,
                   int vectors,
                   VECTOR *sum)
{
  VECTOR margin = WORDS (c->margin + column), order = NAME (word_order) (0);
  guint32 doubt;

  CLEAVE_EACH (v, vectors)
    {
      FLOATS f =
          V (fmadd_ps) (V (cvtepi32_ps) (sum[v]), V (loadu_ps) (c->factor + column + v * COLUMNS),
                        V (loadu_ps) (c->addend + column + v * COLUMNS));

      f = V (min_ps) (V (max_ps) (f, V (set1_ps) (c->least)), V (set1_ps) (c->most));
      sum[v] = V (cvtps_epi32) (f);
    }
  if (kind != CLEAVE_QDQ_CONSTANT)
    margin = V (adds_epu16) (
        margin, V (mulhi_epu16) (V (set1_epi32) ((gint32) norm), WORDS (c->by_norm + column)));
  if (kind == CLEAVE_QDQ_GROWTH)
    margin = V (adds_epu16) (margin, growth);
  doubt =
      V (cmplt_epu16_mask) (V (abs_epi16) (V (permutex2var_epi16) (sum[0], order, sum[1])), margin);
  return vectors == 2 ? doubt : doubt & ((1u << (sizeof (VECTOR) / 4)) - 1);
}
