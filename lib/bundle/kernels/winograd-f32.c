/* SPDX-License-Identifier: 0BSD */

/* A convolution of floats by Winograd's algorithm F(2x2, 3x3). A tile of 2x2 elements of the result
 * needs 16 sums, one for each element of a transformed tile of 4x4 elements of x. A call of the
 * kernel computes one row of the result, that is, one row of each tile:
 *
 *   upper row of a tile      sums 0 to 11, from rows 0 to 2 of x
 *   lower row of a tile      sums 4 to 15, from rows 1 to 3 of x
 *
 * For each channel of the result, the kernel computes three sums at a time: one column of the
 * transformed tile. All 12 sums of four channels would take 192 bytes of stack. Elements of x on
 * padding are 0. */

#include "cleave-kernels.h"

typedef struct
{
  const CleaveCall *call;
  const float *rows[3]; /* rows of the operand from column x->begin on; NULL: the row is padding */
  const float *w;       /* factors that winograd_add () reads next */
  float *y[2];          /* addresses of two adjacent pixels; NULL: the result has no such pixel */
  int32_t column;       /* column in the operand at which the tile begins */
  int32_t is_lower;     /* whether the row of the result is the lower row of its tiles */
  int32_t first, end;   /* columns [first, end) of the operand that may be read */
  int32_t j;            /* column of the transformed tile */
  int32_t n;            /* number of channels of a block, four or one */
  float d[3], sum[12];  /* d: column j of the transformed tile, for one channel of the operand;
                         * sum[4 * t + k]: the sum for element t of column j, for channel k of the
                         * block */
} Winograd;

/* Sets the tile whose left pixels are in column `at` of the result. */
static CLEAVE_APART void
winograd_set_tile (Winograd *s, int32_t at)
{
  const CleaveCall *call = s->call;
  const CleaveWinogradF32 *p = call->params;
  const int32_t channels = p->out * p->groups;
  float *y = (float *) (void *) call->y;

  s->column = at - p->pad[1];
  s->y[0] = at < call->begin ? NULL : y + (at - call->begin) * channels;
  s->y[1] = at + 1 < call->end ? y + (at + 1 - call->begin) * channels : NULL;
}

/* Begins column j of the transformed tile, for a block of channels. Sets the sums to 0. In column
 * 1, sets one sum of each channel to the channel's bias instead. Sets s->w to the factors of column
 * j. `w`: the factors of the block. `bias`: the biases of the block; NULL if there are none. */
static CLEAVE_APART void
winograd_begin (Winograd *s, const float *w, const float *bias)
{
  s->w = w + (4 * s->is_lower + s->j) * s->n;
  memset (s->sum, 0, sizeof s->sum);
  if (bias != NULL && s->j == 1)
    memcpy (s->sum + (s->is_lower ? 0 : 4), bias, (uint32_t) s->n * sizeof *bias);
}

/* Computes column j of the transformed tile of a channel, from two columns of the tile. */
static CLEAVE_APART void
winograd_load (Winograd *s, int32_t channel)
{
  const CleaveWinogradF32 *p = s->call->params;
  const int32_t j = s->j;

  for (int i = 0; i < 2; i++)
    {
      const int32_t column = s->column + (i == 0 ? (j == 3 ? 1 : j) : j < 2 ? 2 : 2 * j - 3);
      const int32_t at = (column - s->call->x[0].begin) * p->in * p->groups + channel;
      const int is_here = column >= s->first && column < s->end;
      const float x0 = is_here && s->rows[0] != NULL ? s->rows[0][at] : 0;
      const float x1 = is_here && s->rows[1] != NULL ? s->rows[1][at] : 0;
      const float x2 = is_here && s->rows[2] != NULL ? s->rows[2][at] : 0;
      const float d0 = s->is_lower ? x0 + x1 : x0 - x2;
      const float d1 = s->is_lower ? x1 - x0 : x1 + x2;
      const float d2 = s->is_lower ? x0 - x2 : x2 - x1;

      s->d[0] = i == 0 ? d0 : j == 1 ? s->d[0] + d0 : s->d[0] - d0;
      s->d[1] = i == 0 ? d1 : j == 1 ? s->d[1] + d1 : s->d[1] - d1;
      s->d[2] = i == 0 ? d2 : j == 1 ? s->d[2] + d2 : s->d[2] - d2;
    }
}

/* Adds the products of a channel of the operand to the sums. */
static CLEAVE_APART void
winograd_add (Winograd *s)
{
  const float *w = s->w;

  for (int32_t t = 0; t < 3; t++)
    {
      const float d = s->d[t];

      for (int32_t k = 0; k < s->n; k++)
        s->sum[4 * t + k] = cleave_fma (d, w[k], s->sum[4 * t + k]);
      w += 4 * s->n;
    }
  s->w = w + 4 * s->n;
}

/* Adds the sums for column j of the transformed tile to two adjacent pixels. After the last column,
 * moves the addresses `y` of the pixels to the next block of channels. */
static CLEAVE_APART void
winograd_store (Winograd *s)
{
  for (int32_t k = 0; k < s->n; k++)
    {
      const float a = s->sum[k], b = s->sum[4 + k], c = s->sum[8 + k];
      const float m = s->is_lower ? (a - b) - c : (a + b) + c;

      if (s->y[0] != NULL && s->j < 3)
        s->y[0][k] = s->j == 0 ? m : s->y[0][k] + m;
      if (s->y[1] != NULL && s->j > 0)
        s->y[1][k] = s->j == 1 ? m : s->y[1][k] - m;
    }
  for (int i = 0; s->j == 3 && i < 2; i++)
    s->y[i] = s->y[i] == NULL ? NULL : s->y[i] + s->n;
}

/* Computes all channels of two adjacent pixels. */
static void
winograd_tile (Winograd *s)
{
  const CleaveWinogradF32 *p = s->call->params;
  const float *w = p->weights, *bias = p->bias;

  for (int32_t group = 0; group < p->groups; group++)
    for (int32_t left = p->out; left > 0; left -= s->n)
      {
        s->n = left >= 4 ? 4 : 1;
        for (s->j = 0; s->j < 4; s->j++)
          {
            winograd_begin (s, w, bias);
            for (int32_t i = 0; i < p->in; i++)
              {
                winograd_load (s, group * p->in + i);
                winograd_add (s);
              }
            winograd_store (s);
          }
        w += 16 * s->n * p->in;
        bias = bias == NULL ? NULL : bias + s->n;
      }
}

void
cleave_winograd_f32 (const CleaveCall *call)
{
  const CleaveWinogradF32 *p = call->params;
  Winograd s;

  s.call = call;
  s.is_lower = (call->row + p->phase[0]) & 1;
  for (int32_t i = 0; i < 3; i++)
    {
      const int32_t row = call->row - p->pad[0] + i;

      s.rows[i] = row >= 0 && row < p->rows ? (const float *) cleave_row (&call->x[0], row) : NULL;
    }
  s.first = call->begin - p->pad[1] > 0 ? call->begin - p->pad[1] : 0;
  s.end = call->end + 2 - p->pad[1] < p->columns ? call->end + 2 - p->pad[1] : p->columns;
  for (int32_t at = call->begin - ((call->begin + p->phase[1]) & 1); at < call->end; at += 2)
    {
      winograd_set_tile (&s, at);
      winograd_tile (&s);
    }
}
