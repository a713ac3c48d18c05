/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From sums to bytes, less the zero point, with the lanes that are in doubt (written.h), for
 * vectors of any width.  What includes this says which: NAME(), V() and the types, MASK for vectors
 * of floats. */

/* With CLEAVE_WRITTEN_GROWTH the error that the result itself adds is part of the margin. */
static inline __attribute__ ((always_inline)) MASK
NAME (finish_written) (const CleaveWrittenColumns *c,
                       gint64 column,
                       CleaveWrittenKind kind,
                       VECTOR growth,
                       float norm,
                       VECTOR *sum)
{
  const FLOATS sign = V (set1_ps) (-0.0f);
  FLOATS f = V (fmadd_ps) (V (cvtepi32_ps) (*sum), V (loadu_ps) (c->factor + column),
                           V (loadu_ps) (c->addend + column));
  FLOATS whole, doubt;

  f = V (min_ps) (V (max_ps) (f, V (set1_ps) (c->least)), V (set1_ps) (c->most));
  whole = V (roundscale_ps) (f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  doubt = V (andnot_ps) (sign, V (sub_ps) (f, whole));
  if (kind == CLEAVE_WRITTEN_GROWTH)
    doubt = V (fmadd_ps) (V (cvtepi32_ps) (growth), V (loadu_ps) (c->by_growth + column), doubt);
  else
    doubt = V (fmadd_ps) (V (andnot_ps) (sign, f), V (set1_ps) (c->by_value), doubt);
  if (kind != CLEAVE_WRITTEN_CONSTANT)
    doubt = V (fmadd_ps) (V (set1_ps) (norm), V (loadu_ps) (c->by_norm + column), doubt);
  *sum = V (cvtps_epi32) (whole);
  return V (cmp_ps_mask) (doubt, V (loadu_ps) (c->margin + column), _CMP_GT_OQ);
}
