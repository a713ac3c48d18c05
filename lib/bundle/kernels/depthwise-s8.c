/* SPDX-License-Identifier: 0BSD */

/* Depthwise convolution of int8 with at least four channels: each channel of the result is a sum
 * over one channel of x minus x_zero; padding is skipped. The weights are w[row][column][channel].
 * Four channels (a block) are computed together. If the number of channels is no multiple of four,
 * the last two blocks overlap. */

#include "cleave-kernels.h"
#include "window-s8.h"

/* DEPTHWISE_S8_SUMS defines the sums of four channels. DEPTHWISE_S8_STEP adds the products of one
 * tap. DEPTHWISE_S8_STORE stores the sums. */
#ifdef CLEAVE_MVE
#define DEPTHWISE_S8_SUMS int32x4_t sums = vdupq_n_s32 (0);
#define DEPTHWISE_S8_STEP(from, w)                                                                 \
  sums = vaddq_s32 (sums, vmulq_s32 (vaddq_n_s32 (vldrbq_s32 (from), zeros), vldrbq_s32 (w)));
#define DEPTHWISE_S8_STORE(to) vstrwq_u32 (to, vreinterpretq_u32_s32 (sums));
#else
#define DEPTHWISE_S8_SUMS int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#define DEPTHWISE_S8_STORE(to)                                                                     \
  (to)[0] = (uint32_t) s0;                                                                         \
  (to)[1] = (uint32_t) s1;                                                                         \
  (to)[2] = (uint32_t) s2;                                                                         \
  (to)[3] = (uint32_t) s3;
#ifdef CLEAVE_DSP
#define DEPTHWISE_S8_STEP(from, w)                                                                 \
  {                                                                                                \
    int32_t a, b, u, v;                                                                            \
                                                                                                   \
    memcpy (&a, from, sizeof a);                                                                   \
    memcpy (&u, w, sizeof u);                                                                      \
    __asm__("sxtab16 %4, %8, %5\n\tsxtb16 %7, %6\n\t"                                              \
            "sxtab16 %5, %8, %5, ror #8\n\tsxtb16 %6, %6, ror #8\n\t"                              \
            "smlabb %0, %4, %7, %0\n\tsmlatt %2, %4, %7, %2\n\t"                                   \
            "smlabb %1, %5, %6, %1\n\tsmlatt %3, %5, %6, %3"                                       \
            : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3), "=&r"(b), "+r"(a), "+r"(u), "=&r"(v)         \
            : "r"(zeros));                                                                         \
  }
#else
#define DEPTHWISE_S8_STEP(from, w)                                                                 \
  {                                                                                                \
    const int8_t *const a = from, *const b = w;                                                    \
                                                                                                   \
    s0 += (a[0] + zeros) * b[0];                                                                   \
    s1 += (a[1] + zeros) * b[1];                                                                   \
    s2 += (a[2] + zeros) * b[2];                                                                   \
    s3 += (a[3] + zeros) * b[3];                                                                   \
  }
#endif
#endif

/* The windows of all channels of a pixel of the result. */
typedef struct
{
  WindowS8 window;
  const int8_t *x, *w; /* x: address, in slot 0 of the operand, of the element of channel 0 that the
                        * first tap with data reads; w: address of the weights of this tap */
  int32_t taps;        /* number of taps, in each row of the kernel, that read data and not
                        * padding */
  int32_t step, skip;  /* step: distance in bytes of the elements of x that two adjacent taps read.
                        * skip: number of bytes to skip in each row of the kernel: the weights of
                        * the taps that lie on padding */
  int32_t zeros;       /* -x_zero; with DSP instructions and without Helium, in both halves of the
                          word */
} DepthwiseS8;

/* Prepares the sums of a pixel: finds the taps that read data, and the addresses of their elements
 * and weights. window.first: column of the operand at which the pixel's windows begin. */
static void
depthwise_s8_begin (DepthwiseS8 *s)
{
  const CleaveConvS8 *p = s->window.p;
  const CleaveTaps taps = cleave_taps (&p->slide, 1, s->window.first);
  const int32_t channels = p->groups;

  s->taps = taps.end - taps.begin;
  s->step = channels * p->slide.dilation[1];
  s->skip = (p->slide.kernel[1] - s->taps) * channels;
  s->x = s->window.x + s->window.first * channels + taps.begin * s->step;
  s->w = s->window.weights + (s->window.row_begin * p->slide.kernel[1] + taps.begin) * channels;
}

/* Computes the sums of four channels of a pixel. */
static CLEAVE_APART void
depthwise_s8_compute (const DepthwiseS8 *s, int32_t channel, uint32_t *sum)
{
  const int32_t channels = s->window.p->groups, step = s->step, zeros = s->zeros;
  const int8_t *x = s->x + channel, *w = s->w + channel;
  uint32_t row = s->window.row;
  DEPTHWISE_S8_SUMS

  for (int32_t rows = s->window.row_end - s->window.row_begin; rows > 0; rows--)
    {
      const int8_t *from = x + row, *end = w + s->taps * channels;

      /* For three taps, this code without a loop runs 25 % fewer instructions than the loop. */
      if (!CLEAVE_IS_SMALL && s->taps == 3)
        {
          DEPTHWISE_S8_STEP (from, w)
          DEPTHWISE_S8_STEP (from + step, w + channels)
          DEPTHWISE_S8_STEP (from + 2 * step, w + 2 * channels)
          w = end;
        }
      while (w != end)
        {
          DEPTHWISE_S8_STEP (from, w)
          from += step;
          w += channels;
        }
      w += s->skip;
      row = window_s8_next_row (&s->window, row);
    }
  DEPTHWISE_S8_STORE (sum)
}

void
cleave_depthwise_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  int8_t *y = (int8_t *) call->y;
  DepthwiseS8 s;
  uint32_t sum[4];

  window_s8_begin (&s.window, call);
  s.zeros = -p->x_zero;
#ifdef CLEAVE_DSP
#ifndef CLEAVE_MVE
  s.zeros = (int32_t) ((uint32_t) s.zeros * 0x10000u + ((uint32_t) s.zeros & 0xffffu));
#endif
#endif
  for (int32_t left = call->end - call->begin; left > 0; left--)
    {
      depthwise_s8_begin (&s);
      for (int32_t c = 0; c < p->groups; c += 4)
        {
          const int32_t channel = c + 4 > p->groups ? p->groups - 4 : c;

          depthwise_s8_compute (&s, channel, sum);
          window_s8_store (&s.window, channel, sum, 4, y, 0);
        }
      s.window.first += p->slide.stride[1];
      y += p->groups;
    }
}
