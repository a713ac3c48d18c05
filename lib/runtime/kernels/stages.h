/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The stages of a site, done to vectors in registers.  The bits are those of the followers' own
 * loops, those of NaNs included. */

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

/* `pixels` and `vectors` are known to the compiler. */
/* clang-format off */
#define CLEAVE_STAGE_EACH(result)                                                                  \
  _Pragma ("GCC unroll 16")                                                                        \
  for (int p = 0; p < pixels; p++)                                                                 \
    _Pragma ("GCC unroll 16")                                                                      \
    for (int c = 0; c < vectors; c++)                                                              \
      {                                                                                            \
        const CleaveVector v = sum[p * vectors + c];                                               \
                                                                                                   \
        sum[p * vectors + c] = result;                                                             \
      }                                                                                            \
  break
#define CLEAVE_STAGE_W                                                                             \
  (stage->w_is_one ? one : cleave_staged_load (at, w + p * at->step + at->column[c]))

static CLEAVE_SPECIALISED void
cleave_stages_do (const CleaveStages *stages, const CleaveStaged *at, int pixels, int vectors, CleaveVector *sum)
{
  const CleaveVector zero = { 0 };

  for (guint s = 0; s < stages->n; s++)
    {
      const CleaveStage *stage = &stages->followers[s].stage;
      const float *w = stages->followers[s].site->operands[stage->w].data;
      const CleaveVector one = cleave_vector_all (stage->w_is_one ? *w : 0);
      const CleaveVector least = cleave_vector_all (stage->least), most = cleave_vector_all (stage->most);

      w += stage->w_is_one ? 0 : at->y - stages->y;
      switch (stage->op)
        {
        case CLEAVE_STAGE_RELU:
          CLEAVE_STAGE_EACH (cleave_vector_at_least (v, zero));
        case CLEAVE_STAGE_CLIP:
          CLEAVE_STAGE_EACH (cleave_vector_at_most (cleave_vector_at_least (v, least), most));
        case CLEAVE_STAGE_ADD:
          CLEAVE_STAGE_EACH (cleave_vector_add (v, CLEAVE_STAGE_W));
        case CLEAVE_STAGE_ADD_TO:
          CLEAVE_STAGE_EACH (cleave_vector_add (CLEAVE_STAGE_W, v));
        case CLEAVE_STAGE_SUB:
          CLEAVE_STAGE_EACH (v - CLEAVE_STAGE_W);
        case CLEAVE_STAGE_MUL:
          CLEAVE_STAGE_EACH (cleave_vector_mul (v, CLEAVE_STAGE_W));
        case CLEAVE_STAGE_MUL_TO:
          CLEAVE_STAGE_EACH (cleave_vector_mul (CLEAVE_STAGE_W, v));
        case CLEAVE_STAGE_DIV:
          CLEAVE_STAGE_EACH (v / CLEAVE_STAGE_W);
        case CLEAVE_STAGE_NONE:
          break;
        }
    }
}
/* clang-format on */
