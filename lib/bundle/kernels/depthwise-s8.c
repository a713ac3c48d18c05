/* SPDX-License-Identifier: 0BSD */

/* Depthwise convolution of int8: each channel of the result is a sum over one channel of x. The
 * weights are w[row][column][channel].
 *
 * The sums have -x_zero times all weights, so that x is not shifted. Weights on padding are
 * multiplied by x_zero in return. */

#include "cleave-kernels.h"

typedef struct
{
  const CleaveCall *call;
  const CleaveConvS8 *p;
  int32_t first_row, first; /* the place of the first tap in the operand */
  int32_t slot;             /* slot of the first row of taps that is no padding */
} DepthwiseRow;

/* Returns the element of a channel in a slot, in column `first` + `column`. */
static const int8_t *
depthwise_find_element (const DepthwiseRow *s, int32_t slot, int32_t channel, int32_t column)
{
  const CleaveRows *x = &s->call->x[0];

  return (const int8_t *) x->data + (uint32_t) slot * x->row_bytes +
         (s->first + column - x->begin) * s->p->groups + channel;
}

static int32_t
depthwise_next_slot (const DepthwiseRow *s, int32_t slot)
{
  slot += s->p->slide.dilation[0];
  return slot >= s->call->x[0].capacity ? slot - s->call->x[0].capacity : slot;
}

static void
depthwise_store (const DepthwiseRow *s, uint32_t sum, int32_t channel, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const int32_t value = cleave_scale (sum, p->sums[2 * channel + 1], p->shifts[channel]);

  y[channel] = (int8_t) (cleave_clamp (value, p->low, p->high) + p->y_zero);
}

/* Computes four channels of two pixels whose windows have no padding on the left and right. */
static void
depthwise_compute_2x4 (const DepthwiseRow *s, int32_t channel, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const CleaveSlide *slide = &p->slide;
  const int32_t channels = p->groups, step = channels * slide->dilation[1];
  const int32_t other = channels * slide->stride[1];
  const int8_t *w = p->weights + channel;
  const int32_t *sums = p->sums + 2 * channel;
  uint32_t s0 = (uint32_t) sums[0], s1 = (uint32_t) sums[2], s2 = (uint32_t) sums[4];
  uint32_t s3 = (uint32_t) sums[6], s4 = s0, s5 = s1, s6 = s2, s7 = s3;
  int32_t row = s->first_row, slot = s->slot;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      if (row >= 0 && row < slide->rows)
        {
          const int8_t *x = depthwise_find_element (s, slot, channel, 0);

          for (int32_t tap = 0; tap < slide->kernel[1]; tap++)
            {
              const int8_t *x1 = x + other;
              int32_t w0 = w[0];

              s0 += (uint32_t) (x[0] * w0);
              s4 += (uint32_t) (x1[0] * w0);
              w0 = w[1];
              s1 += (uint32_t) (x[1] * w0);
              s5 += (uint32_t) (x1[1] * w0);
              w0 = w[2];
              s2 += (uint32_t) (x[2] * w0);
              s6 += (uint32_t) (x1[2] * w0);
              w0 = w[3];
              s3 += (uint32_t) (x[3] * w0);
              s7 += (uint32_t) (x1[3] * w0);
              x += step;
              w += channels;
            }
          slot = depthwise_next_slot (s, slot);
        }
      else
        for (int32_t tap = 0; tap < slide->kernel[1]; tap++)
          {
            const int32_t zero = p->x_zero;

            s0 += (uint32_t) (zero * w[0]);
            s4 += (uint32_t) (zero * w[0]);
            s1 += (uint32_t) (zero * w[1]);
            s5 += (uint32_t) (zero * w[1]);
            s2 += (uint32_t) (zero * w[2]);
            s6 += (uint32_t) (zero * w[2]);
            s3 += (uint32_t) (zero * w[3]);
            s7 += (uint32_t) (zero * w[3]);
            w += channels;
          }
      row += slide->dilation[0];
    }
  depthwise_store (s, s0, channel, y);
  depthwise_store (s, s1, channel + 1, y);
  depthwise_store (s, s2, channel + 2, y);
  depthwise_store (s, s3, channel + 3, y);
  y += channels;
  depthwise_store (s, s4, channel, y);
  depthwise_store (s, s5, channel + 1, y);
  depthwise_store (s, s6, channel + 2, y);
  depthwise_store (s, s7, channel + 3, y);
}

/* Computes four channels of a pixel. Taps begin ... end - 1 of each row are on no padding. */
static void
depthwise_compute_1x4 (const DepthwiseRow *s, int32_t channel, int32_t begin, int32_t end, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const CleaveSlide *slide = &p->slide;
  const int32_t channels = p->groups, step = channels * slide->dilation[1];
  const int8_t *w = p->weights + channel;
  const int32_t *sums = p->sums + 2 * channel;
  uint32_t s0 = (uint32_t) sums[0], s1 = (uint32_t) sums[2], s2 = (uint32_t) sums[4];
  uint32_t s3 = (uint32_t) sums[6];
  int32_t row = s->first_row, slot = s->slot;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int32_t is_row = row >= 0 && row < slide->rows;
      const int8_t *x = NULL;

      if (is_row && begin < end)
        x = depthwise_find_element (s, slot, channel, begin * slide->dilation[1]);
      for (int32_t tap = 0; tap < slide->kernel[1]; tap++)
        {
          if (is_row && tap >= begin && tap < end)
            {
              s0 += (uint32_t) (x[0] * w[0]);
              s1 += (uint32_t) (x[1] * w[1]);
              s2 += (uint32_t) (x[2] * w[2]);
              s3 += (uint32_t) (x[3] * w[3]);
              x += step;
            }
          else
            {
              const int32_t zero = p->x_zero;

              s0 += (uint32_t) (zero * w[0]);
              s1 += (uint32_t) (zero * w[1]);
              s2 += (uint32_t) (zero * w[2]);
              s3 += (uint32_t) (zero * w[3]);
            }
          w += channels;
        }
      if (is_row)
        slot = depthwise_next_slot (s, slot);
      row += slide->dilation[0];
    }
  depthwise_store (s, s0, channel, y);
  depthwise_store (s, s1, channel + 1, y);
  depthwise_store (s, s2, channel + 2, y);
  depthwise_store (s, s3, channel + 3, y);
}

/* Computes one channel of a pixel. */
static void
depthwise_compute_1x1 (const DepthwiseRow *s, int32_t channel, int32_t begin, int32_t end, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const CleaveSlide *slide = &p->slide;
  const int8_t *w = p->weights + channel;
  uint32_t sum = (uint32_t) p->sums[2 * channel];
  int32_t row = s->first_row, slot = s->slot;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int32_t is_row = row >= 0 && row < slide->rows;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap++)
        {
          int32_t value = p->x_zero;

          if (is_row && tap >= begin && tap < end)
            value = *depthwise_find_element (s, slot, channel, tap * slide->dilation[1]);
          sum += (uint32_t) (value * *w);
          w += p->groups;
        }
      if (is_row)
        slot = depthwise_next_slot (s, slot);
      row += slide->dilation[0];
    }
  depthwise_store (s, sum, channel, y);
}

/* Computes the channels of a pixel from `channel` on. */
static void
depthwise_compute_pixel (const DepthwiseRow *s, int32_t channel, int8_t *y)
{
  const CleaveTaps taps = cleave_taps (&s->p->slide, 1, s->first);

  for (; channel + 4 <= s->p->groups; channel += 4)
    depthwise_compute_1x4 (s, channel, taps.begin, taps.end, y);
  for (; channel < s->p->groups; channel++)
    depthwise_compute_1x1 (s, channel, taps.begin, taps.end, y);
}

void
cleave_depthwise_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const int32_t reach = (slide->kernel[1] - 1) * slide->dilation[1];
  DepthwiseRow s = { .call = call, .p = p };
  int8_t *y = (int8_t *) call->y;
  int32_t row;

  s.first_row = call->row * slide->stride[0] - slide->pad[0];
  s.first = call->begin * slide->stride[1] - slide->pad[1];
  for (row = s.first_row; row < 0;)
    row += slide->dilation[0];
  s.slot = x->slot - (x->made - row);
  if (s.slot < 0)
    s.slot += x->capacity;
  for (int32_t column = call->begin; column < call->end; column++)
    {
      int32_t channel = 0;

      if (column + 1 < call->end && s.first >= 0 &&
          s.first + slide->stride[1] + reach < slide->columns)
        {
          for (; channel + 4 <= p->groups; channel += 4)
            depthwise_compute_2x4 (&s, channel, y);
          depthwise_compute_pixel (&s, channel, y);
          s.first += slide->stride[1];
          y += p->groups;
          column++;
        }
      depthwise_compute_pixel (&s, channel, y);
      s.first += slide->stride[1];
      y += p->groups;
    }
}
