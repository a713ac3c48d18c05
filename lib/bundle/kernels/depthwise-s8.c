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
  const int8_t *x;   /* slot 0 of the operand at column 0 */
  int32_t first;     /* column of the operand under the first tap */
  CleaveTaps rows;   /* rows of the kernel that are on no padding */
  uint32_t row;      /* bytes from slot 0 to the first of them */
  uint32_t row_step; /* bytes from one row of the kernel to the next */
  uint32_t ring;     /* bytes of all slots */
  CleaveTaps taps;   /* taps of a row of the kernel that are on no padding */
  int32_t channel;   /* first channel of the block */
  int8_t padding[4]; /* x_zero */
} DepthwiseRow;

/* Returns the bytes to the next row of the kernel. */
static inline uint32_t
depthwise_next_row (const DepthwiseRow *s, uint32_t row)
{
  row += s->row_step;
  return row >= s->ring ? row - s->ring : row;
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
  const int8_t *x = s->x + s->first * channels + s->channel;
  uint32_t row = s->row;
  int32_t sum[8];

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      int32_t step = 0;
      const int8_t *x0 = s->padding, *x1 = s->padding;

      if (k >= s->rows.begin && k < s->rows.end)
        {
          step = channels * slide->dilation[1];
          x0 = x + row;
          x1 = x0 + channels * slide->stride[1];
          row = depthwise_next_row (s, row);
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

  for (; n == 4 && taps > 0; taps--)
    {
      s0 += x[0] * w[0];
      s1 += x[1] * w[1];
      s2 += x[2] * w[2];
      s3 += x[3] * w[3];
      x += step;
      w += channels;
    }
  for (; taps > 0; taps--)
    {
      s0 += x[0] * w[0];
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
  const int32_t column = s->first + s->taps.begin * slide->dilation[1];
  const int8_t *x = s->x + column * s->p->groups + s->channel;
  uint32_t row = s->row;
  int32_t sum[4] = { 0, 0, 0, 0 };

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      if (k < s->rows.begin || k >= s->rows.end)
        {
          w = depthwise_add (s, sum, n, s->padding, w, slide->kernel[1]);
          continue;
        }
      if (s->taps.begin > 0)
        w = depthwise_add (s, sum, n, s->padding, w, s->taps.begin);
      w = depthwise_add (s, sum, n, x + row, w, s->taps.end - s->taps.begin);
      if (s->taps.end < slide->kernel[1])
        w = depthwise_add (s, sum, n, s->padding, w, slide->kernel[1] - s->taps.end);
      row = depthwise_next_row (s, row);
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
  const int32_t first = call->row * slide->stride[0] - slide->pad[0];
  const CleaveRows *x = &call->x[0];
  DepthwiseRow s;
  int8_t *y = (int8_t *) call->y;

  s.call = call;
  s.p = p;
  s.rows = cleave_taps (slide, 0, first);
  s.x = (const int8_t *) x->data - x->begin * p->groups;
  s.row = (uint32_t) ((const unsigned char *) cleave_row (x, first + s.rows.begin *
                                                                         slide->dilation[0]) -
                      x->data);
  s.row_step = slide->dilation[0] * x->row_bytes;
  s.ring = (uint32_t) x->capacity * x->row_bytes;
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
