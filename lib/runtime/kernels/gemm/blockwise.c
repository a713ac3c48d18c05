/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Products with weights that are integers of 4 or 8 bits times a scale per block. `prepare` looks
 * for such integers in the float weights. It uses this product only if a run can restore every
 * float bit for bit. The panels of integers have the layout of float panels (panels.h). Each panel
 * begins with a scale and an offset for each column of each block of rows. */

#include "blockwise.h"
#include "block-form.h"
#include "direct.h"

#include "../integers/int-vector.h"

#include <math.h>
#include <string.h>

/* Smallest matrix of floats, in bytes, that is stored as integers. Smaller matrices stay in an L2
 * cache: the product of one row and a matrix of 256 KiB takes 1.16 times as long with integers as
 * with floats. */
#define MIN_BYTES (512 * 1024)
/* Numbers of vectors (VECTORS) and of columns (WIDTH) of a panel. */
#define VECTORS 4
#define WIDTH ((gint64) (VECTORS * CLEAVE_VECTOR))
/* bytes of the scales and offsets of one block of rows in a panel */
#define BLOCK_BYTES (2 * (gsize) WIDTH * sizeof (float))
/* Number of rows of weights that are converted to floats at once. With a CHUNK of 64, whose floats
 * fit into an L1 cache, a product of 64 rows of x takes 1.07 times as long as with 256. */
#define CHUNK 256
/* Number of rows of x that are multiplied by the same converted weights, so that the rows stay in a
 * cache. With 1,024 instead of 512, a product of 1,024 rows takes 1.04 times as long; with 128
 * instead of 512, 1.02 times as long. */
#define ROWS 512

struct _CleaveBlockwise
{
  CleavePanels panels;
  CleaveBlockForm form;
  const guint8 *packed;
  gint64 first, m, n, x_step, y_step;
};

static void
find_form (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  *(CleaveBlockForm *) to =
      cleave_block_find_form (data, cleave_tensor_get_data ((CleaveTensor *) base));
}

/* The following functions pack the weights. */

static gint64
count_blocks (const CleaveBlockwise *b)
{
  return (b->panels.extent[3] + b->form.block - 1) / b->form.block;
}

/* Returns the bytes of one row of a panel. With 4 bits, a byte holds two integers: a column of the
 * panel's first half in the lower bits, and a column of the second half in the upper bits. */
static gsize
bytes_of_row (const CleaveBlockwise *b)
{
  return (gsize) (WIDTH * b->form.n_bits / 8);
}

static gsize
bytes_of_panel (const CleaveBlockwise *b)
{
  gsize n = (gsize) count_blocks (b) * BLOCK_BYTES + (gsize) b->panels.extent[3] * bytes_of_row (b);

  return (n + 63) / 64 * 64;
}

static void
pack_number (const CleaveBlockwise *b, guint8 *row, gint64 column, gint32 number)
{
  const gint64 half = WIDTH / 2;

  if (b->form.n_bits == 8)
    row[column] = (guint8) number;
  else if (column < half)
    row[column] |= (guint8) number;
  else
    row[column - half] |= (guint8) (number << 4);
}

static void
pack_column (const CleaveBlockwise *b, const float *w, gint64 column, guint8 *panel)
{
  const gint64 n_rows = b->panels.extent[3];
  guint8 *rows = panel + (gsize) count_blocks (b) * BLOCK_BYTES;
  CleaveBlock block;

  for (gint64 from = 0, k = 0; from < n_rows; from += b->form.block, k++)
    {
      float *scales = (float *) (gpointer) (panel + (gsize) k * BLOCK_BYTES);

      cleave_block_find (w + from, MIN (b->form.block, n_rows - from), &block);
      scales[column] = block.scale;
      scales[WIDTH + column] = (float) block.least;
      for (gint64 row = from; row < MIN (from + b->form.block, n_rows); row++)
        pack_number (b, rows + (gsize) row * bytes_of_row (b), column,
                     (gint32) rintf (w[row] / block.scale) - block.least);
    }
}

static void
pack (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  const CleaveBlockwise *b = data;
  const float *from = cleave_tensor_get_data ((CleaveTensor *) base);
  g_autofree float *columns = g_new (float, (gsize) (CLEAVE_BLOCK_TOGETHER * b->panels.extent[3]));

  for (gint64 column = 0; column < b->panels.n_columns; column += CLEAVE_BLOCK_TOGETHER)
    {
      gint64 n = cleave_block_read_columns (&b->panels, from, column, columns);

      for (gint64 i = column; i < column + n; i++)
        pack_column (b, columns + (i - column) * b->panels.extent[3], i % WIDTH,
                     (guint8 *) to + (gsize) (i / WIDTH) * bytes_of_panel (b));
    }
}

CleaveBlockwise *
cleave_blockwise_new (CleaveWeights *weights,
                      CleaveTensor *constant,
                      guint columns,
                      const CleavePanels *panels,
                      gint64 m,
                      gint64 n,
                      gint64 x_step,
                      gint64 y_step)
{
  CleaveBlockwise b = { .panels = *panels, .m = m, .n = n, .x_step = x_step, .y_step = y_step };
  CleaveTensor *base = cleave_weights_find_base (constant, columns, &b.first);
  g_autofree char *key = NULL, *packed_key = NULL;
  const CleaveBlockForm *form;

  b.panels.n_columns = cleave_tensor_get_type (base)->shape.dim[columns];
  b.panels.width = WIDTH;
  if (cleave_tensor_get_type (base)->element != CLEAVE_FLOAT32 ||
      b.panels.n_columns * b.panels.extent[3] * (gint64) sizeof (float) < MIN_BYTES)
    return NULL;
  key = g_strdup_printf ("form of blocks, columns %u, rows %" G_GINT64_FORMAT " apart", columns,
                         b.panels.stride[3]);
  form = cleave_weights_ask (weights, base, key, sizeof *form, find_form, &b.panels);
  if (form == NULL || form->block == 0)
    return NULL;
  b.form = *form;
  packed_key = g_strdup_printf ("blocks of %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                                " bits, panels of %" G_GINT64_FORMAT ", columns %u",
                                form->block, form->n_bits, WIDTH, columns);
  b.packed = cleave_weights_get (
      weights, base, packed_key,
      (gsize) ((b.panels.n_columns + WIDTH - 1) / WIDTH) * bytes_of_panel (&b), pack, &b);
  return b.packed == NULL ? NULL : g_memdup2 (&b, sizeof b);
}

/* The following functions run the product. */

typedef gint32 Numbers __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (gint32))));

/* `n` consecutive rows of a panel of weights. All of them are in one block, so each column has one
 * scale and one offset. */
typedef struct
{
  const float *scales, *offsets;
  const guint8 *numbers;
  gint64 step, n; /* distance of adjacent rows in bytes, and number of rows */
} Rows;

/* Returns consecutive rows of weights from row `begin` on, up to the end of the block that contains
 * `begin`, but not beyond row `end`. */
static Rows
rows_of (const CleaveBlockwise *b, const guint8 *panel, gint64 begin, gint64 end)
{
  gint64 k = begin / b->form.block;
  const float *scales = (const float *) (gconstpointer) (panel + (gsize) k * BLOCK_BYTES);

  return (Rows){ .scales = scales,
                 .offsets = scales + WIDTH,
                 .numbers = panel + (gsize) count_blocks (b) * BLOCK_BYTES +
                            (gsize) begin * bytes_of_row (b),
                 .step = (gint64) bytes_of_row (b),
                 .n = MIN ((k + 1) * b->form.block, end) - begin };
}

/* Converts vector i of a row of weights to floats. With 4 bits (`is_short`), the vectors of the
 * panel's second half are in the upper bits of the bytes of the first half. */
static inline __attribute__ ((always_inline)) CleaveVector
read_vector (const guint8 *row, int i, gboolean is_short, CleaveVector offset, CleaveVector scale)
{
  const int half = VECTORS / 2;
  Numbers numbers = (Numbers) cleave_ints_load_bytes (
      row + (is_short && i >= half ? i - half : i) * CLEAVE_VECTOR, FALSE);

  if (is_short)
    numbers = i >= half ? numbers >> 4 : numbers & 15;
  return (__builtin_convertvector(numbers, CleaveVector) + offset) * scale;
}

static inline __attribute__ ((always_inline)) void
unpack_rows (const Rows *rows, gboolean is_short, float *to)
{
  for (int i = 0; i < VECTORS; i++)
    {
      const CleaveVector scale = cleave_vector_load (rows->scales + i * CLEAVE_VECTOR);
      const CleaveVector offset = cleave_vector_load (rows->offsets + i * CLEAVE_VECTOR);

      for (gint64 row = 0; row < rows->n; row++)
        cleave_vector_store (
            to + row * WIDTH + i * CLEAVE_VECTOR,
            read_vector (rows->numbers + row * rows->step, i, is_short, offset, scale));
    }
}

/* Multiplies one row of x by the given rows of weights, and adds the products to the sums in y. y
 * has one sum for each column of the panel. */
static inline __attribute__ ((always_inline)) void
add_rows (const Rows *rows, gboolean is_short, const float *x, float *y)
{
  CleaveVector sum[VECTORS], scale[VECTORS], offset[VECTORS];

  CLEAVE_EACH (i, VECTORS)
    {
      sum[i] = cleave_vector_load (y + i * CLEAVE_VECTOR);
      scale[i] = cleave_vector_load (rows->scales + i * CLEAVE_VECTOR);
      offset[i] = cleave_vector_load (rows->offsets + i * CLEAVE_VECTOR);
    }
  for (gint64 row = 0; row < rows->n; row++)
    {
      const CleaveVector v = cleave_vector_all (x[row]);

      CLEAVE_EACH (i, VECTORS)
        sum[i] = cleave_vector_fma (
            v, read_vector (rows->numbers + row * rows->step, i, is_short, offset[i], scale[i]),
            sum[i]);
    }
  CLEAVE_EACH (i, VECTORS)
    cleave_vector_store (y + i * CLEAVE_VECTOR, sum[i]);
}

/* Converts rows [begin, end) of weights in a panel to floats. */
static void
unpack (const CleaveBlockwise *b, const guint8 *panel, gint64 begin, gint64 end, float *to)
{
  for (gint64 row = begin; row < end;)
    {
      const Rows rows = rows_of (b, panel, row, end);

      if (b->form.n_bits == 4)
        unpack_rows (&rows, TRUE, to + (row - begin) * WIDTH);
      else
        unpack_rows (&rows, FALSE, to + (row - begin) * WIDTH);
      row += rows.n;
    }
}

/* Multiplies one row of x by a panel of weights. Writes one sum to y for each column of the
 * panel. */
static void
multiply_row (const CleaveBlockwise *b, const guint8 *panel, const float *x, float *y)
{
  memset (y, 0, WIDTH * sizeof *y);
  for (gint64 row = 0; row < b->panels.extent[3];)
    {
      const Rows rows = rows_of (b, panel, row, b->panels.extent[3]);

      if (b->form.n_bits == 4)
        add_rows (&rows, TRUE, x + row, y);
      else
        add_rows (&rows, FALSE, x + row, y);
      row += rows.n;
    }
}

/* Multiplies rows of x by the weight columns [from, to) of a panel. */
static void
multiply (const CleaveBlockwise *b,
          const guint8 *panel,
          gint64 from,
          gint64 to,
          const float *x,
          gint64 n_rows,
          float *y,
          float *scratch)
{
  static const unsigned long long zero = 0;
  CleaveDirect d = { .a = scratch + from,
                     .y = y,
                     .n = n_rows,
                     .x_step = b->x_step,
                     .y_step = b->y_step,
                     .m = to - from,
                     .lda = WIDTH,
                     .n_taps = 1,
                     .a_offset = &zero,
                     .x_offset = &zero };

  if (n_rows == 1)
    {
      multiply_row (b, panel, x, scratch);
      memcpy (y, scratch + from, (gsize) (to - from) * sizeof *y);
      return;
    }
  for (gint64 row = 0; row < b->panels.extent[3]; row += d.k)
    {
      d.k = MIN (CHUNK, b->panels.extent[3] - row);
      d.x = x + row;
      d.adds = row > 0;
      unpack (b, panel, row, row + d.k, scratch);
      cleave_direct_run (&d);
    }
}

gsize
cleave_blockwise_n_scratch (void)
{
  return (gsize) (CHUNK * WIDTH + WIDTH) * sizeof (float);
}

void
cleave_blockwise_run (const CleaveBlockwise *b,
                      const float *x,
                      const CleaveKernelInstance *instance,
                      gint64 y_at,
                      float *scratch)
{
  float *y = (float *) instance->results[0].data + y_at;

  for (gint64 row = 0, n_rows; row < b->m; row += n_rows)
    {
      n_rows = MIN (ROWS, b->m - row);
      for (gint64 i = 0, next; i < b->n; i = next)
        {
          gint64 panel = (b->first + i) / WIDTH, from = (b->first + i) % WIDTH;

          next = MIN (i + WIDTH - from, b->n);
          multiply (b, b->packed + (gsize) panel * bytes_of_panel (b), from, from + next - i,
                    x + row * b->x_step, n_rows, y + row * b->y_step + i, scratch);
        }
      cleave_kernel_range_done (instance, y_at + row * b->y_step,
                                y_at + (row + n_rows) * b->y_step);
    }
}
