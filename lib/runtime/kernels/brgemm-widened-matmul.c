/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products of bytes and of 16-bit floats, rows by rows, as brgemm-widened-conv.c has it:
 * rows of A become floats in scratch, B is packed as floats, and sums become elements of y.
 *
 * Dimensions of y along which B stays the same are rows like any other; for each index of the
 * others there is another B. */

#include "brgemm-plans.h"
#include "exact.h"
#include "finish.h"

#include "../../ops/matmul-parts.h"
#include "../../ops/quantized.h"
#include "../../ops/reference.h"

enum { A };

/* How an operand is read at an index of y. */
typedef struct
{
  guint operand; /* G_MAXUINT: absent */
  gint64 stride[CLEAVE_MAX_RANK], k_stride;
} Side;

/* Some dimensions of y, the outermost first. */
typedef struct
{
  guint n;
  guint dim[CLEAVE_MAX_RANK];
  gint64 extent[CLEAVE_MAX_RANK], n_indices;
} Dims;

/* What a run needs, in bytes from the beginning of scratch. */
typedef struct
{
  gsize x, y, sums, a, zeros, bias, scale;
} Layout;

typedef struct
{
  Side a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, c, y;
  double alpha, beta;
  gint64 n_columns, length; /* N and K */
  gint64 column_step;       /* in y */
  guint columns_dim;        /* of y; its rank if there is none */
  Dims batches, rows;
  gint64 n_rows; /* at once */
  gboolean has_bytes, scales_by_row, tells;
  gint64 n_parts;
  CleaveProduct **products;
  const float *packed; /* for good; NULL: by each run */
  CleavePanels panels;
  Layout layout;
} Widened;

/* Preparing. */

static Widened *
new_plan (void)
{
  Widened *s = g_new0 (Widened, 1);
  Side *const optional[] = { &s->a_zero,  &s->b_zero, &s->a_scale, &s->b_scale,
                             &s->y_scale, &s->y_zero, &s->c };

  for (guint i = 0; i < G_N_ELEMENTS (optional); i++)
    optional[i]->operand = G_MAXUINT;
  s->alpha = s->beta = 1;
  return s;
}

static Side
byte_side (const CleaveSite *site, const char *name)
{
  Side side = { .operand = cleave_quantized_find (&site->call, name) };

  if (!cleave_call_has (&site->call, side.operand))
    return (Side){ .operand = G_MAXUINT };
  side.k_stride = cleave_quantized_matmul_strides (&site->call, side.operand,
                                                   &site->operands[side.operand], side.stride);
  return side;
}

static void
find_byte_sides (const CleaveSite *site, Widened *s)
{
  guint b = cleave_quantized_find (&site->call, "b");

  s->b = byte_side (site, b == G_MAXUINT ? "B" : "b");
  s->a = (Side){ .operand = A };
  s->a.k_stride = cleave_quantized_matmul_strides (&site->call, A, &site->operands[A], s->a.stride);
  s->a_zero = byte_side (site, "a_zero_point");
  s->b_zero = byte_side (site, "b_zero_point");
  s->a_scale = byte_side (site, "a_scale");
  s->b_scale = byte_side (site, "b_scale");
  s->y_scale = byte_side (site, "y_scale");
  s->y_zero = byte_side (site, "y_zero_point");
}

static void
find_float_sides (const CleaveSite *site, Widened *s)
{
  const CleaveView *a = &site->operands[A], *b = &site->operands[1];
  CleaveMatmulDims dims = cleave_matmul_dims (&a->type.shape, &b->type.shape);

  s->a = (Side){ .operand = A };
  s->b = (Side){ .operand = 1 };
  s->a.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_A, a, s->a.stride);
  s->b.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_B, b, s->b.stride);
}

static void
find_gemm_sides (const CleaveSite *site, Widened *s)
{
  const CleaveGemmAttrs *attrs = site->call.attrs;
  const CleaveView *a = &site->operands[A], *b = &site->operands[1];
  guint a_row = attrs->transA ? 1 : 0, b_row = attrs->transB ? 1 : 0;

  s->a = (Side){ .operand = A, .stride = { a->stride[a_row] }, .k_stride = a->stride[1 - a_row] };
  s->b =
      (Side){ .operand = 1, .stride = { 0, b->stride[1 - b_row] }, .k_stride = b->stride[b_row] };
  s->alpha = attrs->alpha;
  s->beta = attrs->beta;
  if (!cleave_call_has (&site->call, 2))
    return;
  s->c.operand = 2;
  cleave_view_broadcast_strides (&site->operands[2], 2, s->c.stride);
}

static void
add_dim (Dims *dims, guint d, gint64 extent)
{
  dims->dim[dims->n] = d;
  dims->extent[dims->n++] = extent;
  dims->n_indices *= extent;
}

/* Which dimensions of y are rows, and which batches of B. */
static void
sort_dims (const CleaveShape *y, Widened *s)
{
  s->batches.n_indices = s->rows.n_indices = 1;
  for (guint d = 0; d < y->rank; d++)
    if (d == s->columns_dim)
      continue;
    else if (s->b.stride[d] != 0 || s->b_zero.stride[d] != 0 || s->b_scale.stride[d] != 0)
      add_dim (&s->batches, d, y->dim[d]);
    else
      add_dim (&s->rows, d, y->dim[d]);
  for (guint i = 0; i < s->rows.n; i++)
    if (s->a_scale.stride[s->rows.dim[i]] != 0 || s->y_scale.stride[s->rows.dim[i]] != 0)
      s->scales_by_row = TRUE;
}

static void
init_shape (const CleaveSite *site, gboolean has_columns, Widened *s)
{
  const CleaveView *y = &site->results[0];

  s->y = (Side){ 0 };
  for (guint d = 0; d < y->type.shape.rank; d++)
    s->y.stride[d] = y->stride[d];
  s->columns_dim = y->type.shape.rank - (has_columns ? 1 : 0);
  s->n_columns = has_columns ? y->type.shape.dim[s->columns_dim] : 1;
  s->column_step = s->n_columns == 1 ? 1 : y->stride[s->columns_dim];
  sort_dims (&y->type.shape, s);
  s->tells = s->batches.n_indices == 1 && cleave_view_is_dense (y);
}

static gboolean
is_constant (const CleaveSite *site, const Side *side)
{
  return side->operand == G_MAXUINT || site->constants[side->operand] != NULL;
}

static gint64
column_stride (const Widened *s, const Side *side)
{
  return s->n_columns == 1 ? 0 : side->stride[s->columns_dim];
}

/* What B is, column by column. */
static void
sum_weights (const CleaveSite *site, gconstpointer self, gint64 column, gint64 *sums)
{
  const Widened *s = self;
  const CleaveView *b = &site->operands[s->b.operand];
  double zero = 0;

  if (s->b_zero.operand != G_MAXUINT)
    {
      const CleaveView *zeros = &site->operands[s->b_zero.operand];

      zero = cleave_real_load (zeros->type.element,
                               cleave_view_element (zeros, column * column_stride (s, &s->b_zero)));
    }
  for (gint64 k = 0; k < s->length; k++)
    {
      gint64 at = column * column_stride (s, &s->b) + k * s->b.k_stride;
      double value = cleave_real_load (b->type.element, cleave_view_element (b, at));

      sums[k] = (gint64) ABS (value - zero);
    }
}

static void
sum_largest (const CleaveSite *site, gconstpointer self, gint64 column, gint64 *sums)
{
  const Widened *s = self;
  CleaveElement element = site->operands[s->b.operand].type.element;

  for (gint64 k = 0; k < s->length; k++)
    sums[k] = cleave_largest_byte (element, s->b_zero.operand != G_MAXUINT, NULL);
}

/* Into how many parts K is cut; 0: no cut makes the sums exact. */
static gint64
count_parts (const CleaveSite *site, const Widened *s)
{
  gboolean has_zero = s->a_zero.operand != G_MAXUINT;
  gint64 largest = cleave_largest_byte (site->operands[A].type.element, has_zero,
                                        has_zero ? site->constants[s->a_zero.operand] : NULL);
  gboolean known =
      s->batches.n_indices == 1 && is_constant (site, &s->b) && is_constant (site, &s->b_zero);

  return cleave_count_exact_parts (site, s, known ? sum_weights : sum_largest,
                                   known ? s->n_columns : 1, s->length, largest);
}

/* Whether B is packed for good. */
static gboolean
can_share (const CleaveSite *site, const Widened *s)
{
  return site->constants[s->b.operand] != NULL && s->batches.n_indices == 1 &&
         site->operands[s->b.operand].type.shape.rank >= 2 && is_constant (site, &s->b_zero) &&
         (s->b_zero.operand == G_MAXUINT || site->operands[s->b_zero.operand].type.shape.rank <= 1);
}

/* `columns`: the dimension of B that goes along the columns. */
static gint64
pack_weights (const CleaveSite *site, guint columns, CleaveWeights *weights, Widened *s)
{
  guint zero = s->b_zero.operand;
  gint64 first = 0;

  s->panels = (CleavePanels){ .element = site->operands[s->b.operand].type.element,
                              .n_columns = s->n_columns,
                              .column_stride = column_stride (s, &s->b),
                              .extent = { 1, 1, 1, s->length },
                              .stride = { 0, 0, 0, s->b.k_stride },
                              .width = cleave_panels_width (s->n_columns) };
  if (can_share (site, s))
    {
      /* a piece of one column has no step of its own, but what it was cut out of has */
      s->panels.column_stride = site->operands[s->b.operand].stride[columns];
      s->packed = cleave_panels_of_constant (weights, site->constants[s->b.operand],
                                             zero == G_MAXUINT ? NULL : site->constants[zero],
                                             columns, &s->panels, &first);
    }
  return first;
}

/* So many rows of floats. */
static void
add_rows (const Widened *s, CleaveProduct *product, gint64 n_rows, gint64 begin, gint64 end)
{
  CleaveTap tap = { begin, begin * s->panels.width };
  CleaveZone zone = { .extent = { 1, 1, n_rows },
                      .x_step = { 0, 0, s->length },
                      .y_step = { 0, 0, s->n_columns },
                      .k = end - begin,
                      .n_taps = 1,
                      .taps = &tap };

  cleave_product_add_zone (product, &zone);
  cleave_product_end_band (product, &(CleaveBand){ .y_end = n_rows * s->n_columns });
}

/* Two bands each: as many rows as there are at once, and the rest. */
#define BAND_FLOATS 65536

static gboolean
make_products (gint64 first, Widened *s)
{
  gint64 most = MAX (BAND_FLOATS, s->length * s->n_columns) / MAX (s->length + s->n_columns, 1);

  s->n_rows = CLAMP (most, 1, MAX (s->rows.n_indices, 1));
  s->products = g_new0 (CleaveProduct *, (gsize) s->n_parts);
  for (gint64 p = 0; p < s->n_parts; p++)
    {
      CleaveProduct *product = cleave_product_new (s->panels.width, TRUE, FALSE);
      gint64 begin = p * s->length / s->n_parts, end = (p + 1) * s->length / s->n_parts;

      s->products[p] = product;
      cleave_brgemm_add_columns (product, &s->panels, first, 1, 0, s->n_columns);
      add_rows (s, product, s->n_rows, begin, end);
      add_rows (s, product, s->rows.n_indices % s->n_rows, begin, end);
      if (!cleave_product_prepare (product))
        return FALSE;
    }
  return TRUE;
}

static gsize
lay_out (Widened *s)
{
  Layout *l = &s->layout;
  gsize n = 0;

  l->x = cleave_take_scratch (&n, s->n_rows * s->length);
  l->y = cleave_take_scratch (&n, s->n_rows * s->n_columns);
  l->sums = cleave_take_scratch (&n, s->n_parts > 1 ? s->n_rows * s->n_columns : 0);
  l->bias = cleave_take_scratch (&n, s->n_columns);
  l->scale = cleave_take_scratch (&n, s->n_columns);
  l->zeros = cleave_take_scratch (&n, s->n_columns);
  l->a = n;
  return s->packed == NULL ? n + cleave_panels_n_bytes (&s->panels) : n;
}

static void
widened_free (gpointer state)
{
  Widened *s = state;

  for (gint64 p = 0; s->products != NULL && p < s->n_parts; p++)
    cleave_product_free (s->products[p]);
  g_free (s->products);
  g_free (s);
}

static gboolean
finish_plan (const CleaveSite *site,
             CleaveWeights *weights,
             guint columns,
             Widened *s,
             gpointer *state,
             gsize *n_scratch)
{
  s->n_parts = s->has_bytes ? count_parts (site, s) : 1;
  if (s->n_parts == 0 || !make_products (pack_weights (site, columns, weights, s), s))
    {
      widened_free (s);
      return FALSE;
    }
  *n_scratch = lay_out (s);
  *state = s;
  return TRUE;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  Widened *s = new_plan ();
  const CleaveShape *a = &site->operands[A].type.shape, *b;

  s->has_bytes = cleave_is_byte (site->operands[A].type.element);
  if (s->has_bytes)
    find_byte_sides (site, s);
  else
    find_float_sides (site, s);
  b = &site->operands[s->b.operand].type.shape;
  s->length = cleave_matmul_length (a);
  init_shape (site, b->rank > 1, s);
  return finish_plan (site, weights, b->rank - 1, s, state, n_scratch);
}

static gboolean
prepare_gemm (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveGemmAttrs *attrs = site->call.attrs;
  Widened *s = new_plan ();

  find_gemm_sides (site, s);
  s->length = site->operands[A].type.shape.dim[attrs->transA ? 0 : 1];
  init_shape (site, TRUE, s);
  return finish_plan (site, weights, attrs->transB ? 0 : 1, s, state, n_scratch);
}

/* Running. */

/* A run at work on one index of the batches. */
typedef struct
{
  const Widened *s;
  const CleaveSite *site;
  gint64 batch;
  const float *packed;
  CleaveFinish finish;
  char *scratch;
} Work;

static float *
floats_at (const Work *work, gsize at)
{
  return (float *) (void *) (work->scratch + at);
}

static gint64
offset_in (const Dims *dims, gint64 index, const gint64 *stride)
{
  gint64 offset = 0;

  for (guint i = dims->n; i-- > 0; index /= dims->extent[i])
    offset += index % dims->extent[i] * stride[dims->dim[i]];
  return offset;
}

/* The first column of a row; NULL: the operand is absent. */
static const CleaveView *
find (const Work *work, const Side *side, gint64 row, gint64 *offset)
{
  if (side->operand == G_MAXUINT)
    return NULL;
  *offset = offset_in (&work->s->rows, row, side->stride) +
            offset_in (&work->s->batches, work->batch, side->stride);
  return &work->site->operands[side->operand];
}

/* 0 if absent. */
static double
load (const Work *work, const Side *side, gint64 row, gint64 column)
{
  gint64 offset;
  const CleaveView *view = find (work, side, row, &offset);

  if (view == NULL)
    return 0;
  offset += column * column_stride (work->s, side);
  return cleave_real_load (view->type.element, cleave_view_element (view, offset));
}

static void
pack_panels (Work *work)
{
  const Widened *s = work->s;
  float *zeros = floats_at (work, s->layout.zeros);
  CleavePanels panels = s->panels;
  gint64 offset;
  const CleaveView *b = find (work, &s->b, 0, &offset);

  for (gint64 j = 0; j < s->n_columns; j++)
    zeros[j] = (float) load (work, &s->b_zero, 0, j);
  panels.zeros = zeros;
  cleave_panels_pack (&panels, cleave_view_element (b, offset), floats_at (work, s->layout.a));
  work->packed = floats_at (work, s->layout.a);
}

/* As the reference kernel has them, from left to right. */
static void
read_scales (Work *work, gint64 row)
{
  const Widened *s = work->s;
  guint32 *bias = (guint32 *) (void *) (work->scratch + s->layout.bias);
  float *scale = floats_at (work, s->layout.scale);
  float a = (float) load (work, &s->a_scale, row, 0), y = (float) load (work, &s->y_scale, row, 0);

  for (gint64 j = 0; j < s->n_columns; j++)
    {
      bias[j] = 0;
      scale[j] = a * (float) load (work, &s->b_scale, row, j) / y;
    }
  work->finish.bias = bias;
  work->finish.scale = scale;
}

static void
widen_rows (const Work *work, gint64 begin, gint64 n)
{
  const Widened *s = work->s;
  float *to = floats_at (work, s->layout.x);

  for (gint64 i = 0; i < n; i++, to += s->length)
    {
      gint64 offset;
      const CleaveView *a = find (work, &s->a, begin + i, &offset);

      cleave_widen (a->type.element, cleave_view_element (a, offset), s->a.k_stride,
                    (gint32) load (work, &s->a_zero, begin + i, 0), to, s->length);
    }
}

/* What Gemm does with its sums. */
static void
add_c (const Work *work, gint64 row, float *sums)
{
  const Widened *s = work->s;
  float alpha = (float) s->alpha, beta = (float) s->beta, *c = floats_at (work, s->layout.bias);
  gint64 offset;
  const CleaveView *view = find (work, &s->c, row, &offset);

  if (alpha != 1)
    for (gint64 j = 0; j < s->n_columns; j++)
      sums[j] *= alpha;
  if (view == NULL)
    return;
  cleave_widen (view->type.element, cleave_view_element (view, offset), column_stride (s, &s->c), 0,
                c, s->n_columns);
  for (gint64 j = 0; j < s->n_columns; j++)
    sums[j] += beta == 1 ? c[j] : beta * c[j];
}

static void
finish_row (Work *work, gint64 row, gint64 at)
{
  const Widened *s = work->s;
  const CleaveView *y = &work->site->results[0];
  gint64 offset =
      offset_in (&s->rows, row, s->y.stride) + offset_in (&s->batches, work->batch, s->y.stride);
  gpointer to = cleave_view_element (y, offset);
  float *sums = floats_at (work, s->layout.y) + at;

  if (s->scales_by_row)
    read_scales (work, row);
  work->finish.zero = (gint32) load (work, &s->y_zero, row, 0);
  if (!s->has_bytes)
    add_c (work, row, sums);
  if (s->n_parts > 1)
    cleave_finish_ints (&work->finish,
                        (const gint32 *) (void *) (work->scratch + s->layout.sums) + at, to,
                        s->column_step, s->n_columns);
  else
    cleave_finish_floats (&work->finish, sums, to, s->column_step, s->n_columns);
}

static void
run_rows (Work *work, gint64 begin, gint64 n)
{
  const Widened *s = work->s;
  float *x = floats_at (work, s->layout.x), *y = floats_at (work, s->layout.y);
  gint32 *sums = (gint32 *) (void *) (work->scratch + s->layout.sums);

  widen_rows (work, begin, n);
  for (gint64 p = 0; p < s->n_parts; p++)
    {
      cleave_product_run_band (s->products[p], n < s->n_rows, x, work->packed, NULL, y);
      if (s->n_parts > 1)
        cleave_flush_sums (y, n * s->n_columns, p == 0, sums);
    }
  for (gint64 i = 0; i < n; i++)
    finish_row (work, begin + i, i * s->n_columns);
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Widened *s = state;
  Work work = { .s = s, .site = site, .packed = s->packed, .scratch = scratch };

  work.finish.element = site->results[0].type.element;
  if (s->n_columns == 0)
    return;
  for (; work.batch < s->batches.n_indices; work.batch++)
    {
      if (s->packed == NULL)
        pack_panels (&work);
      if (s->y_scale.operand != G_MAXUINT)
        read_scales (&work, 0);
      for (gint64 i = 0, n; i < s->rows.n_indices; i += n)
        {
          n = MIN (s->n_rows, s->rows.n_indices - i);
          run_rows (&work, i, n);
          if (s->tells)
            cleave_site_made (site, i * s->n_columns, (i + n) * s->n_columns);
        }
    }
}

static gboolean
tells (gconstpointer state)
{
  const Widened *s = state;

  return s->tells;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Widened *s = state;

  return s->packed == NULL || operand != s->b.operand;
}

extern const CleaveKernelFamily cleave_kernel_widened_matmul; /* for levels.h */
const CleaveKernelFamily cleave_kernel_widened_matmul = {
  .prepare = prepare, .run = run, .free = widened_free, .tells = tells, .reads = reads
};

extern const CleaveKernelFamily cleave_kernel_widened_gemm; /* for levels.h */
const CleaveKernelFamily cleave_kernel_widened_gemm = {
  .prepare = prepare_gemm, .run = run, .free = widened_free, .tells = tells, .reads = reads
};
