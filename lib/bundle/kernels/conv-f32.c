/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* A block of channels of one pixel of the result. The sums of a block are computed together. */
typedef struct
{
  const CleaveCall *call;
  CleaveTaps rows; /* rows of the kernel that read data, not padding */
  int32_t row;     /* row in the operand that row 0 of the kernel reads */
  int32_t first;   /* offset in elements, from column x[0].begin, of the element that the first tap
                    * with data reads */
  int32_t lines;   /* number of lines in a row of the kernel; a line is a group of taps that read
                    * contiguous elements */
  int32_t count;   /* number of elements of a line */
  int32_t step;    /* number of elements from the end of a line to the start of the next line */
  int32_t skip;    /* number of weights to skip in each row of the kernel, for one channel of the
                    * result: the weights of the taps that lie on padding */
  int32_t n;       /* number of channels of the block, four or one */
  float sum[4];
} ConvF32;

/* Returns the address of the first element that row k of the kernel reads. Taps on padding read no
 * element. */
static CLEAVE_APART const float *
conv_f32_row (const ConvF32 *c, int32_t k)
{
  const CleaveConvF32 *p = c->call->params;

  return (const float *) cleave_row (&c->call->x[0], c->row + k * p->slide.dilation[0]) + c->first;
}

/* CONV_F32_SUMS defines the sums of a block, CONV_F32_ADD adds the products of the elements from x
 * to `end`, and CONV_F32_STORE_SUMS stores the sums. */
#ifdef CLEAVE_SOFT_FLOATS
/* Sums in memory and CLEAVE_FENCE save 48 bytes of stack. The instructions that they add are few,
 * compared with the instructions of cleave_fma(). */
#define CONV_F32_SUMS
#define CONV_F32_ADD                                                                               \
  for (; x != end; x++)                                                                            \
    for (int32_t i = 0; i < c->n; i++)                                                             \
      {                                                                                            \
        c->sum[i] = cleave_fma (*x, *w++, c->sum[i]);                                              \
        CLEAVE_FENCE                                                                               \
      }
#define CONV_F32_STORE_SUMS
#else
#define CONV_F32_SUMS float s0 = c->sum[0], s1 = c->sum[1], s2 = c->sum[2], s3 = c->sum[3];
#define CONV_F32_ADD                                                                               \
  if (c->n == 1)                                                                                   \
    while (x != end)                                                                               \
      s0 = cleave_fma (*x++, *w++, s0);                                                            \
  while (x != end)                                                                                 \
    {                                                                                              \
      const float a = *x++;                                                                        \
                                                                                                   \
      s0 = cleave_fma (a, w[0], s0);                                                               \
      s1 = cleave_fma (a, w[1], s1);                                                               \
      s2 = cleave_fma (a, w[2], s2);                                                               \
      s3 = cleave_fma (a, w[3], s3);                                                               \
      w += 4;                                                                                      \
    }
#define CONV_F32_STORE_SUMS                                                                        \
  c->sum[0] = s0;                                                                                  \
  c->sum[1] = s1;                                                                                  \
  c->sum[2] = s2;                                                                                  \
  c->sum[3] = s3;
#endif

/* Adds the products of all taps of a window to the sums of a block of channels. `w`: the weight of
 * the first tap that reads data. */
static CLEAVE_APART void
conv_f32_add (ConvF32 *c, const float *w)
{
  CONV_F32_SUMS

  for (int32_t k = c->rows.begin; k < c->rows.end; k++)
    {
      const float *x = conv_f32_row (c, k);

      for (int32_t lines = c->lines; lines > 0; lines--)
        {
          const float *const end = x + c->count;

          CONV_F32_ADD
          x += c->step;
        }
      w += c->skip * c->n;
    }
  CONV_F32_STORE_SUMS
}

/* Sets the fields of `c` for the pixel in column `column` of the result. Returns the offset, in the
 * weights of one channel, of the first tap with data. */
static CLEAVE_APART int32_t
conv_f32_begin (ConvF32 *c, int32_t column)
{
  const CleaveConvF32 *p = c->call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t first = column * slide->stride[1] - slide->pad[1], pixel = p->in * p->groups;
  const CleaveTaps taps = cleave_taps (slide, 1, first);

  c->lines = taps.end - taps.begin;
  c->count = p->in;
  c->step = slide->dilation[1] * pixel - p->in;
  c->first = (first + taps.begin * slide->dilation[1] - c->call->x[0].begin) * pixel;
  c->skip = (slide->kernel[1] - c->lines) * p->in;
  if (slide->dilation[1] == 1 && p->groups == 1)
    {
      c->count *= c->lines;
      c->lines = 1;
    }
  return (c->rows.begin * slide->kernel[1] + taps.begin) * p->in;
}

/* Computes all channels of the pixel `y` of the result. `at`: the result of conv_f32_begin(). */
static void
conv_f32_pixel (ConvF32 *c, int32_t at, float *y)
{
  const CleaveConvF32 *p = c->call->params;
  const float *w = p->weights, *bias = p->bias;

  for (int32_t group = 0; group < p->groups; group++)
    {
      for (int32_t left = p->out; left > 0; left -= c->n)
        {
          c->n = left >= 4 ? 4 : 1;
          for (int32_t i = 0; i < c->n; i++)
            c->sum[i] = bias == NULL || p->is_bias_last ? 0 : bias[i];
          conv_f32_add (c, w + at * c->n);
          for (int32_t i = 0; i < c->n; i++)
            *y++ = bias != NULL && p->is_bias_last ? c->sum[i] + bias[i] : c->sum[i];
          w += p->slide.kernel[0] * p->slide.kernel[1] * p->in * c->n;
          bias = bias == NULL ? NULL : bias + c->n;
        }
      c->first += p->in;
    }
}

void
cleave_conv_f32 (const CleaveCall *call)
{
  const CleaveConvF32 *p = call->params;
  float *y = (float *) (void *) call->y;
  ConvF32 c;

  c.call = call;
  c.sum[1] = c.sum[2] = c.sum[3] = 0; /* a block of one channel sets only sum[0] */
  c.row = call->row * p->slide.stride[0] - p->slide.pad[0];
  c.rows = cleave_taps (&p->slide, 0, c.row);
  for (int32_t column = call->begin; column < call->end; column++)
    {
      conv_f32_pixel (&c, conv_f32_begin (&c, column), y);
      y += p->out * p->groups;
    }
}
