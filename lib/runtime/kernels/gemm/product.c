/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans convolutions and matrix products of floats: cuts pixels and sums into parts, and chooses
 * the code of each part. */

#include "product-parts.h"

/* Limit on the number of packed weights, in floats of a panel, that one call reads. With AVX2, the
 * weights fit into the L1 cache beside the elements of x that the call reads. With AVX-512, blocks
 * of sums are so large that reading the weights from the L2 cache takes no extra time. A larger
 * limit then saves additions to y (measured). */
#if CLEAVE_VECTOR == 16
#define MAX_CALL_FLOATS 131072
#else
#define MAX_CALL_FLOATS 8192
#endif
#define MAX_PIECE_FLOATS 2048
#define MIN_PIECE 12
#define MAX_PIECE 64
/* Limit on distances in elements, since LIBXSMM multiplies leading dimensions in 32 bits. */
#define MAX_STEP (1 << 26)
/* A product uses LIBXSMM if its sums have more than LONG_SUM terms and it has at least MANY_COLUMNS
 * columns (measured). */
#define LONG_SUM 1024
#define MANY_COLUMNS 24

static void
region_clear (gpointer data)
{
  Region *region = data;

  g_free (region->a_offset);
  g_free (region->x_tap_offset);
  g_free (region->pieces);
  g_free (region->method);
  g_free (region->kernels);
}

CleaveProduct *
cleave_product_new (gint64 lda, gboolean padded, gboolean has_bias)
{
  CleaveProduct *product = g_new0 (CleaveProduct, 1);

  product->lda = lda;
  product->padded = padded;
  product->has_bias = has_bias;
  product->panels = g_array_new (FALSE, FALSE, sizeof (Panel));
  product->widths = g_array_new (FALSE, FALSE, sizeof (gint64));
  product->regions = g_array_new (FALSE, FALSE, sizeof (Region));
  product->bands = g_array_new (FALSE, FALSE, sizeof (Band));
  g_array_set_clear_func (product->regions, region_clear);
  return product;
}

void
cleave_product_free (CleaveProduct *product)
{
  if (product == NULL)
    return;
  g_array_unref (product->panels);
  g_array_unref (product->widths);
  g_array_unref (product->regions);
  g_array_unref (product->bands);
  g_free (product);
}

static guint
find_width (CleaveProduct *product, gint64 m)
{
  for (guint i = 0; i < product->widths->len; i++)
    if (g_array_index (product->widths, gint64, i) == m)
      return i;
  g_array_append_val (product->widths, m);
  return product->widths->len - 1;
}

void
cleave_product_add_columns (CleaveProduct *product, const CleaveColumns *columns)
{
  Panel panel = { .columns = *columns, .width = find_width (product, columns->m) };

  g_array_append_val (product->panels, panel);
}

/* Returns the number of equal parts into which a tap of k elements is cut, so that a part reads at
 * most 2 * MAX_CALL_FLOATS floats of a panel. The function tries the divisors of k that are less
 * than twice the smallest sufficient number. Returns 1 if there is no such divisor. */
static gint64
parts_of_tap (gint64 k)
{
  gint64 fewest = (k * CLEAVE_PANEL_MAX_WIDTH + 2 * MAX_CALL_FLOATS - 1) / (2 * MAX_CALL_FLOATS);

  for (gint64 parts = fewest; parts < 2 * fewest; parts++)
    if (k % parts == 0)
      return parts;
  return 1;
}

static void
set_taps (Region *to, const CleaveTapRegion *region, gint64 lda)
{
  guint n_parts = region->k == 0 ? 1 : (guint) parts_of_tap (region->k);
  guint n_calls;

  to->k = region->k / n_parts;
  to->n_taps = region->k == 0 ? 0 : region->n_taps * n_parts;
  to->a_offset = g_new (unsigned long long, to->n_taps);
  to->x_tap_offset = g_new (unsigned long long, to->n_taps);
  for (guint t = 0; t < to->n_taps; t++)
    {
      const CleaveTap *tap = &region->taps[t / n_parts];
      gint64 k = t % n_parts * to->k;

      to->a_offset[t] = (unsigned long long) (tap->a + k * lda) * sizeof (float);
      to->x_tap_offset[t] = (unsigned long long) (tap->x + k) * sizeof (float);
    }
  if (to->n_taps == 0)
    return;
  n_calls = (guint) ((to->n_taps * to->k * CLEAVE_PANEL_MAX_WIDTH + MAX_CALL_FLOATS - 1) /
                     MAX_CALL_FLOATS);
  n_calls = CLAMP (n_calls, 1, to->n_taps);
  to->n_taps_per_call = (to->n_taps + n_calls - 1) / n_calls;
}

/* Returns the index of the axis along which the lines of a region run: the innermost axis, or a
 * longer axis if the innermost axis is short. Example of a short innermost axis: a region with only
 * the pixels at the left edge of an image. */
static guint
choose_line (const CleaveTapRegion *region)
{
  guint line = 2;

  for (guint d = 0; d < 2; d++)
    if (region->extent[line] < MIN_PIECE && region->extent[d] > region->extent[line])
      line = d;
  return line;
}

static gint64
piece_length (gint64 n, gint64 x_step)
{
  gint64 most = CLAMP (MAX_PIECE_FLOATS / MAX (x_step, 1), MIN_PIECE, MAX_PIECE);
  /* a piece may have up to 1.5 * `most` pixels, so that the last piece is not short */
  gint64 n_pieces = (2 * n + 3 * most - 1) / (3 * most);

  /* the length is a multiple of three, since three pixels are in registers at a time */
  return ((n + n_pieces - 1) / n_pieces + 2) / 3 * 3;
}

/* Cuts a line into pieces. LIBXSMM needs pixels that are at least k elements apart. If adjacent
 * pixels are closer, the line is divided: into the pixels 0, 2, 4, … and 1, 3, 5, …, or into three
 * or more lines. */
static void
set_pieces (Region *to, gint64 n, gint64 x_step, gint64 y_step)
{
  gint64 apart = to->k <= x_step ? 1 : x_step <= 0 ? n : MIN ((to->k + x_step - 1) / x_step, n);
  GArray *pieces = g_array_new (FALSE, FALSE, sizeof (Piece));

  for (gint64 first = 0; first < apart; first++)
    {
      gint64 left = (n - first + apart - 1) / apart;
      gint64 length = piece_length (left, x_step * apart);

      for (gint64 i = first; left > 0; i += length * apart, left -= length)
        {
          Piece piece = { .x_offset = i * x_step, .y_offset = i * y_step, .n = MIN (left, length) };

          g_array_append_val (pieces, piece);
        }
    }
  to->x_line_step = x_step * apart;
  to->y_line_step = y_step * apart;
  to->n_pieces = pieces->len;
  to->pieces = (Piece *) (gpointer) g_array_free (pieces, FALSE);
}

void
cleave_product_add_region (CleaveProduct *product, const CleaveTapRegion *region)
{
  Region to = { .x_offset = region->x_offset, .y_offset = region->y_offset };
  guint line = choose_line (region);

  if (region->extent[0] * region->extent[1] * region->extent[2] == 0)
    return;
  for (guint d = 0, outer = 0; d < 3; d++)
    if (d != line)
      {
        to.extent[outer] = region->extent[d];
        to.x_step[outer] = region->x_step[d];
        to.y_step[outer++] = region->y_step[d];
      }
  to.n = region->extent[line];
  to.x_step_in_line = region->x_step[line];
  to.y_step_in_line = region->y_step[line];
  set_taps (&to, region, product->lda);
  set_pieces (&to, region->extent[line], region->x_step[line], region->y_step[line]);
  g_array_append_val (product->regions, to);
}

void
cleave_product_end_band (CleaveProduct *product, const CleaveBand *part)
{
  Band band = { product->regions->len, *part };

  g_array_append_val (product->bands, band);
}

guint
cleave_product_n_bands (const CleaveProduct *product)
{
  return product->bands->len;
}

const CleaveBand *
cleave_product_get_band (const CleaveProduct *product, guint band)
{
  return &g_array_index (product->bands, Band, band).part;
}

void
cleave_product_add_memory (const CleaveProduct *product, GArray *lines)
{
  const GArray *arrays[] = { product->panels, product->regions, product->bands };

  cleave_memory_lines_add (lines, product, sizeof *product);
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    {
      cleave_memory_lines_add (lines, arrays[i], sizeof *arrays[i]);
      cleave_memory_lines_add (lines, arrays[i]->data,
                               arrays[i]->len * g_array_get_element_size ((GArray *) arrays[i]));
    }
  for (guint z = 0; z < product->regions->len; z++)
    {
      const Region *region = &g_array_index (product->regions, Region, z);

      cleave_memory_lines_add (lines, region->a_offset, region->n_taps * sizeof *region->a_offset);
      cleave_memory_lines_add (lines, region->x_tap_offset,
                               region->n_taps * sizeof *region->x_tap_offset);
      cleave_memory_lines_add (lines, region->method,
                               product->widths->len * sizeof *region->method);
    }
}

static Kernel
make_kernel (const CleaveProduct *product, const Region *region, gint64 m, gint64 n, gboolean adds)
{
  /* LIBXSMM needs legal distances even for a single pixel, which does not use them */
  const CleaveXsmmShape shape = { .m = (int) m,
                                  .n = (int) n,
                                  .k = (int) region->k,
                                  .lda = (int) MAX (product->lda, m),
                                  .ldb = (int) (n == 1 ? region->k : region->x_line_step),
                                  .ldc = (int) (n == 1 ? m : region->y_line_step),
                                  .adds = adds };

  return cleave_xsmm_make (&shape);
}

static gboolean
fits (const CleaveProduct *product, const Region *region, gint64 m, gint64 n)
{
  if (region->k > MAX_STEP || product->lda > MAX_STEP)
    return FALSE;
  return n == 1 || (region->x_line_step >= region->k && region->x_line_step <= MAX_STEP &&
                    region->y_line_step >= m && region->y_line_step <= MAX_STEP);
}

/* Generates code with LIBXSMM for the pixels of a region and panels of m columns: two functions for
 * each piece of a line (product-parts.h). Returns FALSE if LIBXSMM cannot generate the code. */
static gboolean
make_kernels (const CleaveProduct *product, const Region *region, gint64 m, Kernel *kernel)
{
  for (guint p = 0; p < region->n_pieces; p++, kernel += 2)
    {
      gint64 n = region->pieces[p].n;

      if (!fits (product, region, m, n))
        return FALSE;
      kernel[0] = make_kernel (product, region, m, n, product->has_bias);
      kernel[1] = make_kernel (product, region, m, n, TRUE);
      if (kernel[0] == NULL || kernel[1] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Returns whether LIBXSMM computes panels of m columns for the pixels of a region. If vectors have
 * 16 lanes, products do not use LIBXSMM: LIBXSMM's AVX2 code takes twice the time of direct.c. */
static gboolean
is_for_libxsmm (const Region *region, gint64 m)
{
  return CLEAVE_HAS_XSMM && CLEAVE_VECTOR == 8 && region->n_taps * region->k > LONG_SUM &&
         m >= MANY_COLUMNS && m % CLEAVE_VECTOR == 0;
}

static void
prepare_region (const CleaveProduct *product, Region *region)
{
  guint n_kernels = 2 * region->n_pieces;

  region->method = g_new (Method, product->widths->len);
  for (guint w = 0; w < product->widths->len; w++)
    {
      gint64 m = g_array_index (product->widths, gint64, w);

      region->method[w] = m >= CLEAVE_VECTOR || product->padded ? BY_DIRECT : BY_ELEMENTS;
      if (!CLEAVE_HAS_XSMM || (region->method[w] == BY_DIRECT && !is_for_libxsmm (region, m)))
        continue;
      if (region->kernels == NULL)
        region->kernels = g_new0 (Kernel, n_kernels * product->widths->len);
      if (make_kernels (product, region, m, region->kernels + w * n_kernels))
        region->method[w] = BY_LIBXSMM;
    }
}

void
cleave_product_prepare (CleaveProduct *product)
{
  for (guint z = 0; z < product->regions->len; z++)
    prepare_region (product, &g_array_index (product->regions, Region, z));
}
