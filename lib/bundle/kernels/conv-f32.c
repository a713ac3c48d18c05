/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* A block of channels of one pixel of the result. The sums of a block are computed together. */
typedef struct
{
  const CleaveCall *call;
  const CleaveConvF32 *p;
  int32_t row, column; /* row and column in the operand that the first tap reads */
  int32_t group, n;    /* group of the block; number of its channels, four or one */
  CleaveTaps rows, columns;
} ConvF32;

/* Adds `count` products to each of the sums of four channels. */
static void
conv_f32_add_4 (float *sum, const float *x, const float *w, int32_t count)
{
  float s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

  for (; count > 0; count--)
    {
      const float a = *x++;

      s0 = cleave_fma (a, w[0], s0);
      s1 = cleave_fma (a, w[1], s1);
      s2 = cleave_fma (a, w[2], s2);
      s3 = cleave_fma (a, w[3], s3);
      w += 4;
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
}

static void
conv_f32_add (const ConvF32 *c, float *sum, const float *x, const float *w, int32_t count)
{
  if (c->n == 4)
    conv_f32_add_4 (sum, x, w, count);
  else
    for (; count > 0; count--)
      *sum = cleave_fma (*x++, *w++, *sum);
}

/* Adds the products of all taps of a window to the sums of a block of channels. */
static void
conv_f32_add_window (const ConvF32 *c, float *sum, const float *w)
{
  const CleaveConvF32 *p = c->p;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &c->call->x[0];
  const int32_t taps =
      slide->dilation[1] == 1 && p->groups == 1 ? c->columns.end - c->columns.begin : 1;

  for (int32_t k = c->rows.begin; k < c->rows.end; k++)
    {
      const float *from = (const float *) cleave_row (x, c->row + k * slide->dilation[0]) +
                          (c->column - x->begin) * p->in * p->groups + c->group * p->in;

      for (int32_t tap = c->columns.begin; tap < c->columns.end; tap += taps)
        conv_f32_add (c, sum, from + tap * slide->dilation[1] * p->in * p->groups,
                      w + (k * slide->kernel[1] + tap) * p->in * c->n, taps * p->in);
    }
}

/* Computes all channels of a pixel of the result. */
static void
conv_f32_pixel (ConvF32 *c, float *y)
{
  const CleaveConvF32 *p = c->p;
  const float *w = p->weights, *bias = p->bias;
  float sum[4];

  for (c->group = 0; c->group < p->groups; c->group++)
    for (int32_t channel = 0; channel < p->out; channel += c->n)
      {
        c->n = p->out - channel >= 4 ? 4 : 1;
        for (int32_t i = 0; i < c->n; i++)
          sum[i] = bias == NULL || p->is_bias_last ? 0 : bias[i];
        conv_f32_add_window (c, sum, w);
        for (int32_t i = 0; i < c->n; i++)
          *y++ = bias != NULL && p->is_bias_last ? sum[i] + bias[i] : sum[i];
        w += p->slide.kernel[0] * p->slide.kernel[1] * p->in * c->n;
        bias = bias == NULL ? NULL : bias + c->n;
      }
}

void
cleave_conv_f32 (const CleaveCall *call)
{
  const CleaveConvF32 *p = call->params;
  float *y = (float *) (void *) call->y;
  ConvF32 c;

  c.call = call;
  c.p = p;
  c.row = call->row * p->slide.stride[0] - p->slide.pad[0];
  c.rows = cleave_taps (&p->slide, 0, c.row);
  for (int32_t column = call->begin; column < call->end; column++)
    {
      c.column = column * p->slide.stride[1] - p->slide.pad[1];
      c.columns = cleave_taps (&p->slide, 1, c.column);
      conv_f32_pixel (&c, y);
      y += p->out * p->groups;
    }
}
