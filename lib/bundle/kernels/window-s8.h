/* SPDX-License-Identifier: 0BSD */

/* The parts that are common to all convolutions of int8 (conv-s8.c, depthwise-s8.c): the position
 * of windows in a ring, and the scaling of sums. Sums are unsigned, since unsigned overflow is
 * defined. */

#ifdef CLEAVE_MVE
#include <arm_mve.h>
#endif

/* 1 if a layer of the model has scales in fixed point, as in TensorFlow Lite. If it is 0, compilers
 * leave out the code for these scales. */
#ifdef CLEAVE_FIXED_SCALES
#define WINDOW_S8_HAS_FIXED 1
#else
#define WINDOW_S8_HAS_FIXED 0
#endif

/* The windows of all pixels in a row of the result. */
typedef struct
{
  const CleaveConvS8 *p;
  const int8_t *weights; /* the weights, which follow the integers and bytes of p->sums */
  const int8_t *x;       /* address of column 0 in slot 0 of the operand */
  CleaveTapCount row_begin, row_end; /* rows of the kernel that read data, not padding */
  /* offset in bytes, from slot 0, of the operand row that kernel row `row_begin` reads */
  uint32_t row;
  uint32_t row_step; /* distance in bytes of the operand rows that two adjacent kernel rows
                      * read */
  uint32_t ring;     /* bytes of all slots together */
  int32_t first;     /* column in the operand that the window's first tap reads */
  int32_t pixel;     /* bytes of a pixel of the operand */
} WindowS8;

static void
window_s8_begin (WindowS8 *s, const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const int32_t first = call->row * slide->stride[0] - slide->pad[0];
  const CleaveTaps rows = cleave_taps (slide, 0, first);
  const int32_t channels = p->out * p->groups;

  s->p = p;
  s->weights = (const int8_t *) (p->sums + 2 * channels + (channels + 3) / 4);
  s->row_begin = (CleaveTapCount) rows.begin;
  s->row_end = (CleaveTapCount) rows.end;
  s->row_step = slide->dilation[0] * x->row_bytes;
  s->ring = (uint32_t) x->capacity * x->row_bytes;
  s->row =
      (uint32_t) ((const unsigned char *) cleave_row (x, first + rows.begin * slide->dilation[0]) -
                  x->data);
  s->first = call->begin * slide->stride[1] - slide->pad[1];
  s->pixel = p->in * p->groups;
  s->x = (const int8_t *) x->data - x->begin * s->pixel;
}

/* Returns whether row k of the kernel reads data, not padding. */
static inline int
window_s8_has_row (const WindowS8 *s, int32_t k)
{
  return k >= s->row_begin && k < s->row_end;
}

/* Returns the offset, in bytes from slot 0 of the operand, of the operand row that row k + 1 of the
 * kernel reads. `row` is the offset of the operand row that row k of the kernel reads. */
static inline uint32_t
window_s8_next_row (const WindowS8 *s, uint32_t row)
{
  row += s->row_step;
  return row >= s->ring ? row - s->ring : row;
}

/* Returns round (x * multiplier / 2^32), ties toward plus infinity. */
static inline int32_t
window_s8_multiply (int32_t x, int32_t multiplier)
{
#ifdef CLEAVE_DSP
  int32_t product;

  __asm__("smmulr %0, %1, %2" : "=r"(product) : "r"(x), "r"(multiplier));
  return product;
#else
  return (int32_t) (((int64_t) x * multiplier + ((int64_t) 1 << 31)) >> 32);
#endif
}

/* Returns x / 2, rounded down and clamped to the range of int8. */
static inline int32_t
window_s8_halve (int32_t x)
{
#ifdef CLEAVE_DSP
  __asm__("ssat %0, #8, %0, asr #1" : "+r"(x));
  return x;
#else
  return cleave_clamp (x >> 1, INT8_MIN, INT8_MAX);
#endif
}

/* Returns an element of the result for a channel whose sum is not multiplied by 2 before it is
 * scaled. `shift` is the right shift minus 64, as in the table p->sums. `sum` includes the initial
 * value. */
static CLEAVE_APART int32_t
window_s8_scale_any (const CleaveConvS8 *p, uint32_t sum, int32_t multiplier, int32_t shift)
{
  return cleave_clamp (cleave_scale (sum, multiplier, shift + 64) + p->y_zero, p->low, p->high);
}

/* Returns an element of the result for a channel whose sum is multiplied by 2 before it is scaled.
 * `sum` does not include the initial value; `start` is the initial value times 2. `zero` is 2 *
 * y_zero + 1. */
static inline int32_t
window_s8_scale_twice (
    uint32_t sum, uint32_t start, int32_t multiplier, int32_t shift, int32_t zero)
{
  int32_t x = window_s8_multiply ((int32_t) (2 * sum + start), multiplier);

  x -= x < 0;
  return window_s8_halve ((x >> shift) + zero);
}

/* Returns an element of the result. `start`, `multiplier` and `shift` are the channel's constants.
 * `zero` is 2 * y_zero + 1. */
static inline int32_t
window_s8_scale (const CleaveConvS8 *p,
                 uint32_t sum,
                 uint32_t start,
                 int32_t multiplier,
                 int32_t shift,
                 int32_t zero)
{
#ifdef CLEAVE_FLOAT_SCALES
  if (!WINDOW_S8_HAS_FIXED || shift == INT8_MAX)
    {
      const int32_t x = cleave_scale_float ((int32_t) (sum + start), multiplier);

      return cleave_clamp (x + p->y_zero, p->low, p->high);
    }
#endif
  if (shift < 0)
    return window_s8_scale_any (p, sum + start, multiplier, shift);
  return window_s8_scale_twice (sum, start, multiplier, shift, zero);
}

#ifdef CLEAVE_MVE
/* 1 if the processor has vectors of floats. */
#define WINDOW_S8_HAS_VECTORS_OF_FLOATS (__ARM_FEATURE_MVE & 2)

/* Returns whether window_s8_scale_four() can scale four channels of a layer. */
static inline int
window_s8_can_scale_four (const CleaveConvS8 *p, const int8_t *shifts)
{
#if defined CLEAVE_FLOAT_SCALES && WINDOW_S8_HAS_VECTORS_OF_FLOATS
  if (!WINDOW_S8_HAS_FIXED || *shifts == INT8_MAX)
    return 1;
#endif
  (void) shifts;
  return WINDOW_S8_HAS_FIXED && p->is_doubled;
}

/* Scales the sums of four channels as window_s8_scale() does, and stores the results at y.
 * `scales`, `shifts`: the constants of the channels. */
static inline void
window_s8_scale_four (const CleaveConvS8 *p,
                      const uint32_t *sum,
                      const int32_t *scales,
                      const int8_t *shifts,
                      int8_t *y)
{
  const int32x4x2_t constants = vld2q_s32 (scales); /* initial values, and multipliers */
  int32x4_t x = vreinterpretq_s32_u32 (vldrwq_u32 (sum));

#if defined CLEAVE_FLOAT_SCALES && WINDOW_S8_HAS_VECTORS_OF_FLOATS
  if (!WINDOW_S8_HAS_FIXED || *shifts == INT8_MAX)
    {
      const float32x4_t scale = vreinterpretq_f32_s32 (constants.val[1]);
      const float32x4_t product =
          vmulq_f32 (vcvtq_f32_s32 (vaddq_s32 (x, constants.val[0])), scale);

      x = vreinterpretq_s32_f32 (vaddq_n_f32 (product, CLEAVE_MAGIC));
      x = vsubq_n_s32 (vmaxq_s32 (x, vdupq_n_s32 (0)), CLEAVE_MAGIC_BITS);
      x = vaddq_n_s32 (x, p->y_zero);
      x = vminq_s32 (vmaxq_s32 (x, vdupq_n_s32 (p->low)), vdupq_n_s32 (p->high));
      vstrbq_s32 (y, x);
      return;
    }
#endif
  x = vrmulhq_s32 (vaddq_s32 (vaddq_s32 (x, x), constants.val[0]), constants.val[1]);
  x = vaddq_s32 (x, vshrq_n_s32 (x, 31));
  x = vaddq_n_s32 (vrshlq_s32 (x, vmvnq_s32 (vldrbq_s32 (shifts))), p->y_zero);
  x = vminq_s32 (vmaxq_s32 (x, vdupq_n_s32 (INT8_MIN)), vdupq_n_s32 (INT8_MAX));
  vstrbq_s32 (y, x);
}
#endif

/* Scales the sums of n channels from `channel` on, and stores them in the pixel at `y`. If `other`
 * is not 0, sum[4], sum[5] and so on are the sums of the same channels for a second pixel. Then
 * also scales these sums, and stores them in the pixel `other` bytes after `y`. */
static CLEAVE_APART void
window_s8_store (
    const WindowS8 *s, int32_t channel, const uint32_t *sum, int32_t n, int8_t *y, int32_t other)
{
  const CleaveConvS8 *const p = s->p;
  const int32_t zero = 2 * p->y_zero + 1;
  const int32_t *scales = p->sums + 2 * channel;
  const int8_t *shifts = (const int8_t *) (p->sums + 2 * p->out * p->groups) + channel;

  y += channel;
#ifdef CLEAVE_MVE
  if (n == 4 && window_s8_can_scale_four (p, shifts))
    {
      window_s8_scale_four (p, sum, scales, shifts, y);
      if (other != 0)
        window_s8_scale_four (p, sum + 4, scales, shifts, y + other);
      return;
    }
#endif
#if !CLEAVE_IS_SMALL
  if (WINDOW_S8_HAS_FIXED && p->is_doubled)
    {
      for (const int32_t *const end = scales + 2 * n; scales != end;)
        {
          const uint32_t start = (uint32_t) *scales++;
          const int32_t multiplier = *scales++, shift = *shifts++;

          if (other != 0)
            y[other] = (int8_t) window_s8_scale_twice (sum[4], start, multiplier, shift, zero);
          *y++ = (int8_t) window_s8_scale_twice (*sum++, start, multiplier, shift, zero);
        }
      return;
    }
#endif
  for (const uint32_t *const end = sum + n; sum != end; sum++)
    {
      const uint32_t start = (uint32_t) *scales++;
      const int32_t multiplier = *scales++, shift = *shifts++;

      *y = (int8_t) window_s8_scale (p, sum[0], start, multiplier, shift, zero);
      if (other != 0)
        y[other] = (int8_t) window_s8_scale (p, sum[4], start, multiplier, shift, zero);
      y++;
    }
}
