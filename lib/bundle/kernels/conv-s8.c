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

/* A row of the result, and the block that is computed. */
typedef struct
{
  const CleaveCall *call;
  const CleaveConvS8 *p;
  int32_t begin, end; /* the rows of the kernel that are on no padding */
  int32_t slot;       /* slot of row `begin` */
  int32_t line;       /* taps of a line of weights */
  int32_t length;     /* elements of a line, for each channel */
  int32_t pixel;      /* elements of a pixel of the operand */
  int32_t step;       /* elements from one tap of the operand to the next */
  int32_t channel;    /* first channel of the group in the operand */
  int32_t n;          /* channels of the block */
  const int32_t *sums; /* of the block */
  const int8_t *shifts;
  uint32_t start[4]; /* begin of the sums */
} ConvRow;

/* Adds the products of elements begin ... end - 1 of a line. x is the first of them, or NULL if they
 * are padding. */
static void
conv_add_elements (const ConvRow *s, uint32_t *sum, const int8_t *x, const int8_t *w, int32_t begin, int32_t end)
{
  const int32_t blocks = s->length & ~3;

  for (int32_t i = begin; i < end; i++)
    {
      const int32_t value = x != NULL ? x[i - begin] : s->p->x_zero;
      const int8_t *at = s->n == 1 ? w + i : i < blocks ? w + (i & ~3) * 4 + (i & 3) : w + i * 4;
      const int32_t step = i < blocks ? 4 : 1;

      for (int32_t c = 0; c < s->n; c++)
        sum[c] += (uint32_t) (value * at[c * step]);
    }
}

static void
conv_add_1x1 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  uint32_t s0 = *sum;

  for (; n > 0; n--)
    s0 += (uint32_t) (*x++ * *w++);
  *sum = s0;
}

/* Returns the pixel of column `column` in a slot, at the first channel of the group. */
static const int8_t *
conv_find_pixel (const ConvRow *s, int32_t slot, int32_t column)
{
  const CleaveRows *x = &s->call->x[0];

  return (const int8_t *) x->data + (uint32_t) slot * x->row_bytes +
         (column - x->begin) * s->pixel + s->channel;
}

static int32_t
conv_next_slot (const ConvRow *s, int32_t slot)
{
  slot += s->p->slide.dilation[0];
  return slot >= s->call->x[0].capacity ? slot - s->call->x[0].capacity : slot;
}

/* Scales a sum and stores it as channel c of the block. */
static inline void
conv_store (const ConvRow *s, uint32_t sum, int32_t c, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const int32_t value = cleave_scale (sum, s->sums[2 * c + 1], s->shifts[c]);

  y[c] = (int8_t) (cleave_clamp (value, p->low, p->high) + p->y_zero);
}

/* Computes a block of four channels of two pixels, whose windows begin at column `first` and have no
 * padding in a row. */
static void
conv_compute_2x4 (const ConvRow *s, const int8_t *w, int32_t first, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t other = s->pixel * slide->stride[1];
  uint32_t s0 = s->start[0], s1 = s->start[1], s2 = s->start[2], s3 = s->start[3];
  uint32_t s4 = s0, s5 = s1, s6 = s2, s7 = s3;
  int32_t slot = s->slot;

  for (int32_t k = s->begin; k < s->end; k++)
    {
      const int8_t *line = conv_find_pixel (s, slot, first);

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
        {
          const int8_t *x0 = line, *x1 = line + other;
          int32_t n;

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t a = x0[i], b = x1[i];                                                            \
    int32_t v = w[at];                                                                             \
                                                                                                   \
    s0 += (uint32_t) (a * v);                                                                      \
    s4 += (uint32_t) (b * v);                                                                      \
    v = w[(at) + (step)];                                                                          \
    s1 += (uint32_t) (a * v);                                                                      \
    s5 += (uint32_t) (b * v);                                                                      \
    v = w[(at) + 2 * (step)];                                                                      \
    s2 += (uint32_t) (a * v);                                                                      \
    s6 += (uint32_t) (b * v);                                                                      \
    v = w[(at) + 3 * (step)];                                                                      \
    s3 += (uint32_t) (a * v);                                                                      \
    s7 += (uint32_t) (b * v);                                                                      \
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
      slot = conv_next_slot (s, slot);
    }
  conv_store (s, s0, 0, y);
  conv_store (s, s1, 1, y);
  conv_store (s, s2, 2, y);
  conv_store (s, s3, 3, y);
  y += s->p->out * s->p->groups;
  conv_store (s, s4, 0, y);
  conv_store (s, s5, 1, y);
  conv_store (s, s6, 2, y);
  conv_store (s, s7, 3, y);
}

/* Adds n products to the sums of four channels of a pixel. */
static void
conv_add_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  uint32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t a = x[i];                                                                        \
                                                                                                   \
    s0 += (uint32_t) (a * w[at]);                                                                  \
    s1 += (uint32_t) (a * w[(at) + (step)]);                                                       \
    s2 += (uint32_t) (a * w[(at) + 2 * (step)]);                                                   \
    s3 += (uint32_t) (a * w[(at) + 3 * (step)]);                                                   \
  }
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
#undef STEP
  sum[0] = s0;
  sum[1] = s1;
  sum[2] = s2;
  sum[3] = s3;
}

/* Adds a line of weights, whose elements begin ... end - 1 lie on x and the others on padding. */
static void
conv_add_line (const ConvRow *s, uint32_t *sum, const int8_t *x, const int8_t *w, int32_t begin, int32_t end)
{
  if (begin > 0)
    conv_add_elements (s, sum, NULL, w, 0, begin);
  if (s->n == 4 && (begin & 3) == 0 && ((end & 3) == 0 || end == s->length))
    conv_add_1x4 (sum, x, w + begin * 4, end - begin);
  else if (s->n == 1)
    conv_add_1x1 (sum, x, w + begin, end - begin);
  else
    conv_add_elements (s, sum, x, w, begin, end);
  if (end < s->length)
    conv_add_elements (s, sum, NULL, w, end, s->length);
}

/* Computes a block of a pixel, whose window begins at column `first`. */
static void
conv_compute_pixel (const ConvRow *s, const int8_t *w, int32_t first, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  uint32_t sum[4] = { s->start[0], s->start[1], s->start[2], s->start[3] };
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
          conv_add_line (s, sum, begin == end ? NULL : conv_find_pixel (s, slot, column + begin), w,
                         begin * s->p->in, end * s->p->in);
          column += slide->dilation[1];
          w += s->length * s->n;
        }
      slot = conv_next_slot (s, slot);
    }
  for (int32_t c = 0; c < s->n; c++)
    conv_store (s, sum[c], c, y);
}

/* Sets the begin of the sums to the bias and the products of rows that are padding. */
static void
conv_begin (ConvRow *s, const int8_t *w)
{
  const CleaveSlide *slide = &s->p->slide;

  for (int32_t c = 0; c < s->n; c++)
    s->start[c] = (uint32_t) s->sums[2 * c];
  for (int32_t k = 0; k < slide->kernel[0]; k++)
    for (int32_t tap = 0; tap < slide->kernel[1]; tap += s->line)
      {
        if (k < s->begin || k >= s->end)
          conv_add_elements (s, s->start, NULL, w, 0, s->length);
        w += s->length * s->n;
      }
}

/* Computes a block of all pixels. */
static void
conv_compute_block (ConvRow *s, const int8_t *w, int8_t *y)
{
  const CleaveSlide *slide = &s->p->slide;
  const int32_t reach = (slide->kernel[1] - 1) * slide->dilation[1] + slide->stride[1];
  const int32_t pixel = s->p->out * s->p->groups;
  int32_t first = s->call->begin * slide->stride[1] - slide->pad[1];

  conv_begin (s, w);
  w += s->begin * slide->kernel[1] * s->p->in * s->n;
  for (int32_t left = s->call->end - s->call->begin; left > 0; left--)
    {
      if (s->n == 4 && left > 1 && first >= 0 && first + reach < slide->columns)
        {
          conv_compute_2x4 (s, w, first, y);
          y += pixel;
          first += slide->stride[1];
          left--;
        }
      else
        conv_compute_pixel (s, w, first, y);
      y += pixel;
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
  s.slot = x->slot - (x->made - (first + taps.begin * slide->dilation[0]));
  if (s.slot < 0)
    s.slot += x->capacity;
  s.line = p->groups == 1 && slide->dilation[1] == 1 ? slide->kernel[1] : 1;
  s.length = s.line * p->in;
  s.pixel = p->in * p->groups;
  s.step = s.pixel * slide->dilation[1];
  s.channel = 0;
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
      s.channel += p->in;
    }
}
