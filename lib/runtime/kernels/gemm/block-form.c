/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds a scale for each block of a matrix of floats, so that each float of the block is exactly an
 * integer times the scale. The floats may come from any operator, such as a folded
 * DequantizeLinear. */

#include "block-form.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Largest divisor that cleave_block_find() tries. The scale of a block is the smallest nonzero
 * magnitude of its floats divided by an integer. This integer exceeds MAX_LEAST in only one of
 * 65,000 blocks of 16 random bytes. */
#define MAX_LEAST 64

static gboolean
is_same (float a, float b)
{
  return memcmp (&a, &b, sizeof a) == 0;
}

static gboolean
try_scale (const float *w, gint64 n, float greatest, float scale, CleaveBlock *block)
{
  const float inverse = 1 / scale;

  if (!(scale > 0) || !(greatest * inverse < 255.5f))
    return FALSE;
  *block = (CleaveBlock){ scale, G_MAXINT32, G_MININT32 };
  for (gint64 i = 0; i < n; i++)
    {
      gint32 number = (gint32) rintf (w[i] * inverse);

      if (!is_same ((float) number * scale, w[i]))
        return FALSE;
      block->least = MIN (block->least, number);
      block->most = MAX (block->most, number);
    }
  return block->most - block->least <= 255;
}

/* Finds the scale of a block. Candidates are the smallest nonzero magnitude divided by 1, 2, 3 and
 * so on, and the two floats adjacent to each quotient, since the magnitude is a rounded product.
 * Returns FALSE if no candidate is the scale of all floats. */
gboolean
cleave_block_find (const float *w, gint64 n, CleaveBlock *block)
{
  float least = INFINITY, greatest = 0;

  for (gint64 i = 0; i < n; i++)
    {
      float size = fabsf (w[i]);

      if (!(size <= FLT_MAX))
        return FALSE;
      least = size > 0 && size < least ? size : least;
      greatest = MAX (size, greatest);
    }
  if (greatest == 0)
    return try_scale (w, n, 0, 1, block);
  for (gint32 number = 1; number <= MAX_LEAST; number++)
    {
      float scale = least / (float) number;

      if (try_scale (w, n, greatest, scale, block) ||
          try_scale (w, n, greatest, nextafterf (scale, 0), block) ||
          try_scale (w, n, greatest, nextafterf (scale, INFINITY), block))
        return TRUE;
    }
  return FALSE;
}

gint64
cleave_block_read_columns (const CleavePanels *panels, const float *from, gint64 column, float *to)
{
  const gint64 n_rows = panels->extent[3],
               n = MIN (CLEAVE_BLOCK_TOGETHER, panels->n_columns - column);

  from += column * panels->column_stride;
  for (gint64 row = 0; row < n_rows; row++, from += panels->stride[3])
    for (gint64 i = 0; i < n; i++)
      to[i * n_rows + row] = from[i * panels->column_stride];
  return n;
}

/* Returns whether each block of a column has a scale, so that each float of the block is an integer
 * times the scale. Sets form->n_bits to 8 if the integers of a block do not fit into 4 bits. */
static gboolean
try_column (const float *w, gint64 n_rows, CleaveBlockForm *form)
{
  CleaveBlock block;

  for (gint64 row = 0; row < n_rows; row += form->block)
    {
      if (!cleave_block_find (w + row, MIN (form->block, n_rows - row), &block))
        return FALSE;
      if (block.most - block.least > 15)
        form->n_bits = 8;
    }
  return TRUE;
}

static gboolean
try_form (const CleavePanels *panels, const float *from, float *columns, CleaveBlockForm *form)
{
  for (gint64 column = 0; column < panels->n_columns; column += CLEAVE_BLOCK_TOGETHER)
    {
      gint64 n = cleave_block_read_columns (panels, from, column, columns);

      for (gint64 i = 0; i < n; i++)
        if (!try_column (columns + i * panels->extent[3], panels->extent[3], form))
          return FALSE;
    }
  return TRUE;
}

CleaveBlockForm
cleave_block_find_form (const CleavePanels *panels, const float *from)
{
  const gint64 lengths[] = { panels->extent[3], 256, 128, 64, 32, 16 };
  g_autofree float *columns = g_new (float, (gsize) (CLEAVE_BLOCK_TOGETHER * panels->extent[3]));

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      CleaveBlockForm form = { .block = lengths[i], .n_bits = 4 };

      if ((i == 0 || lengths[i] < lengths[0]) && try_form (panels, from, columns, &form))
        return form;
    }
  return (CleaveBlockForm){ 0 };
}
