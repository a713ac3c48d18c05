/* SPDX-License-Identifier: 0BSD */

/* Convolution of int8. A block is four channels of the result, or one of those that are left. For
 * each group and each block, the weights are lines: one for each row of the kernel if its taps are
 * side by side in an operand (one group, dilation 1), else one for each tap.
 *
 *   block of four:  w[i / 4][channel][i % 4] for i < n - n % 4, then w[i][channel]
 *   block of one:   w[i]
 *
 * The sums have -x_zero times all weights, so that x is not shifted. Weights on padding are
 * multiplied by x_zero in return. */

#include "cleave-kernels.h"

/* The rows of a call, and the lines of weights. */
typedef struct
{
  const CleaveCall *call;
  const CleaveConvS8 *p;
  int32_t first;      /* row of the operand under the first row of the kernel */
  int32_t begin, end; /* the rows of the kernel that are on no padding */
  int32_t slot;       /* slot of row `begin` */
  int32_t line;       /* taps of a line */
  int32_t channel;    /* first channel of the group in the operand */
} ConvRow;

/* Adds the products of elements begin ... end - 1 of a line. x is the first of them, or NULL if they
 * are padding. */
static void
conv_add_elements (
    uint32_t *sum, int32_t n, const ConvRow *s, const int8_t *x, const int8_t *w, int32_t begin, int32_t end)
{
  const int32_t blocks = s->line * s->p->in & ~3;

  for (int32_t i = begin; i < end; i++)
    {
      const int32_t value = x != NULL ? x[i - begin] : s->p->x_zero;
      const int8_t *at = n == 1 ? w + i : i < blocks ? w + (i & ~3) * 4 + (i & 3) : w + i * 4;
      const int32_t step = i < blocks ? 4 : 1;

      for (int32_t c = 0; c < n; c++)
        sum[c] += (uint32_t) (value * at[c * step]);
    }
}

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t x0 = x[i], w0 = w[at], w1 = w[(at) + (step)], w2 = w[(at) + 2 * (step)],         \
                  w3 = w[(at) + 3 * (step)];                                                       \
                                                                                                   \
    s0 += (uint32_t) (x0 * w0);                                                                    \
    s1 += (uint32_t) (x0 * w1);                                                                    \
    s2 += (uint32_t) (x0 * w2);                                                                    \
    s3 += (uint32_t) (x0 * w3);                                                                    \
  }

/* Adds n products to the sums of four channels of a pixel. */
static void
conv_add_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  uint32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

  for (; n >= 4; n -= 4)
    {
      STEP (0, 0, 4)
      STEP (1, 1, 4)
      STEP (2, 2, 4)
      STEP (3, 3, 4)
      x += 4;
      w += 16;
    }
  for (; n > 0; n--)
    {
      STEP (0, 0, 1)
      x++;
      w += 4;
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
}
#undef STEP

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t x0 = x[i], x1 = x[other + (i)];                                                    \
    int32_t w0 = w[at];                                                                            \
                                                                                                   \
    s0 += (uint32_t) (x0 * w0);                                                                    \
    s4 += (uint32_t) (x1 * w0);                                                                    \
    w0 = w[(at) + (step)];                                                                         \
    s1 += (uint32_t) (x0 * w0);                                                                    \
    s5 += (uint32_t) (x1 * w0);                                                                    \
    w0 = w[(at) + 2 * (step)];                                                                     \
    s2 += (uint32_t) (x0 * w0);                                                                    \
    s6 += (uint32_t) (x1 * w0);                                                                    \
    w0 = w[(at) + 3 * (step)];                                                                     \
    s3 += (uint32_t) (x0 * w0);                                                                    \
    s7 += (uint32_t) (x1 * w0);                                                                    \
  }

/* Adds n products to the sums of four channels of two pixels, whose elements are `other` apart. */
static void
conv_add_2x4 (uint32_t *sum, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  uint32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
  uint32_t s4 = sum[4], s5 = sum[5], s6 = sum[6], s7 = sum[7];

  for (; n >= 4; n -= 4)
    {
      STEP (0, 0, 4)
      STEP (1, 1, 4)
      STEP (2, 2, 4)
      STEP (3, 3, 4)
      x += 4;
      w += 16;
    }
  for (; n > 0; n--)
    {
      STEP (0, 0, 1)
      x++;
      w += 4;
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
  sum[4] = s4;
  sum[5] = s5;
  sum[6] = s6;
  sum[7] = s7;
}
#undef STEP

static void
conv_add_1x1 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  uint32_t s0 = *sum;

  for (; n > 0; n--)
    s0 += (uint32_t) (*x++ * *w++);
  *sum = s0;
}

/* Adds a line of weights, whose elements begin ... end - 1 lie on x and the others on padding. */
static void
conv_add_line (uint32_t *sum, int32_t n, const ConvRow *s, const int8_t *x, const int8_t *w, int32_t begin, int32_t end)
{
  const int32_t length = s->line * s->p->in;

  conv_add_elements (sum, n, s, NULL, w, 0, begin);
  if (n == 1)
    conv_add_1x1 (sum, x, w + begin, end - begin);
  else if ((begin & 3) == 0 && ((end & 3) == 0 || end == length))
    conv_add_1x4 (sum, x, w + begin * 4, end - begin);
  else
    conv_add_elements (sum, n, s, x, w, begin, end);
  conv_add_elements (sum, n, s, NULL, w, end, length);
}

/* Returns the pixel of column `column` in a slot, at the first channel of the group. */
static const int8_t *
conv_find_pixel (const ConvRow *s, int32_t slot, int32_t column)
{
  const CleaveRows *x = &s->call->x[0];

  return (const int8_t *) x->data + (uint32_t) slot * x->row_bytes +
         (column - x->begin) * s->p->in * s->p->groups + s->channel;
}

static int32_t
conv_next_slot (const ConvRow *s, int32_t slot)
{
  slot += s->p->slide.dilation[0];
  return slot >= s->call->x[0].capacity ? slot - s->call->x[0].capacity : slot;
}

/* Adds the products of one pixel, or two pixels and four channels, whose windows begin at column
 * `first` and have no padding in a row. */
static void
conv_add_inside (uint32_t *sum, int32_t n, int32_t pixels, const ConvRow *s, const int8_t *w, int32_t first)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t step = s->p->in * s->p->groups, length = s->line * s->p->in;
  int32_t slot = s->slot;

  for (int32_t k = s->begin; k < s->end; k++)
    {
      const int8_t *x = conv_find_pixel (s, slot, first);

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
        {
          if (n == 1)
            conv_add_1x1 (sum, x, w, length);
          else if (pixels == 1)
            conv_add_1x4 (sum, x, w, length);
          else
            conv_add_2x4 (sum, x, step * slide->stride[1], w, length);
          x += step * slide->dilation[1];
          w += length * n;
        }
      slot = conv_next_slot (s, slot);
    }
}

/* Adds the products of one pixel whose window begins at column `first` and has padding. */
static void
conv_add_border (uint32_t *sum, int32_t n, const ConvRow *s, const int8_t *w, int32_t first)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t in = s->p->in, length = s->line * in;
  int32_t slot = s->slot;

  for (int32_t k = s->begin; k < s->end; k++)
    {
      int32_t column = first;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
        {
          int32_t begin = 0, end = s->line;

          while (begin < end && column + begin < 0)
            begin++;
          while (end > begin && column + end > slide->columns)
            end--;
          conv_add_line (sum, n, s, begin == end ? NULL : conv_find_pixel (s, slot, column + begin), w,
                    begin * in, end * in);
          column += slide->dilation[1];
          w += length * n;
        }
      slot = conv_next_slot (s, slot);
    }
}

static void
conv_store (const ConvRow *s, const uint32_t *sum, int32_t n, int32_t channel, int32_t column)
{
  const CleaveConvS8 *p = s->p;
  int8_t *y = (int8_t *) s->call->y + (column - s->call->begin) * p->out * p->groups + channel;

  for (int32_t c = 0; c < n; c++)
    {
      const int32_t value = cleave_scale (sum[c], p->sums[2 * (channel + c) + 1], p->shifts[channel + c]);

      y[c] = (int8_t) (cleave_clamp (value, p->low, p->high) + p->y_zero);
    }
}

/* Sets the sums of n channels to the bias and the products of rows that are padding. */
static void
conv_begin_sums (uint32_t *sum, const ConvRow *s, const int8_t *w, int32_t n, int32_t channel)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t length = s->line * s->p->in;

  for (int32_t c = 0; c < n; c++)
    sum[c] = (uint32_t) s->p->sums[2 * (channel + c)];
  for (int32_t k = 0; k < slide->kernel[0]; k++)
    for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
      {
        if (k < s->begin || k >= s->end)
          conv_add_elements (sum, n, s, NULL, w, 0, length);
        w += length * n;
      }
}

/* Computes n channels of all pixels. */
static void
conv_compute_block (const ConvRow *s, const int8_t *w, int32_t n, int32_t channel)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t reach = (slide->kernel[1] - 1) * slide->dilation[1];
  uint32_t start[4], sum[8];
  int32_t first = s->call->begin * slide->stride[1] - slide->pad[1];

  conv_begin_sums (start, s, w, n, channel);
  w += s->begin * slide->kernel[1] * s->p->in * n;
  for (int32_t column = s->call->begin; column < s->call->end;)
    {
      const int32_t is_inside = first >= 0 && first + reach < slide->columns;
      const int32_t is_pair = is_inside && n == 4 && column + 1 < s->call->end &&
                              first + slide->stride[1] + reach < slide->columns;

      for (int32_t c = 0; c < n; c++)
        sum[c] = sum[4 + c] = start[c];
      if (is_inside)
        conv_add_inside (sum, n, is_pair + 1, s, w, first);
      else
        conv_add_border (sum, n, s, w, first);
      conv_store (s, sum, n, channel, column);
      if (is_pair)
        conv_store (s, sum + 4, n, channel, column + 1);
      column += is_pair + 1;
      first += slide->stride[1] * (is_pair + 1);
    }
}

void
cleave_conv_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const int8_t *w = p->weights;
  ConvRow s = { .call = call, .p = p, .line = 1 };
  int32_t channel = 0;
  CleaveTaps taps;

  s.first = call->row * slide->stride[0] - slide->pad[0];
  taps = cleave_taps (slide, 0, s.first);
  s.begin = taps.begin;
  s.end = taps.end;
  s.slot = x->slot - (x->made - (s.first + s.begin * slide->dilation[0]));
  if (s.slot < 0)
    s.slot += x->capacity;
  if (p->groups == 1 && slide->dilation[1] == 1)
    s.line = slide->kernel[1];
  for (int32_t group = 0; group < p->groups; group++)
    {
      for (int32_t c = 0; c < p->out;)
        {
          const int32_t n = p->out - c >= 4 ? 4 : 1;

          conv_compute_block (&s, w, n, channel + c);
          w += slide->kernel[0] * slide->kernel[1] * p->in * n;
          c += n;
        }
      channel += p->out;
      s.channel += p->in;
    }
}
