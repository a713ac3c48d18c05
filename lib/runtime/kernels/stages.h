/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The stages of a site, done to vectors in registers.  The bits are those of the followers' own
 * loops, those of NaNs included. */

#include <math.h>

#include "level.h"
#include "vector.h"

typedef struct
{
  guint n;
  const CleaveFollower *followers;
  const float *y; /* the first element of the result */
} CleaveStages;

static inline CleaveStages
cleave_stages_of (const CleaveSite *site)
{
  return (CleaveStages){ cleave_site_n_stages (site), site->followers, site->results[0].data };
}

/* The greater one, but v where either is a NaN or both are zeros. */
static inline CleaveVector
cleave_vector_at_least (CleaveVector v, CleaveVector least)
{
#if defined(__AVX512F__)
  return _mm512_max_ps (least, v);
#elif defined(__FMA__)
  return _mm256_max_ps (least, v);
#else
  return cleave_vector_select (v < least, least, v);
#endif
}

static inline CleaveVector
cleave_vector_at_most (CleaveVector v, CleaveVector most)
{
#if defined(__AVX512F__)
  return _mm512_min_ps (most, v);
#elif defined(__FMA__)
  return _mm256_min_ps (most, v);
#else
  return cleave_vector_select (v > most, most, v);
#endif
}

/* Of two NaNs the first. */
static inline CleaveVector
cleave_vector_add (CleaveVector a, CleaveVector b)
{
  return cleave_vector_select (a != a, a, a + b);
}

static inline CleaveVector
cleave_vector_mul (CleaveVector a, CleaveVector b)
{
  return cleave_vector_select (a != a, a, a * b);
}

/* Some vectors of `pixels`, which begin `step` apart, each with `columns` of them.  `some`: of a
 * single vector, only the first m elements are read. */
typedef struct
{
  const float *y; /* where they will lie */
  gint64 step, column[4], m;
  gboolean some;
} CleaveStaged;

static CLEAVE_SPECIALISED CleaveVector
cleave_staged_load (const CleaveStaged *at, const float *from)
{
  float values[CLEAVE_VECTOR] = { 0 };

  if (!at->some)
    return cleave_vector_load (from);
  for (gint64 j = 0; j < at->m; j++)
    values[j] = from[j];
  return cleave_vector_load (values);
}

/* Pixels times vectors, at most. */
#define CLEAVE_MAX_STAGED 36

/* clang-format off */
#define CLEAVE_STAGE_EACH(unroll, result)                                                          \
  _Pragma (unroll)                                                                                 \
  for (int p = 0; p < pixels; p++)                                                                 \
    _Pragma (unroll)                                                                               \
    for (int c = 0; c < vectors; c++)                                                              \
      {                                                                                            \
        const CleaveVector v = sum[p * vectors + c];                                               \
                                                                                                   \
        sum[p * vectors + c] = result;                                                             \
      }
#define CLEAVE_STAGE_ALL(result) CLEAVE_STAGE_EACH (CLEAVE_UNROLL, result)
#define CLEAVE_STAGE_SOME(result) CLEAVE_STAGE_EACH ("GCC unroll 1", result) break
#define CLEAVE_STAGE_W cleave_staged_load (at, w + p * at->step + at->column[c])
#define CLEAVE_STAGE_W_OR_ONE (stage->w_is_one ? one : CLEAVE_STAGE_W)
/* clang-format on */

/* The stages that few models have, one copy for all numbers of pixels and vectors. */
static __attribute__ ((noinline, unused)) void
cleave_stage_do_rare (const CleaveStage *stage,
                      const float *w,
                      const CleaveStaged *at,
                      int pixels,
                      int vectors,
                      CleaveVector *sum)
{
  const CleaveVector one = cleave_vector_all (stage->w_is_one ? *w : 0);

  switch (stage->op)
    {
    case CLEAVE_STAGE_ADD_TO: /* with W it is not rare */
      CLEAVE_STAGE_SOME (cleave_vector_add (CLEAVE_STAGE_W_OR_ONE, v));
    case CLEAVE_STAGE_SUB:
      CLEAVE_STAGE_SOME (v - CLEAVE_STAGE_W_OR_ONE);
    case CLEAVE_STAGE_MUL_TO:
      CLEAVE_STAGE_SOME (cleave_vector_mul (CLEAVE_STAGE_W_OR_ONE, v));
    case CLEAVE_STAGE_DIV:
      CLEAVE_STAGE_SOME (v / CLEAVE_STAGE_W_OR_ONE);
    case CLEAVE_STAGE_ADD: /* is not rare */
    case CLEAVE_STAGE_MUL:
    case CLEAVE_STAGE_RELU:
    case CLEAVE_STAGE_CLIP:
    case CLEAVE_STAGE_NONE:
      break;
    }
}

/* `pixels` and `vectors` are known to the compiler, which makes a copy for each: what is common
 * stays in registers. */
static CLEAVE_SPECIALISED void
cleave_stage_do (const CleaveStage *stage,
                 const float *w,
                 const CleaveStaged *at,
                 int pixels,
                 int vectors,
                 CleaveVector *sum)
{
  const gboolean is_add = stage->op == CLEAVE_STAGE_ADD, is_mul = stage->op == CLEAVE_STAGE_MUL;
  CleaveVector kept[CLEAVE_MAX_STAGED];

  if (stage->op == CLEAVE_STAGE_RELU || stage->op == CLEAVE_STAGE_CLIP)
    {
      const gboolean is_relu = stage->op == CLEAVE_STAGE_RELU;
      const CleaveVector least = cleave_vector_all (is_relu ? 0 : stage->least);
      const CleaveVector most = cleave_vector_all (is_relu ? INFINITY : stage->most);

      CLEAVE_STAGE_ALL (cleave_vector_at_most (cleave_vector_at_least (v, least), most));
    }
  else if (is_add && !stage->w_is_one)
    {
      CLEAVE_STAGE_ALL (cleave_vector_add (v, CLEAVE_STAGE_W));
    }
  else if (stage->op == CLEAVE_STAGE_ADD_TO && !stage->w_is_one)
    {
      CLEAVE_STAGE_ALL (cleave_vector_add (CLEAVE_STAGE_W, v));
    }
  else if (is_mul && !stage->w_is_one)
    {
      CLEAVE_STAGE_ALL (cleave_vector_mul (v, CLEAVE_STAGE_W));
    }
  else if (is_add)
    {
      const CleaveVector one = cleave_vector_all (*w);

      CLEAVE_STAGE_ALL (cleave_vector_add (v, one));
    }
  else if (is_mul)
    {
      const CleaveVector one = cleave_vector_all (*w);

      CLEAVE_STAGE_ALL (cleave_vector_mul (v, one));
    }
  else
    {
      for (int i = 0; i < pixels * vectors; i++)
        kept[i] = sum[i];
      cleave_stage_do_rare (stage, w, at, pixels, vectors, kept);
      for (int i = 0; i < pixels * vectors; i++)
        sum[i] = kept[i];
    }
}

static CLEAVE_SPECIALISED void
cleave_stages_do (
    const CleaveStages *stages, const CleaveStaged *at, int pixels, int vectors, CleaveVector *sum)
{
  for (guint s = 0; s < stages->n; s++)
    {
      const CleaveStage *stage = &stages->followers[s].stage;
      const float *w = stages->followers[s].site->operands[stage->w].data;

      cleave_stage_do (stage, stage->w_is_one ? w : w + (at->y - stages->y), at, pixels, vectors,
                       sum);
    }
}
