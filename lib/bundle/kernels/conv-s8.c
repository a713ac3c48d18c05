/* SPDX-License-Identifier: 0BSD */

/* Convolution of int8. A block is four channels of the result, or one of those that are left. The
 * weights of a block are lines. A line is the longest of these:
 *
 *   - all taps, if there are several with at most CONV_S8_GATHERED elements: they are copied from
 *     the operand, with padding
 *   - a row of the kernel, if its taps are side by side in the operand and a multiple of four bytes
 *   - one tap
 *
 * The order of the weights of a line is in dot-s8.h; those of one channel are w[i].
 *
 * The sums begin with the bias minus x_zero times all weights, so that x is not shifted. In return,
 * weights on padding are multiplied by x_zero. */

#include "cleave-kernels.h"
#include "dot-s8.h"
#include "window-s8.h"

#define CONV_S8_GATHERED 40

/* One or two pixels of the result. */
typedef struct
{
  WindowS8 window;
  int32_t pixels;
  int32_t line;    /* taps of a line, 0: all */
  int32_t n;       /* channels of the block */
  const int8_t *x; /* the first channel of the group */
  uint32_t sum[8]; /* the sums of the block; the sums of the second pixel are sum[4] ... */
  int8_t part[2 * CONV_S8_GATHERED]; /* windows, or padding */
} ConvS8;

/* Returns whether the windows of the pixels have no padding on the left and right. */
static int
conv_s8_is_inside (const ConvS8 *s)
{
  const CleaveSlide *slide = &s->window.p->slide;

  return s->window.first >= 0 && s->window.first + (slide->kernel[1] - 1) * slide->dilation[1] +
                                         (s->pixels - 1) * slide->stride[1] <
                                     slide->columns;
}

/* Adds n products to the sums. Returns the next weights. */
static const int8_t *
conv_s8_add (ConvS8 *s, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  if (s->n == 4)
    {
      if (s->pixels == 2)
        dot_s8_2x4 (s->sum, x, other, w, n);
      else
        dot_s8_1x4 (s->sum, x, w, n);
      return w + 4 * n;
    }
  for (; n > 0; n--)
    {
      const int32_t v = *w++;

      s->sum[0] += (uint32_t) (x[0] * v);
      if (s->pixels == 2)
        s->sum[4] += (uint32_t) (x[other] * v);
      x++;
    }
  return w;
}

/* Adds the products of n weights that are on padding. */
static const int8_t *
conv_s8_pad (ConvS8 *s, const int8_t *w, int32_t n)
{
  for (; n > CONV_S8_GATHERED; n -= CONV_S8_GATHERED)
    w = conv_s8_add (s, s->part, 0, w, CONV_S8_GATHERED);
  return n > 0 ? conv_s8_add (s, s->part, 0, w, n) : w;
}

/* Adds the products of all lines. */
static const int8_t *
conv_s8_add_lines (ConvS8 *s, const int8_t *w)
{
  const CleaveSlide *slide = &s->window.p->slide;
  const int32_t in = s->window.p->in, line = s->line;
  const int32_t other = s->window.pixel * slide->stride[1];
  uint32_t row = s->window.row;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int has_row = window_s8_has_row (&s->window, k);
      int32_t column = s->window.first;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += line)
        {
          int32_t begin = 0, end = has_row ? line : 0;

          while (begin < end && column + begin < 0)
            begin++;
          while (end > begin && column + end > slide->columns)
            end--;
          w = conv_s8_pad (s, w, begin * in);
          if (begin < end)
            w = conv_s8_add (s, s->x + row + (column + begin) * s->window.pixel, other, w,
                             (end - begin) * in);
          w = conv_s8_pad (s, w, (line - end) * in);
          column += slide->dilation[1];
        }
      if (has_row)
        row = window_s8_next_row (&s->window, row);
    }
  return w;
}

/* Copies a window whose first tap is at column `first`. */
static void
conv_s8_gather (const ConvS8 *s, int32_t first, int8_t *to)
{
  const CleaveSlide *slide = &s->window.p->slide;
  const int8_t zero = (int8_t) s->window.p->x_zero;
  uint32_t row = s->window.row;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int has_row = window_s8_has_row (&s->window, k);
      int32_t column = first;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap++)
        {
          const int is_inside = has_row && column >= 0 && column < slide->columns;
          const int8_t *from = is_inside ? s->x + row + column * s->window.pixel : &zero;

          for (int32_t n = s->window.p->in; n > 0; n--)
            {
              *to++ = *from;
              from += is_inside;
            }
          column += slide->dilation[1];
        }
      if (has_row)
        row = window_s8_next_row (&s->window, row);
    }
}

/* Computes the channels of a group. Its windows are copied, or begin at x in slot 0. Returns the
 * weights of the next group. */
static const int8_t *
conv_s8_compute (ConvS8 *s, int32_t channel, const int8_t *w, int8_t *y)
{
  const CleaveConvS8 *p = s->window.p;
  const int32_t end = channel + p->out, taps = p->slide.kernel[0] * p->slide.kernel[1];
  const int32_t is_point = taps == 1 && window_s8_has_row (&s->window, 0) && conv_s8_is_inside (s);
  const int8_t *x = s->part;
  int32_t other = CONV_S8_GATHERED;

  if (is_point)
    {
      x = s->x + s->window.row + s->window.first * s->window.pixel;
      other = s->window.pixel * p->slide.stride[1];
    }
  for (; channel < end; channel += s->n)
    {
      s->n = end - channel >= 4 ? 4 : 1;
      s->sum[0] = s->sum[1] = s->sum[2] = s->sum[3] = 0;
      s->sum[4] = s->sum[5] = s->sum[6] = s->sum[7] = 0;
      w = s->line == 0 || is_point ? conv_s8_add (s, x, other, w, taps * p->in)
                                   : conv_s8_add_lines (s, w);
      window_s8_store (&s->window, channel, s->sum, s->n, y);
      if (s->pixels == 2)
        window_s8_store (&s->window, channel, s->sum + 4, s->n, y + p->out * p->groups);
    }
  return w;
}

/* Returns the taps of a line. */
static int32_t
conv_s8_line (const CleaveConvS8 *p)
{
  const CleaveSlide *slide = &p->slide;
  const int32_t taps = slide->kernel[0] * slide->kernel[1];

  if (taps > 1 && taps * p->in <= CONV_S8_GATHERED)
    return 0;
  return p->groups == 1 && slide->dilation[1] == 1 && p->in % 4 == 0 ? slide->kernel[1] : 1;
}

void
cleave_conv_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  int8_t *y = (int8_t *) call->y;
  ConvS8 s;

  window_s8_begin (&s.window, call);
  s.line = conv_s8_line (p);
  memset (s.part, (int8_t) p->x_zero, CONV_S8_GATHERED);
  for (int32_t left = call->end - call->begin; left > 0; left -= s.pixels)
    {
      const int8_t *w = p->weights;

      s.x = s.window.x;
      s.pixels = 2;
      if (left == 1 || (s.line > 0 && !conv_s8_is_inside (&s)))
        s.pixels = 1;
      for (int32_t group = 0; group < p->groups; group++)
        {
          for (int32_t i = 0; s.line == 0 && i < s.pixels; i++)
            conv_s8_gather (&s, s.window.first + i * p->slide.stride[1],
                            s.part + i * CONV_S8_GATHERED);
          w = conv_s8_compute (&s, group * p->out, w, y);
          s.x += p->in;
        }
      s.window.first += s.pixels * p->slide.stride[1];
      y += s.pixels * p->out * p->groups;
    }
}
