/* SPDX-License-Identifier: 0BSD */

/* Convolution of int8. Channels of the result are computed in blocks of four channels; remaining
 * channels are blocks of one channel. The weights of a block are a sequence of lines. A line has
 * the weights of one of these sets of taps, the first whose condition is true:
 *
 *   - all taps, if the window has several taps and at most CONV_S8_GATHERED elements. The code
 *     copies the window, with padding. Zeros extend the line to a multiple of four weights.
 *   - a row of the kernel, if its taps are side by side in the operand and a multiple of four bytes
 *   - one tap
 *
 * A line with four channels has the order of dot-s8.h if p->is_combined is 1, and the order of
 * dot-separate-s8.h if it is 0. A line with a single channel has the order of the elements.
 *
 * The sums begin with the bias minus x_zero times all weights, so the code need not subtract x_zero
 * from x. An element of padding must then count as x_zero: the code multiplies its weight by
 * x_zero. */

#include "cleave-kernels.h"
#include "dot-s8.h"
#include "dot-separate-s8.h"
#include "window-s8.h"

#define CONV_S8_GATHERED 40

/* Returns 1 if a line has the weights of all taps of the window, 0 otherwise. */
static inline uint8_t
conv_s8_is_small (const CleaveConvS8 *p)
{
  const int32_t taps = p->slide.kernel[0] * p->slide.kernel[1];

  return taps > 1 && taps * p->in <= CONV_S8_GATHERED;
}

/* For lines that do not have all taps of the window: returns whether a line has the weights of a
 * whole row of the kernel, not only of one tap. */
static inline int
conv_s8_has_rows (const CleaveConvS8 *p)
{
  return p->groups == 1 && p->slide.dilation[1] == 1 && p->in % 4 == 0;
}

/* The state of the computation of one or two pixels of the result. */
typedef struct
{
  WindowS8 window;
  uint8_t pixels;    /* number of pixels: 1, or 2 if their windows have no padding on the left and
                      * right */
  uint8_t is_single; /* 1: the elements of the whole window are at `from` */
  uint8_t is_copied; /* 1: a line of weights has the weights of all taps, so the windows are copied
                      * to the array `part` */
  uint8_t n;         /* number of channels in the block */
  /* Address of the next `count` elements of the window to multiply by weights. They lie in the
   * operand or in the array `part`. */
  const int8_t *from;
  int32_t other; /* distance in bytes from an element in the first pixel's window to the element at
                  * the same place in the second pixel's window */
  int32_t left;  /* number of elements of the line that follow `from[count - 1]` */
  uint32_t row;  /* offset in bytes, from slot 0, of the operand row that row k of the kernel
                  * reads */
  CleaveTapCount k, tap; /* row of the kernel, and tap in this row, at which the next line begins */
  uint16_t count;
  uint32_t sum[8]; /* sums of the channels of the block: sum[0] ... for the first pixel, sum[4] ...
                    * for the second */
  int8_t part[2 * CONV_S8_GATHERED]; /* if is_copied: the windows; if not: x_zero, read in place of
                                      * padding */
} ConvS8;

/* Adds the products of the elements at `from` and the weights `w` to the sums of one channel. */
static void
conv_s8_add_single (ConvS8 *s, const int8_t *w)
{
  const int8_t *from = s->from;

  for (int32_t pixel = 0; pixel < s->pixels; pixel++)
    {
      int32_t sum = 0;

      for (int32_t i = 0; i < s->count; i++)
        sum += from[i] * w[i];
      s->sum[4 * pixel] += (uint32_t) sum;
      from += s->other;
    }
}

/* Adds the products of the elements at `from` and the weights `w` to the sums of a block. */
static CLEAVE_APART void
conv_s8_add (ConvS8 *s, const int8_t *w)
{
  if (s->n == 1)
    conv_s8_add_single (s, w);
#ifdef CLEAVE_SEPARATE_WEIGHTS
#ifndef CLEAVE_MVE /* Helium computes two pixels in the time of one */
  else if (!s->window.p->is_combined && s->pixels == 1)
    dot_separate_s8_1x4 (s->sum, s->from, w, s->count);
#endif
  else if (!s->window.p->is_combined)
    dot_separate_s8_2x4 (s->sum, s->from, s->other, w, s->count);
#endif
  else if (!CLEAVE_IS_SMALL && s->pixels == 1)
    dot_s8_1x4 (s->sum, s->from, w, s->count);
  else
    dot_s8_2x4 (s->sum, s->from, s->other, w, s->count);
}

/* Advances to the next elements of the window: some or all of the elements that one line of weights
 * is multiplied with. Sets the address (`from`) and the number (`count`) of these elements. For
 * padding, sets `from` to the array `part`, whose elements are x_zero. Returns 1; 0 at the end of
 * the window. */
static int
conv_s8_next (ConvS8 *s)
{
  const CleaveSlide *slide = &s->window.p->slide;
  int32_t limit;

  if (s->left == 0)
    {
      int32_t column, taps;
      int has_row = window_s8_has_row (&s->window, s->k);

      if (s->tap == slide->kernel[1])
        {
          s->row = has_row ? window_s8_next_row (&s->window, s->row) : s->row;
          s->tap = 0;
          has_row = window_s8_has_row (&s->window, ++s->k);
        }
      if (s->k == slide->kernel[0])
        return 0;
      column = s->window.first + s->tap * slide->dilation[1];
      taps = conv_s8_has_rows (s->window.p) ? slide->kernel[1] - s->tap : 1;
      s->from = s->part;
      s->other = 0;
      if (column < 0)
        taps = taps > -column ? -column : taps;
      else if (has_row && column < slide->columns)
        {
          taps = taps > slide->columns - column ? slide->columns - column : taps;
          s->from = s->window.x + s->row + column * s->window.pixel;
          s->other = s->pixels == 2 ? s->window.pixel * slide->stride[1] : 0;
        }
      s->tap = (CleaveTapCount) (s->tap + taps);
      s->left = taps * s->window.p->in;
    }
  else
    s->from += s->from == s->part ? 0 : s->count;
  limit = s->from == s->part ? CONV_S8_GATHERED : DOT_S8_ELEMENTS;
  s->count = (uint16_t) (s->left > limit ? limit : s->left);
  s->left -= s->count;
  return 1;
}

/* Copies a window to `to`. `first`: column of the operand that the window's first tap reads. */
static CLEAVE_APART void
conv_s8_gather (const ConvS8 *s, int32_t first, int8_t *to)
{
  const CleaveSlide *slide = &s->window.p->slide;
  const int8_t zero = s->window.p->x_zero;
  const int32_t end = first + (slide->kernel[1] - 1) * slide->dilation[1];
  const int32_t is_side_by_side = !CLEAVE_IS_SMALL && first >= 0 && end < slide->columns &&
                                  s->window.p->groups == 1 && slide->dilation[1] == 1;
  uint32_t row = s->window.row;

  for (int32_t k = 0; k < slide->kernel[0]; k++)
    {
      const int has_row = window_s8_has_row (&s->window, k);
      const int32_t run = has_row && is_side_by_side ? slide->kernel[1] : 1;
      int32_t column = first;

      for (int32_t tap = 0; tap < slide->kernel[1]; tap += run)
        {
          const int is_inside = has_row && column >= 0 && column < slide->columns;
          const int8_t *from = is_inside ? s->window.x + row + column * s->window.pixel : &zero;

          for (int32_t n = run * s->window.p->in; n > 0; n--)
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

/* Sets `pixels` to 2 if at least two pixels are left, and their windows are copied or have no
 * padding on the left and right; if not, to 1. If all elements of a window are contiguous, in the
 * operand or in a copy, sets `is_single`, `from` and `other`. */
static CLEAVE_APART void
conv_s8_begin (ConvS8 *s, int32_t left)
{
  const CleaveConvS8 *p = s->window.p;
  const CleaveSlide *slide = &p->slide;
  const int32_t first = s->window.first, taps = slide->kernel[0] * slide->kernel[1];
  const int32_t end = first + (slide->kernel[1] - 1) * slide->dilation[1];

  s->count = (uint16_t) (s->is_copied ? (taps * p->in + 3) & ~3 : p->in);
  s->is_single = s->is_copied;
  s->pixels =
      left > 1 && (s->is_single || (first >= 0 && end + slide->stride[1] < slide->columns)) ? 2 : 1;
  if (s->is_single)
    {
      s->from = s->part;
      s->other = CONV_S8_GATHERED;
    }
  else if (!CLEAVE_IS_SMALL && taps == 1 && p->in <= DOT_S8_ELEMENTS &&
           window_s8_has_row (&s->window, 0) && first >= 0 && first < slide->columns)
    {
      s->is_single = 1;
      s->from = s->window.x + s->window.row + first * s->window.pixel;
      s->other = s->pixels == 2 ? s->window.pixel * slide->stride[1] : 0;
    }
}

/* Computes the channels of the group that begins at channel `channel`. `w`: the group's weights.
 * Returns the address of the next group's weights. */
static const int8_t *
conv_s8_compute (ConvS8 *s, int32_t channel, const int8_t *w, int8_t *y)
{
  const CleaveConvS8 *p = s->window.p;
  const int32_t end = channel + p->out;

  for (; channel < end; channel += s->n)
    {
      int more = s->is_single;

      s->n = end - channel >= 4 ? 4 : 1;
      s->left = s->k = s->tap = 0;
      s->row = s->window.row;
      s->sum[0] = s->sum[1] = s->sum[2] = s->sum[3] = 0;
      s->sum[4] = s->sum[5] = s->sum[6] = s->sum[7] = 0;
      for (more = more || conv_s8_next (s); more; more = !s->is_single && conv_s8_next (s))
        {
          conv_s8_add (s, w);
          w += s->count * s->n;
        }
      window_s8_store (&s->window, channel, s->sum, s->n, y,
                       s->pixels == 2 ? p->out * p->groups : 0);
    }
  return w;
}

void
cleave_conv_s8 (const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  int8_t *y = (int8_t *) call->y;
  ConvS8 s;

  window_s8_begin (&s.window, call);
  s.is_copied = conv_s8_is_small (p);
  memset (s.part, p->x_zero, CONV_S8_GATHERED);
  for (int32_t left = call->end - call->begin; left > 0; left -= s.pixels)
    {
      const int8_t *w = s.window.weights;

      for (int32_t group = 0; group < p->groups; group++)
        {
          conv_s8_begin (&s, left);
          for (int32_t i = 0; i < s.pixels && s.is_copied; i++)
            conv_s8_gather (&s, s.window.first + i * p->slide.stride[1],
                            s.part + i * CONV_S8_GATHERED);
          w = conv_s8_compute (&s, group * p->out, w, y);
          s.window.x += p->in;
        }
      s.window.x -= s.window.pixel;
      s.window.first += s.pixels * p->slide.stride[1];
      y += s.pixels * p->out * p->groups;
    }
}
