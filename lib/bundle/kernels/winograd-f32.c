/* SPDX-License-Identifier: 0BSD */

/* A convolution of floats by Winograd's algorithm F(2x2, 3x3). A tile of 2x2 elements of the result
 * needs 16 sums, one for each element of a transformed tile of 4x4 elements of x. A row of the
 * result needs only 12 of them: the upper row of a tile does not need the last four, the lower row
 * does not need the first four. Elements of x on padding are 0. */

#include "cleave-kernels.h"

typedef struct
{
  const CleaveCall *call;
  const CleaveWinogradF32 *p;
  int32_t row, column; /* row and column in the operand at which the tile begins */
  int32_t is_lower;    /* whether the row of the result is the lower row of its tiles */
  int32_t first, end;  /* columns [first, end) of the operand that may be read */
} Winograd;

/* Transforms four values of x in place. The values are `step` floats apart. */
static void
winograd_image (float *d, int step)
{
  const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];

  d[0] = d0 - d2;
  d[step] = d1 + d2;
  d[2 * step] = d2 - d1;
  d[3 * step] = d1 - d3;
}

/* Returns result 1 (`is_second`) or result 0 of four transformed sums. The sums are `step` floats
 * apart. */
static float
winograd_result (const float *m, int step, int32_t is_second)
{
  return is_second ? (m[step] - m[2 * step]) - m[3 * step] : (m[0] + m[step]) + m[2 * step];
}

/* Loads a tile of a channel and transforms it. Sets to 0 the row of the transformed tile that the
 * result does not need. */
static void
winograd_load (const Winograd *s, int32_t channel, float *d)
{
  const CleaveRows *x = &s->call->x[0];
  const int32_t pixel = s->p->in * s->p->groups;

  for (int32_t i = 0; i < 4; i++)
    {
      const int32_t row = s->row + i;
      const int is_here = i >= s->is_lower && i < 3 + s->is_lower && row >= 0 && row < s->p->rows;
      const float *from = is_here ? (const float *) cleave_row (x, row) + channel : NULL;

      for (int32_t j = 0; j < 4; j++)
        {
          const int32_t column = s->column + j;

          d[4 * i + j] = from != NULL && column >= s->first && column < s->end
                             ? from[(column - x->begin) * pixel]
                             : 0;
        }
    }
  for (int j = 0; j < 4; j++)
    winograd_image (d + j, 4);
  for (int i = 0; i < 4; i++)
    winograd_image (d + 4 * i, 1);
}

/* Computes n channels of two adjacent pixels. Stores a pixel only if its address in `y` is not
 * NULL. */
static void
winograd_block (
    const Winograd *s, int32_t group, int32_t n, const float *w, const float *bias, float *const *y)
{
  const int32_t first = 4 * s->is_lower;
  float sum[16][4], d[16], m[16];

  for (int32_t t = 0; t < 16; t++)
    for (int32_t k = 0; k < n; k++)
      sum[t][k] = bias != NULL && t == 5 ? bias[k] : 0;
  for (int32_t i = 0; i < s->p->in; i++)
    {
      winograd_load (s, group * s->p->in + i, d);
      for (int32_t t = first; t < first + 12; t++)
        for (int32_t k = 0; k < n; k++)
          sum[t][k] = cleave_fma (d[t], w[t * n + k], sum[t][k]);
      w += 16 * n;
    }
  for (int32_t k = 0; k < n; k++)
    {
      for (int32_t t = 0; t < 16; t++)
        m[t] = sum[t][k];
      for (int32_t j = 0; j < 4; j++)
        m[j] = winograd_result (m + j, 4, s->is_lower);
      for (int32_t j = 0; j < 2; j++)
        if (y[j] != NULL)
          y[j][k] = winograd_result (m, 1, j);
    }
}

/* Computes two adjacent pixels; `left` or `right` is NULL if the result has no such pixel. */
static void
winograd_tile (const Winograd *s, float *left, float *right)
{
  const CleaveWinogradF32 *p = s->p;
  const float *w = p->weights, *bias = p->bias;
  float *y[2];
  int32_t n;

  y[0] = left;
  y[1] = right;
  for (int32_t group = 0; group < p->groups; group++)
    for (int32_t c = 0; c < p->out; c += n)
      {
        n = p->out - c >= 4 ? 4 : 1;
        winograd_block (s, group, n, w, bias, y);
        w += 16 * n * p->in;
        bias = bias == NULL ? NULL : bias + n;
        for (int j = 0; j < 2; j++)
          y[j] = y[j] == NULL ? NULL : y[j] + n;
      }
}

void
cleave_winograd_f32 (const CleaveCall *call)
{
  const CleaveWinogradF32 *p = call->params;
  const int32_t channels = p->out * p->groups;
  float *y = (float *) (void *) call->y;
  Winograd s;

  s.call = call;
  s.p = p;
  s.is_lower = (call->row + p->phase[0]) & 1;
  s.row = call->row - s.is_lower - p->pad[0];
  s.first = call->begin - p->pad[1] > 0 ? call->begin - p->pad[1] : 0;
  s.end = call->end + 2 - p->pad[1] < p->columns ? call->end + 2 - p->pad[1] : p->columns;
  for (int32_t at = call->begin - ((call->begin + p->phase[1]) & 1); at < call->end; at += 2)
    {
      s.column = at - p->pad[1];
      winograd_tile (&s, at < call->begin ? NULL : y + (at - call->begin) * channels,
                     at + 1 < call->end ? y + (at + 1 - call->begin) * channels : NULL);
    }
}
