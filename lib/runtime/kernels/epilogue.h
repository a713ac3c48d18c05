/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Applies the epilogue ops of a kernel instance to vectors in registers, before the kernel stores
 * them. The results have the bits that the consumers' own kernels would compute. A kernel of
 * convolutions or matrix products collects the ops with cleave_epilogue_of() when a run begins, and
 * calls cleave_epilogue_do() on each block of sums. Example: Conv, Add, Relu stores each result
 * once, instead of three times. */

#include <math.h>

#include "level.h"
#include "vector.h"

typedef struct
{
  guint n;
  const CleaveFusedConsumer *fused;
  const float *y;       /* address of the first element of the result */
  gboolean by_channels; /* TRUE: a vector must not contain elements of two pixels */
  guint gate_end;       /* index of the MUL that is computed together with the function before it
                           (cleave_epilogue_is_gate()); 0: none */
} CleaveEpilogue;

/* Returns whether op s is a gate: a function f that begins an expression pattern. Op s + 1 must be
 * the product f (v) * v, and no later op may read v. Example: x * sigmoid (x). */
static inline gboolean
cleave_epilogue_is_gate (const CleaveEpilogue *epilogue, guint s)
{
  const CleaveEpilogueOp *function = &epilogue->fused[s].epilogue_op;
  const CleaveEpilogueOp *product = &epilogue->fused[s + 1].epilogue_op;

  if (function->op != CLEAVE_EPILOGUE_FUNCTION || !function->begins_pattern ||
      function->gate == NULL || product->op != CLEAVE_EPILOGUE_MUL || !product->w_is_before)
    return FALSE;
  for (s += 2; s < epilogue->n && !epilogue->fused[s].epilogue_op.begins_pattern; s++)
    if (epilogue->fused[s].epilogue_op.w_is_before)
      return FALSE;
  return TRUE;
}

static inline CleaveEpilogue
cleave_epilogue_of (const CleaveKernelInstance *instance)
{
  CleaveEpilogue epilogue = { .n = instance->n_epilogue_ops,
                              .fused = instance->fused,
                              .y = instance->results[0].data };

  for (guint s = 0; s < epilogue.n; s++)
    if (epilogue.fused[s].epilogue_op.op == CLEAVE_EPILOGUE_NORMALIZE)
      epilogue.by_channels = TRUE;
  for (guint s = 0; s + 1 < epilogue.n && epilogue.gate_end == 0; s++)
    epilogue.gate_end = cleave_epilogue_is_gate (&epilogue, s) ? s + 1 : 0;
  return epilogue;
}

/* A block: pixels with several vectors each. Pixels are `step` elements apart. Vector c begins at
 * element column[c] of its pixel. `some`: the block is one vector, of which the first m elements
 * are used. */
typedef struct
{
  const float *y; /* address at which the block will be stored */
  gint64 step, column[4], m;
  gboolean some;
  /* TRUE: the columns cover two pixels, each of which fills one and a half vectors */
  gboolean paired;
} CleaveEpilogueAt;

static CLEAVE_SPECIALISED CleaveVector
cleave_epilogue_at_load (const CleaveEpilogueAt *at, const float *from)
{
  return at->some ? cleave_vector_load_some (from, (int) at->m) : cleave_vector_load (from);
}

/* Loads numbers from an array with one number per channel: for each lane of vector c of a block,
 * the number of the lane's channel. */
static CLEAVE_SPECIALISED CleaveVector
cleave_epilogue_at_load_channels (const CleaveEpilogueAt *at, const float *from, int c)
{
  const gint64 n = CLEAVE_VECTOR + CLEAVE_HALF;

  if (!at->paired || at->column[c] + CLEAVE_VECTOR <= n)
    return cleave_epilogue_at_load (at, from + at->column[c]);
  if (at->column[c] < n)
    return cleave_vector_load_halves (from + at->column[c], from);
  return cleave_vector_load (from + at->column[c] - n);
}

/* Largest number of vectors of a block: pixels times vectors of a pixel. */
#define CLEAVE_MAX_EPILOGUE_VECTORS 36

/* clang-format off */
#define CLEAVE_EPILOGUE_ALL(result)                                                                   \
  CLEAVE_EACH (p, pixels)                                                                          \
    CLEAVE_EACH (c, vectors)                                                                       \
      {                                                                                            \
        const CleaveVector v = sum[p * vectors + c];                                               \
                                                                                                   \
        sum[p * vectors + c] = result;                                                             \
      }
#define CLEAVE_EPILOGUE_W cleave_epilogue_at_load (at, w + p * at->step + at->column[c])
/* Replaces each vector v of the block by `result (v, w)`. The operand w is a scalar or the element
 * at the same position. */
#define CLEAVE_EPILOGUE_FAST(result)                                                                  \
  if (epilogue_op->w_is_one)                                                                             \
    {                                                                                              \
      const CleaveVector one = cleave_vector_all (*w);                                             \
                                                                                                   \
      CLEAVE_EPILOGUE_ALL (result (v, one));                                                          \
    }                                                                                              \
  else                                                                                             \
    CLEAVE_EPILOGUE_ALL (result (v, CLEAVE_EPILOGUE_W))
#define CLEAVE_EPILOGUE_ADD(v, w) ((v) + (w))
#define CLEAVE_EPILOGUE_MUL(v, w) ((v) * (w))
#define CLEAVE_EPILOGUE_SUB(v, w) ((v) - (w))
#define CLEAVE_EPILOGUE_DIV(v, w) ((v) / (w))
/* clang-format on */

static CLEAVE_SPECIALISED void
cleave_epilogue_op_do_clip (const CleaveEpilogueOp *epilogue_op,
                            int pixels,
                            int vectors,
                            CleaveVector *sum)
{
  const gboolean is_relu = epilogue_op->op == CLEAVE_EPILOGUE_RELU;
  const CleaveVector least = cleave_vector_all (is_relu ? 0 : epilogue_op->least);
  const CleaveVector most = cleave_vector_all (is_relu ? INFINITY : epilogue_op->most);

  CLEAVE_EPILOGUE_ALL (cleave_vector_at_most (cleave_vector_at_least (v, least), most));
}

/* Applies the function of a fused consumer to all vectors of a block, `sum`. The function needs all
 * registers, so the vectors are stored to memory before the call and loaded after it. `gate` TRUE:
 * replaces each value v by v times the function of v. */
static CLEAVE_SPECIALISED void
cleave_epilogue_do_function (const CleaveFusedConsumer *self,
                             gboolean gate,
                             int n,
                             CleaveVector *sum)
{
  float values[CLEAVE_MAX_EPILOGUE_VECTORS * CLEAVE_VECTOR];

  CLEAVE_EACH (i, n)
    cleave_vector_store (values + i * CLEAVE_VECTOR, sum[i]);
  if (gate)
    self->epilogue_op.gate (values, n * CLEAVE_VECTOR);
  else
    self->epilogue_op.function (self, values, n * CLEAVE_VECTOR);
  CLEAVE_EACH (i, n)
    sum[i] = cleave_vector_load (values + i * CLEAVE_VECTOR);
}

/* Applies one epilogue op to a block. `pixels` and `vectors` are compile-time constants. The
 * compiler makes a copy of the function for each pair of them, in which loop-invariant values stay
 * in registers. */
static CLEAVE_SPECIALISED void
cleave_epilogue_op_do (const CleaveEpilogueOp *epilogue_op,
                       const float *w,
                       const CleaveEpilogueAt *at,
                       int pixels,
                       int vectors,
                       CleaveVector *sum)
{
  switch (epilogue_op->op)
    {
    case CLEAVE_EPILOGUE_RELU:
    case CLEAVE_EPILOGUE_CLIP:
      cleave_epilogue_op_do_clip (epilogue_op, pixels, vectors, sum);
      break;
    case CLEAVE_EPILOGUE_ADD:
      CLEAVE_EPILOGUE_FAST (CLEAVE_EPILOGUE_ADD);
      break;
    case CLEAVE_EPILOGUE_MUL:
      CLEAVE_EPILOGUE_FAST (CLEAVE_EPILOGUE_MUL);
      break;
    case CLEAVE_EPILOGUE_SUB:
      CLEAVE_EPILOGUE_FAST (CLEAVE_EPILOGUE_SUB);
      break;
    case CLEAVE_EPILOGUE_DIV:
      CLEAVE_EPILOGUE_FAST (CLEAVE_EPILOGUE_DIV);
      break;
    case CLEAVE_EPILOGUE_FUNCTION:
    case CLEAVE_EPILOGUE_NORMALIZE:
    case CLEAVE_EPILOGUE_NONE:
      break;
    }
}

/* Applies a normalization to a block. `channel` is the channel of the block's first element. */
static CLEAVE_SPECIALISED void
cleave_epilogue_op_normalize (const CleaveEpilogueOp *epilogue_op,
                              gint64 channel,
                              const CleaveEpilogueAt *at,
                              int pixels,
                              int vectors,
                              CleaveVector *sum)
{
  CLEAVE_EACH (c, vectors)
    {
      const CleaveVector mean =
          cleave_epilogue_at_load_channels (at, epilogue_op->mean + channel, c);
      const CleaveVector factor =
          cleave_epilogue_at_load_channels (at, epilogue_op->factor + channel, c);
      const CleaveVector b = cleave_epilogue_at_load_channels (at, epilogue_op->b + channel, c);

      CLEAVE_EACH (p, pixels)
        sum[p * vectors + c] = cleave_vector_fma (sum[p * vectors + c] - mean, factor, b);
    }
}

/* Returns the layout of operand w for the block `at`. Usually w has the layout of the result. But
 * if w is the value with which an expression pattern began, w is contiguous. */
static CLEAVE_SPECIALISED CleaveEpilogueAt
cleave_epilogue_at_find (const CleaveEpilogueOp *epilogue_op,
                         const CleaveEpilogueAt *at,
                         int vectors)
{
  CleaveEpilogueAt found = *at;

  if (epilogue_op->w_is_before)
    {
      found.step = vectors * CLEAVE_VECTOR;
      CLEAVE_EACH (c, 4)
        found.column[c] = c * CLEAVE_VECTOR;
    }
  return found;
}

static CLEAVE_SPECIALISED void
cleave_epilogue_do (const CleaveEpilogue *epilogue,
                    const CleaveEpilogueAt *at,
                    int pixels,
                    int vectors,
                    CleaveVector *sum)
{
  float before[CLEAVE_MAX_EPILOGUE_VECTORS * CLEAVE_VECTOR];

  for (guint s = 0; s < epilogue->n; s++)
    {
      const CleaveEpilogueOp *epilogue_op = &epilogue->fused[s].epilogue_op;
      const CleaveEpilogueAt found = cleave_epilogue_at_find (epilogue_op, at, vectors);
      const float *w = epilogue->fused[s].instance->operands[epilogue_op->w].data;
      const gboolean gate = s + 1 == epilogue->gate_end;

      if (s > 0 && s == epilogue->gate_end)
        continue;
      if (epilogue_op->begins_pattern && !gate)
        CLEAVE_EACH (i, pixels * vectors)
          cleave_vector_store (before + i * CLEAVE_VECTOR, sum[i]);
      if (epilogue_op->w_is_before)
        w = before;
      else if (!epilogue_op->w_is_one)
        w += at->y - epilogue->y;
      if (epilogue_op->op == CLEAVE_EPILOGUE_NORMALIZE)
        cleave_epilogue_op_normalize (epilogue_op, (at->y - epilogue->y) % epilogue_op->pixel, at,
                                      pixels, vectors, sum);
      else if (epilogue_op->op == CLEAVE_EPILOGUE_FUNCTION)
        cleave_epilogue_do_function (&epilogue->fused[s], gate, pixels * vectors, sum);
      else
        cleave_epilogue_op_do (epilogue_op, w, &found, pixels, vectors, sum);
    }
}
