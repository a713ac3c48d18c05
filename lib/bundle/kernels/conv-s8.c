/* SPDX-License-Identifier: 0BSD */

/* Convolution of int8. A block is four channels of the result, or one of those that are left. For
 * each group and each block, the weights are lines. A line is a row of the kernel if its taps are
 * side by side in an operand (one group, dilation 1), else one tap.
 *
 *   block of four:  w[i / 4][channel][i % 4] for i < n - n % 4, then w[i][channel]
 *   block of one:   w[i]
 *
 * The sums have -x_zero times all weights, so that x is not shifted. Weights on padding are
 * multiplied by x_zero in return. */

#include "cleave-kernels.h"

/* A row of the result, and the block that is computed. */
typedef struct
{
  const CleaveCall *call;
  const CleaveConvS8 *p;
  const int8_t *x;     /* slot 0 of the operand at column 0 and the first channel of the group */
  int32_t begin, end;  /* the rows of the kernel that are on no padding */
  uint32_t row;        /* bytes from slot 0 to row `begin` */
  uint32_t row_step;   /* bytes from one row of the kernel to the next */
  uint32_t ring;       /* bytes of all slots */
  int32_t line;        /* taps of a line of weights */
  int32_t length;      /* elements of a line, for each channel */
  int32_t pixel;       /* elements of a pixel of the operand */
  int32_t step;        /* elements from one tap of the operand to the next */
  int32_t y_pixel;     /* elements of a pixel of the result */
  int32_t n;           /* channels of the block */
  const int32_t *sums; /* sums of the block */
  const int8_t *shifts;
  uint32_t start[4]; /* initial values of the sums */
  int8_t padding[4]; /* x_zero */
} ConvRow;

/* Returns the bytes to the next row of the kernel. */
static inline uint32_t
conv_next_row (const ConvRow *s, uint32_t row)
{
  row += s->row_step;
  return row >= s->ring ? row - s->ring : row;
}

/* Scales the sums of a block and stores them. Those of the second pixel are sum[4] ... sum[7]. */
static void
conv_store (const ConvRow *s, const int32_t *sum, int32_t pixels, int8_t *y)
{
  const int32_t low = s->p->low, high = s->p->high, zero = s->p->y_zero, step = s->y_pixel;

  for (int32_t c = 0; c < s->n; c++)
    {
      const uint32_t start = s->start[c];
      const int32_t multiplier = s->sums[2 * c + 1], shift = s->shifts[c];
      int32_t value = cleave_scale (start + (uint32_t) sum[c], multiplier, shift);

      y[c] = (int8_t) (cleave_clamp (value, low, high) + zero);
      if (pixels == 2)
        {
          value = cleave_scale (start + (uint32_t) sum[4 + c], multiplier, shift);
          y[step + c] = (int8_t) (cleave_clamp (value, low, high) + zero);
        }
    }
}

/* Computes a block of four channels of two pixels, whose windows begin at column `first` and have
 * no padding in a row. */
static void
conv_compute_2x4 (const ConvRow *s, const int8_t *w, int32_t first, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t other = s->pixel * slide->stride[1];
  const int8_t *x = s->x + first * s->pixel;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  int32_t sum[8];
  uint32_t row = s->row;

  for (int32_t k = s->begin; k < s->end; k++)
    {
      const int8_t *line = x + row;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
        {
          const int8_t *x0 = line, *x1 = line + other;
          int32_t n;

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t a = x0[i], b = x1[i];                                                            \
    int32_t v = w[at];                                                                             \
                                                                                                   \
    s0 += a * v;                                                                                   \
    s4 += b * v;                                                                                   \
    v = w[(at) + (step)];                                                                          \
    s1 += a * v;                                                                                   \
    s5 += b * v;                                                                                   \
    v = w[(at) + 2 * (step)];                                                                      \
    s2 += a * v;                                                                                   \
    s6 += b * v;                                                                                   \
    v = w[(at) + 3 * (step)];                                                                      \
    s3 += a * v;                                                                                   \
    s7 += b * v;                                                                                   \
  }
          for (n = s->length; n >= 4; n -= 4)
            {
              STEP (0, 0, 4)
              STEP (1, 1, 4)
              STEP (2, 2, 4)
              STEP (3, 3, 4)
              x0 += 4;
              x1 += 4;
              w += 16;
            }
          for (; n > 0; n--)
            {
              STEP (0, 0, 1)
              x0++;
              x1++;
              w += 4;
            }
#undef STEP
          line += s->step;
        }
      row = conv_next_row (s, row);
    }
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
  sum[4] = s4;
  sum[5] = s5;
  sum[6] = s6;
  sum[7] = s7;
  conv_store (s, sum, 2, y);
}

/* Adds n products to the sums of four channels of a pixel. The step from one four of x to the next
 * is 4, or 0 to repeat padding. */
static void
conv_add_1x4 (int32_t *sum, const int8_t *x, int32_t step, const int8_t *w, int32_t n)
{
  int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t a = x[i];                                                                        \
                                                                                                   \
    s0 += a * w[at];                                                                               \
    s1 += a * w[(at) + (step)];                                                                    \
    s2 += a * w[(at) + 2 * (step)];                                                                \
    s3 += a * w[(at) + 3 * (step)];                                                                \
  }
  for (; n >= 4; n -= 4)
    {
      STEP (0, 0, 4)
      STEP (1, 1, 4)
      STEP (2, 2, 4)
      STEP (3, 3, 4)
      x += step;
      w += 16;
    }
  for (; n > 0; n--)
    {
      STEP (0, 0, 1)
      x += step >> 2;
      w += 4;
    }
#undef STEP
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
}

/* Adds n products to the sums of a block. */
static void
conv_add (const ConvRow *s, int32_t *sum, const int8_t *x, int32_t step, const int8_t *w, int32_t n)
{
  if (s->n == 4)
    conv_add_1x4 (sum, x, step, w, n);
  else
    for (; n > 0; n--)
      {
        *sum += *x * *w++;
        x += step >> 2;
      }
}

/* Adds a line of weights, whose elements begin ... end - 1 lie on x and the others on padding. */
static void
conv_add_line (
    const ConvRow *s, int32_t *sum, const int8_t *x, const int8_t *w, int32_t begin, int32_t end)
{
  int8_t part[16];

  if ((begin & 3) == 0 && ((end & 3) == 0 || end == s->length))
    {
      if (begin > 0)
        conv_add (s, sum, s->padding, 0, w, begin);
      conv_add (s, sum, x, 4, w + begin * s->n, end - begin);
      if (end < s->length)
        conv_add (s, sum, s->padding, 0, w + end * s->n, s->length - end);
      return;
    }
  for (int32_t i = 0; i < s->length; i += 16)
    {
      const int32_t n = s->length - i < 16 ? s->length - i : 16;

      for (int32_t j = 0; j < n; j++)
        part[j] = i + j >= begin && i + j < end ? x[i + j - begin] : s->padding[0];
      conv_add (s, sum, part, 4, w + i * s->n, n);
    }
}

/* Computes a block of a pixel, whose window begins at column `first`. */
static void
conv_compute_pixel (const ConvRow *s, const int8_t *w, int32_t first, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  int32_t sum[4] = { 0, 0, 0, 0 };
  uint32_t row = s->row;

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
          conv_add_line (s, sum, s->x + row + (column + begin) * s->pixel, w, begin * s->p->in,
                         end * s->p->in);
          column += slide->dilation[1];
          w += s->length * s->n;
        }
      row = conv_next_row (s, row);
    }
  conv_store (s, sum, 1, y);
}

/* Sets the begin of the sums to the bias and the products of rows that are padding. */
static void
conv_begin (ConvRow *s, const int8_t *w)
{
  const CleaveSlide *slide = &s->p->slide;
  int32_t sum[4] = { 0, 0, 0, 0 };

  for (int32_t k = 0; k < slide->kernel[0] && s->end - s->begin < slide->kernel[0]; k++)
    for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
      {
        if (k < s->begin || k >= s->end)
          conv_add (s, sum, s->padding, 0, w, s->length);
        w += s->length * s->n;
      }
  for (int32_t c = 0; c < s->n; c++)
    s->start[c] = (uint32_t) s->sums[2 * c] + (uint32_t) sum[c];
}

/* Computes a block of all pixels. */
static void
conv_compute_block (ConvRow *s, const int8_t *w, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t reach = (slide->kernel[1] - 1) * slide->dilation[1] + slide->stride[1];
  int32_t first = s->call->begin * slide->stride[1] - slide->pad[1];

  conv_begin (s, w);
  w += s->begin * slide->kernel[1] * s->p->in * s->n;
  for (int32_t left = s->call->end - s->call->begin; left > 0; left--)
    {
      if (s->n == 4 && left > 1 && first >= 0 && first + reach < slide->columns)
        {
          conv_compute_2x4 (s, w, first, y);
          y += s->y_pixel;
          first += slide->stride[1];
          left--;
        }
      else
        conv_compute_pixel (s, w, first, y);
      y += s->y_pixel;
      first += slide->stride[1];
    }
}

void
cleave_conv_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t first = call->row * slide->stride[0] - slide->pad[0];
  const CleaveTaps taps = cleave_taps (slide, 0, first);
  const CleaveRows *x = &call->x[0];
  const int8_t *w = p->weights;
  ConvRow s;
  int32_t channel = 0;

  s.call = call;
  s.p = p;
  s.begin = taps.begin;
  s.end = taps.end;
  s.line = p->groups == 1 && slide->dilation[1] == 1 ? slide->kernel[1] : 1;
  s.length = s.line * p->in;
  s.pixel = p->in * p->groups;
  s.y_pixel = p->out * p->groups;
  s.x = (const int8_t *) x->data - x->begin * s.pixel;
  s.row =
      (uint32_t) ((const unsigned char *) cleave_row (x, first + taps.begin * slide->dilation[0]) -
                  x->data);
  s.row_step = slide->dilation[0] * x->row_bytes;
  s.ring = (uint32_t) x->capacity * x->row_bytes;
  s.step = s.pixel * slide->dilation[1];
  for (int i = 0; i < 4; i++)
    s.padding[i] = (int8_t) p->x_zero;
  s.sums = p->sums;
  s.shifts = p->shifts;
  for (int32_t group = 0; group < p->groups; group++)
    {
      for (int32_t c = 0; c < p->out; c += s.n)
        {
          s.n = p->out - c >= 4 ? 4 : 1;
          conv_compute_block (&s, w, (int8_t *) call->y + channel);
          w += slide->kernel[0] * slide->kernel[1] * p->in * s.n;
          channel += s.n;
          s.sums += 2 * s.n;
          s.shifts += s.n;
        }
      s.x += p->in;
    }
}
