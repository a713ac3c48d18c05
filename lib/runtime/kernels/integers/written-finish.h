/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From sums to bytes, with those that are in doubt (written.h), for vectors of any width.  What
 * includes this says which: NAME(), V() and the types, with WORDS() that loads the 16 bits of each
 * column of two vectors of floats, and COLUMNS, the step from the one to the other. */

/* Of two vectors the lower 16 bits of each lane, or the upper ones. */
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

/* Two vectors of sums become whole numbers, whose upper 16 bits are the byte, with its sign; or
 * only the first of them. */
static inline __attribute__ ((always_inline)) guint32
NAME (finish_written) (const CleaveWrittenColumns *c,
                       gint64 column,
                       CleaveWrittenKind kind,
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
  if (kind != CLEAVE_WRITTEN_CONSTANT)
    margin = V (adds_epu16) (
        margin, V (mulhi_epu16) (V (set1_epi32) ((gint32) norm), WORDS (c->by_norm + column)));
  if (kind == CLEAVE_WRITTEN_GROWTH)
    margin = V (adds_epu16) (margin, growth);
  doubt =
      V (cmplt_epu16_mask) (V (abs_epi16) (V (permutex2var_epi16) (sum[0], order, sum[1])), margin);
  return vectors == 2 ? doubt : doubt & ((1u << (sizeof (VECTOR) / 4)) - 1);
}
