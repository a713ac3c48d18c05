/* SPDX-License-Identifier: 0BSD */

/* Parts of all convolutions of int8. Sums are unsigned, since unsigned overflow is defined. */

/* The windows of a row of the result. */
typedef struct
{
  const CleaveConvS8 *p;
  const int8_t *x;   /* slot 0 of the operand at column 0 */
  CleaveTaps rows;   /* rows of the kernel that are on no padding */
  uint32_t row;      /* bytes from slot 0 to the row of the operand under the first of these rows */
  uint32_t row_step; /* bytes from one row of the kernel to the next */
  uint32_t ring;     /* bytes of all slots */
  int32_t first;     /* column in the operand of the first tap */
  int32_t pixel;     /* bytes of a pixel of the operand */
} WindowS8;

static void
window_s8_begin (WindowS8 *s, const CleaveCall *call)
{
  const CleaveConvS8 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const int32_t first = call->row * slide->stride[0] - slide->pad[0];

  s->p = p;
  s->rows = cleave_taps (slide, 0, first);
  s->row_step = slide->dilation[0] * x->row_bytes;
  s->ring = (uint32_t) x->capacity * x->row_bytes;
  s->row = (uint32_t) ((const unsigned char *) cleave_row (x, first + s->rows.begin *
                                                                          slide->dilation[0]) -
                       x->data);
  s->first = call->begin * slide->stride[1] - slide->pad[1];
  s->pixel = p->in * p->groups;
  s->x = (const int8_t *) x->data - x->begin * s->pixel;
}

/* Returns whether row `k` of the kernel is on no padding. */
static inline int
window_s8_has_row (const WindowS8 *s, int32_t k)
{
  return k >= s->rows.begin && k < s->rows.end;
}

/* Returns the bytes from slot 0 to the row of the operand that is under the next row of the
 * kernel. */
static inline uint32_t
window_s8_next_row (const WindowS8 *s, uint32_t row)
{
  row += s->row_step;
  return row >= s->ring ? row - s->ring : row;
}

/* Returns an element of the result: a scaled sum between the bounds, plus the zero point. */
static inline int32_t
window_s8_bound (int32_t value, int32_t low, int32_t high, int32_t zero)
{
#ifdef CLEAVE_DSP
  if (high - low == 255)
    {
      value += zero;
      __asm__("ssat %0, #8, %0" : "+r"(value));
      return value;
    }
#endif
  return cleave_clamp (value, low, high) + zero;
}

/* Adds the initial values (p->sums) to n sums of a pixel, scales them and stores the bytes. */
static void
window_s8_store (const WindowS8 *s, int32_t channel, const uint32_t *sum, int32_t n, int8_t *y)
{
  const CleaveConvS8 *p = s->p;
  const int32_t low = p->low, high = p->high, zero = p->y_zero;
  const int32_t *scales = p->sums + 2 * channel;
  const int8_t *shift = p->shifts + channel;

  for (y += channel; n > 0; n--)
    {
      const int32_t value = cleave_scale (*sum++ + (uint32_t) scales[0], scales[1], *shift++);

      *y++ = (int8_t) window_s8_bound (value, low, high, zero);
      scales += 2;
    }
}
