/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The stages of a site, done to vectors in registers.  The bits are those of the followers' own
 * loops. */

#include <math.h>

#include "level.h"
#include "vector.h"

typedef struct
{
  guint n;
  const CleaveFollower *followers;
  const float *y;       /* the first element of the result */
  gboolean by_channels; /* vectors must not go beyond a pixel */
} CleaveStages;

static inline CleaveStages
cleave_stages_of (const CleaveSite *site)
{
  CleaveStages stages = { site->n_stages, site->followers, site->results[0].data, FALSE };

  for (guint s = 0; s < stages.n; s++)
    if (stages.followers[s].stage.op == CLEAVE_STAGE_NORMALISE)
      stages.by_channels = TRUE;
  return stages;
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

/* Some vectors of `pixels`, which begin `step` apart, each with `columns` of them.  `some`: of a
 * single vector, only the first m elements are read. */
typedef struct
{
  const float *y; /* where they will lie */
  gint64 step, column[4], m;
  gboolean some;
  gboolean paired; /* columns are those of two pixels of a vector and a half, one after the other */
} CleaveStaged;

static CLEAVE_SPECIALISED CleaveVector
cleave_staged_load (const CleaveStaged *at, const float *from)
{
  return at->some ? cleave_vector_load_some (from, (int) at->m) : cleave_vector_load (from);
}

/* A vector of what there is one of for each channel. */
static CLEAVE_SPECIALISED CleaveVector
cleave_staged_load_channels (const CleaveStaged *at, const float *from, int c)
{
  const gint64 n = CLEAVE_VECTOR + CLEAVE_HALF;

  if (!at->paired || at->column[c] + CLEAVE_VECTOR <= n)
    return cleave_staged_load (at, from + at->column[c]);
  if (at->column[c] < n)
    return cleave_vector_load_halves (from + at->column[c], from);
  return cleave_vector_load (from + at->column[c] - n);
}

/* Pixels times vectors, at most. */
#define CLEAVE_MAX_STAGED 36

/* clang-format off */
#define CLEAVE_STAGE_ALL(result)                                                                   \
  CLEAVE_EACH (p, pixels)                                                                          \
    CLEAVE_EACH (c, vectors)                                                                       \
      {                                                                                            \
        const CleaveVector v = sum[p * vectors + c];                                               \
                                                                                                   \
        sum[p * vectors + c] = result;                                                             \
      }
#define CLEAVE_STAGE_W cleave_staged_load (at, w + p * at->step + at->column[c])
/* `result`, of V and W, W being one value for all or what lies there. */
#define CLEAVE_STAGE_FAST(result)                                                                  \
  if (stage->w_is_one)                                                                             \
    {                                                                                              \
      const CleaveVector one = cleave_vector_all (*w);                                             \
                                                                                                   \
      CLEAVE_STAGE_ALL (result (v, one));                                                          \
    }                                                                                              \
  else                                                                                             \
    CLEAVE_STAGE_ALL (result (v, CLEAVE_STAGE_W))
#define CLEAVE_STAGE_ADD(v, w) ((v) + (w))
#define CLEAVE_STAGE_MUL(v, w) ((v) * (w))
#define CLEAVE_STAGE_SUB(v, w) ((v) - (w))
#define CLEAVE_STAGE_DIV(v, w) ((v) / (w))
/* clang-format on */

static CLEAVE_SPECIALISED void
cleave_stage_do_clip (const CleaveEpilogue *stage, int pixels, int vectors, CleaveVector *sum)
{
  const gboolean is_relu = stage->op == CLEAVE_STAGE_RELU;
  const CleaveVector least = cleave_vector_all (is_relu ? 0 : stage->least);
  const CleaveVector most = cleave_vector_all (is_relu ? INFINITY : stage->most);

  CLEAVE_STAGE_ALL (cleave_vector_at_most (cleave_vector_at_least (v, least), most));
}

/* `pixels` and `vectors` are known to the compiler, which makes a copy for each: what is common
 * stays in registers. */
static CLEAVE_SPECIALISED void
cleave_stage_do (const CleaveEpilogue *stage,
                 const float *w,
                 const CleaveStaged *at,
                 int pixels,
                 int vectors,
                 CleaveVector *sum)
{
  switch (stage->op)
    {
    case CLEAVE_STAGE_RELU:
    case CLEAVE_STAGE_CLIP:
      cleave_stage_do_clip (stage, pixels, vectors, sum);
      break;
    case CLEAVE_STAGE_ADD:
      CLEAVE_STAGE_FAST (CLEAVE_STAGE_ADD);
      break;
    case CLEAVE_STAGE_MUL:
      CLEAVE_STAGE_FAST (CLEAVE_STAGE_MUL);
      break;
    case CLEAVE_STAGE_SUB:
      CLEAVE_STAGE_FAST (CLEAVE_STAGE_SUB);
      break;
    case CLEAVE_STAGE_DIV:
      CLEAVE_STAGE_FAST (CLEAVE_STAGE_DIV);
      break;
    case CLEAVE_STAGE_NORMALISE:
    case CLEAVE_STAGE_NONE:
      break;
    }
}

/* `channel`: that of the first element. */
static CLEAVE_SPECIALISED void
cleave_stage_normalise (const CleaveEpilogue *stage,
                        gint64 channel,
                        const CleaveStaged *at,
                        int pixels,
                        int vectors,
                        CleaveVector *sum)
{
  CLEAVE_EACH (c, vectors)
    {
      const CleaveVector mean = cleave_staged_load_channels (at, stage->mean + channel, c);
      const CleaveVector factor = cleave_staged_load_channels (at, stage->factor + channel, c);
      const CleaveVector b = cleave_staged_load_channels (at, stage->b + channel, c);

      CLEAVE_EACH (p, pixels)
        sum[p * vectors + c] = cleave_vector_fma (sum[p * vectors + c] - mean, factor, b);
    }
}

/* Where W lies: along with the result, or what was there before the detour. */
static CLEAVE_SPECIALISED CleaveStaged
cleave_staged_find (const CleaveEpilogue *stage, const CleaveStaged *at, int vectors)
{
  CleaveStaged found = *at;

  if (stage->w_is_before)
    {
      found.step = vectors * CLEAVE_VECTOR;
      CLEAVE_EACH (c, 4)
        found.column[c] = c * CLEAVE_VECTOR;
    }
  return found;
}

static CLEAVE_SPECIALISED void
cleave_stages_do (
    const CleaveStages *stages, const CleaveStaged *at, int pixels, int vectors, CleaveVector *sum)
{
  float before[CLEAVE_MAX_STAGED * CLEAVE_VECTOR];

  for (guint s = 0; s < stages->n; s++)
    {
      const CleaveEpilogue *stage = &stages->followers[s].stage;
      const CleaveStaged found = cleave_staged_find (stage, at, vectors);
      const float *w = stages->followers[s].site->operands[stage->w].data;

      if (stage->begins_detour)
        CLEAVE_EACH (i, pixels * vectors)
          cleave_vector_store (before + i * CLEAVE_VECTOR, sum[i]);
      if (stage->w_is_before)
        w = before;
      else if (!stage->w_is_one)
        w += at->y - stages->y;
      if (stage->op == CLEAVE_STAGE_NORMALISE)
        cleave_stage_normalise (stage, (at->y - stages->y) % stage->pixel, at, pixels, vectors,
                                sum);
      else
        cleave_stage_do (stage, w, &found, pixels, vectors, sum);
    }
}
