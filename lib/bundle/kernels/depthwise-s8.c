/* SPDX-License-Identifier: 0BSD */

/* Depthwise convolution of int8: each channel of the result is a sum over one channel of x. The
 * weights are w[row][column][channel].
 *
 * The sums have -x_zero times all weights, so that x is not shifted. Taps on padding read x_zero.
 */

#include "cleave-kernels.h"

typedef struct
{
  const CleaveCall *call;
  const CleaveConvS8 *p;
  int32_t row, first; /* the place of the first tap in the operand */
  CleaveTaps taps;    /* of a row of the kernel that are on no padding */
  int32_t channel;    /* first one of the block */
  int8_t padding[4];  /* x_zero */
} DepthwiseRow;

/* Returns the element of the block's first channel under tap `tap` of row `row` of the kernel, or
 * NULL if that row is padding. */
static const int8_t *
depthwise_find (const DepthwiseRow *s, int32_t row, int32_t tap)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t at = s->row + row * slide->dilation[0];
  const int32_t column = s->first + tap * slide->dilation[1] - s->call->x[0].begin;

  if (at < 0 || at >= slide->rows)
    return NULL;
  return (const int8_t *) cleave_row (&s->call->x[0], at) + column * s->p->groups + s->channel;
}

/* Scales and stores the sums of n channels. Those of a second pixel are sum[4] ... sum[7]. */
static void
depthwise_store (const DepthwiseRow *s, const int32_t *sum, int32_t n, int32_t pixels, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const int32_t low = p->low, high = p->high, zero = p->y_zero;
  const int32_t *sums = p->sums + 2 * s->channel;
  const int8_t *shifts = p->shifts + s->channel;
  int8_t *y1 = (y += s->channel) + p->groups;

  for (int32_t c = 0; c < n; c++)
    {
      const uint32_t start = (uint32_t) sums[2 * c];
      const int32_t multiplier = sums[2 * c + 1], shift = shifts[c];
      int32_t value = cleave_scale (start + (uint32_t) sum[c], multiplier, shift);

      y[c] = (int8_t) (cleave_clamp (value, low, high) + zero);
      if (pixels == 2)
        {
          value = cleave_scale (start + (uint32_t) sum[4 + c], multiplier, shift);
          y1[c] = (int8_t) (cleave_clamp (value, low, high) + zero);
        }
    }
}

/* Computes four channels of two pixels whose windows have no padding on the left and right. */
static void
depthwise_compute_2x4 (const DepthwiseRow *s, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t channels = s->p->groups;
  const int8_t *w = s->p->weights + s->channel;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  int32_t sum[8];

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      int32_t step = channels * slide->dilation[1];
      const int8_t *x0 = depthwise_find (s, k, 0), *x1;

      if (x0 != NULL)
        x1 = x0 + channels * slide->stride[1];
      else
        {
          x0 = x1 = s->padding;
          step = 0;
        }
      for (int32_t tap = slide->kernel[1]; tap > 0; tap--)
        {
          int32_t v = w[0];

          s0 += x0[0] * v;
          s4 += x1[0] * v;
          v = w[1];
          s1 += x0[1] * v;
          s5 += x1[1] * v;
          v = w[2];
          s2 += x0[2] * v;
          s6 += x1[2] * v;
          v = w[3];
          s3 += x0[3] * v;
          s7 += x1[3] * v;
          x0 += step;
          x1 += step;
          w += channels;
        }
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
  sum[4] = s4;
  sum[5] = s5;
  sum[6] = s6;
  sum[7] = s7;
  depthwise_store (s, sum, 4, 2, y);
}

/* Adds `taps` products to the sums of n channels: four, or one. */
static const int8_t *
depthwise_add (
    const DepthwiseRow *s, int32_t *sum, int32_t n, const int8_t *x, const int8_t *w, int32_t taps)
{
  const int32_t channels = s->p->groups;
  const int32_t step = x == s->padding ? 0 : channels * s->p->slide.dilation[1];
  int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

  for (; taps > 0; taps--)
    {
      s0 += x[0] * w[0];
      if (n == 4)
        {
          s1 += x[1] * w[1];
          s2 += x[2] * w[2];
          s3 += x[3] * w[3];
        }
      x += step;
      w += channels;
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
  return w;
}

/* Computes n channels of a pixel. */
static void
depthwise_compute_pixel (const DepthwiseRow *s, int32_t n, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int8_t *w = s->p->weights + s->channel;
  int32_t sum[4] = { 0, 0, 0, 0 };

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int8_t *x = depthwise_find (s, k, s->taps.begin);

      if (x == NULL)
        w = depthwise_add (s, sum, n, s->padding, w, slide->kernel[1]);
      else
        {
          w = depthwise_add (s, sum, n, s->padding, w, s->taps.begin);
          w = depthwise_add (s, sum, n, x, w, s->taps.end - s->taps.begin);
          w = depthwise_add (s, sum, n, s->padding, w, slide->kernel[1] - s->taps.end);
        }
    }
  depthwise_store (s, sum, n, 1, y);
}

/* Computes the channels of a pixel from `channel` on. */
static void
depthwise_compute_rest (DepthwiseRow *s, int32_t channel, int8_t *y)
{
  int32_t n;

  s->taps = cleave_taps (&s->p->slide, 1, s->first);
  for (s->channel = channel; s->channel < s->p->groups; s->channel += n)
    {
      n = s->channel + 4 <= s->p->groups ? 4 : 1;
      depthwise_compute_pixel (s, n, y);
    }
}

void
cleave_depthwise_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t reach = (slide->kernel[1] - 1) * slide->dilation[1] + slide->stride[1];
  DepthwiseRow s;
  int8_t *y = (int8_t *) call->y;

  s.call = call;
  s.p = p;
  s.row = call->row * slide->stride[0] - slide->pad[0];
  s.first = call->begin * slide->stride[1] - slide->pad[1];
  for (int i = 0; i < 4; i++)
    s.padding[i] = (int8_t) p->x_zero;
  for (int32_t left = call->end - call->begin; left > 0; left--)
    {
      s.channel = 0;
      if (left > 1 && s.first >= 0 && s.first + reach < slide->columns)
        {
          int32_t channel;

          for (; s.channel + 4 <= p->groups; s.channel += 4)
            depthwise_compute_2x4 (&s, y);
          channel = s.channel;
          depthwise_compute_rest (&s, channel, y);
          s.first += slide->stride[1];
          y += p->groups;
          depthwise_compute_rest (&s, channel, y);
          left--;
        }
      else
        depthwise_compute_rest (&s, 0, y);
      s.first += slide->stride[1];
      y += p->groups;
    }
}
