/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of MatMul and Gemm of float64, of 32- and 64-bit integers, and of float32 if no
 * kernel of gemm/ serves them. The family computes tiles of ROWS rows and VECTORS vectors of
 * columns. Each sum has the order of lib/ops/products.h. */

#include "level.h"
#include "vector.h"

#include "../../ops/matmul-parts.h"
#include "../../ops/reference.h"

#include <string.h>

enum { A, B, C };

typedef struct _Products Products;

/* A product y = a b for each index of the batch dimensions. Strides are in elements. */
struct _Products
{
  gint64 m, n, k, length;
  gint64 a_row, a_column, b_row, b_column, c_row, c_column, y_row, y_column;
  CleaveShape batch;
  gint64 a_step[CLEAVE_MAX_RANK], b_step[CLEAVE_MAX_RANK], y_step[CLEAVE_MAX_RANK];
  gboolean scales, has_c; /* `scales`: the sums are multiplied by alpha; `has_c`: beta * C is added
                             to the sums */
  double alpha, beta;
  void (*run) (const Products *p,
               gconstpointer a,
               gconstpointer b,
               gconstpointer c,
               gpointer y,
               gpointer scratch);
};

#define ROWS 4
#define VECTORS 3
#define VECTOR_BYTES (CLEAVE_VECTOR * sizeof (float))
/* Smallest number of rows of A for which packing B saves time. 16 rows times a B of 768 x 768
 * float64 elements take 365 us without packing, 460 us with packing. 32 rows times a B of 2048 x
 * 2048 take 20.5 ms without packing, since rows of B share few cache sets, and 8.8 ms with
 * packing. */
#define MIN_ROWS_TO_PACK 32

#define DEFINE_VECTOR(T, Vector)                                                                   \
  typedef T Vector __attribute__ ((vector_size (VECTOR_BYTES)));                                   \
  typedef T Vector##At __attribute__ ((vector_size (VECTOR_BYTES), aligned (sizeof (T)), may_alias))
DEFINE_VECTOR (float, Floats);
DEFINE_VECTOR (double, Doubles);
DEFINE_VECTOR (guint32, Words);
DEFINE_VECTOR (guint64, LongWords);

#define wrap(a, b, c) ((a) * (b) + (c))

/* clang-format off */
#define DEFINE_RUN(word, T, Vector, Factor, fma)                                                   \
  enum { WIDTH_##word = VECTORS * VECTOR_BYTES / sizeof (T) };                                     \
                                                                                                   \
  static CLEAVE_SPECIALISED void                                                                   \
  sum_##word (int rows, const Products *p, const T *a, const T *b, gint64 b_row, T *tile)          \
  {                                                                                                \
    Vector sum[ROWS][VECTORS] = { 0 };                                                             \
                                                                                                   \
    for (gint64 k = 0; k < p->k; k++)                                                              \
      {                                                                                            \
        const Vector##At *bs = (const void *) (b + k * b_row);                                     \
                                                                                                   \
        CLEAVE_EACH (r, rows)                                                                      \
          CLEAVE_EACH (v, VECTORS)                                                                 \
            sum[r][v] = fma (a[r * p->a_row + k * p->a_column] - (Vector){ 0 }, bs[v], sum[r][v]); \
      }                                                                                            \
    CLEAVE_EACH (r, rows)                                                                          \
      CLEAVE_EACH (v, VECTORS)                                                                     \
        ((Vector##At *) (void *) (tile + r * WIDTH_##word))[v] = sum[r][v];                        \
  }                                                                                                \
                                                                                                   \
  static void pack_##word (const Products *p, const T *b, gint64 n, T *panel)                      \
  {                                                                                                \
    for (gint64 k = 0; k < p->k; k++, b += p->b_row, panel += WIDTH_##word)                        \
      if (n == WIDTH_##word && p->b_column == 1)                                                   \
        memcpy (panel, b, WIDTH_##word * sizeof (T));                                              \
      else                                                                                         \
        for (gint64 j = 0; j < WIDTH_##word; j++)                                                  \
          panel[j] = j < n ? b[j * p->b_column] : 0;                                               \
  }                                                                                                \
                                                                                                   \
  /* Multiplies by alpha and adds beta * c; each operation rounds. */                              \
  static void finish_##word (const Products *p, gint64 n, const T *c, const T *tile, T *y)         \
  {                                                                                                \
    const T alpha = (T) (Factor) p->alpha, beta = (T) (Factor) p->beta;                            \
                                                                                                   \
    for (gint64 j = 0; j < n; j++)                                                                 \
      {                                                                                            \
        T value = p->scales ? tile[j] * alpha : tile[j];                                         \
                                                                                                   \
        if (c != NULL)                                                                             \
          value += beta * c[j * p->c_column];                                                      \
        y[j * p->y_column] = value;                                                                \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void run_##word (const Products *p, gconstpointer as, gconstpointer bs, gconstpointer cs, \
                          gpointer ys, gpointer scratch)                                           \
  {                                                                                                \
    const T *a = as, *c = cs;                                                                      \
    T tile[ROWS * WIDTH_##word], *y = ys;                                                          \
                                                                                                   \
    for (gint64 j = 0; j < p->n; j += WIDTH_##word)                                                \
      {                                                                                            \
        const gint64 n = MIN (p->n - j, WIDTH_##word);                                             \
        const gboolean packs = n < WIDTH_##word || p->b_column != 1 || p->m >= MIN_ROWS_TO_PACK;   \
        const gint64 b_row = packs ? WIDTH_##word : p->b_row;                                      \
        const T *b = (const T *) bs + j * p->b_column;                                             \
                                                                                                   \
        if (packs)                                                                                 \
          {                                                                                        \
            pack_##word (p, b, n, scratch);                                                        \
            b = scratch;                                                                           \
          }                                                                                        \
        for (gint64 i = 0; i < p->m;)                                                              \
          {                                                                                        \
            const gint64 left = p->m - i, rows = left >= ROWS ? ROWS : 1;                          \
                                                                                                   \
            if (rows == ROWS)                                                                      \
              sum_##word (ROWS, p, a + i * p->a_row, b, b_row, tile);                              \
            else                                                                                   \
              sum_##word (1, p, a + i * p->a_row, b, b_row, tile);                                 \
            for (gint64 r = 0; r < rows; r++, i++)                                                 \
              finish_##word (p, n, c == NULL ? NULL : c + i * p->c_row + j * p->c_column,          \
                             tile + r * WIDTH_##word, y + i * p->y_row + j * p->y_column);         \
          }                                                                                        \
      }                                                                                            \
  }

DEFINE_RUN (f32, float, Floats, float, cleave_vector_fma)
DEFINE_RUN (f64, double, Doubles, double, cleave_double_vector_fma)
DEFINE_RUN (u32, guint32, Words, gint64, wrap)
DEFINE_RUN (u64, guint64, LongWords, gint64, wrap)
/* clang-format on */

static Products *
plan_matmul (const CleaveKernelInstance *instance)
{
  Products *p = g_new0 (Products, 1);
  const CleaveView *a = &instance->operands[A], *b = &instance->operands[B];
  const CleaveView *y = &instance->results[0];
  CleaveMatmulDims dims = cleave_matmul_dims (&a->type.shape, &b->type.shape);
  guint m = cleave_matmul_own_dim (&dims, CLEAVE_MATMUL_A);
  guint n = cleave_matmul_own_dim (&dims, CLEAVE_MATMUL_B);

  p->k = cleave_matmul_length (&a->type.shape);
  p->a_column = cleave_matmul_strides (&dims, CLEAVE_MATMUL_A, a, p->a_step);
  p->b_row = cleave_matmul_strides (&dims, CLEAVE_MATMUL_B, b, p->b_step);
  p->m = p->n = 1;
  if (dims.has[CLEAVE_MATMUL_A])
    {
      p->m = y->type.shape.dim[m];
      p->a_row = p->a_step[m];
      p->y_row = y->stride[m];
    }
  if (dims.has[CLEAVE_MATMUL_B])
    {
      p->n = y->type.shape.dim[n];
      p->b_column = p->b_step[n];
      p->y_column = y->stride[n];
    }
  p->batch = y->type.shape;
  p->batch.rank = dims.n_batch;
  memcpy (p->y_step, y->stride, sizeof p->y_step);
  return p;
}

static Products *
plan_gemm (const CleaveKernelInstance *instance)
{
  Products *p = g_new0 (Products, 1);
  const CleaveGemmAttrs *attrs = instance->call.attrs;
  const CleaveView *a = &instance->operands[A], *b = &instance->operands[B];
  const CleaveView *y = &instance->results[0];
  guint a_row = attrs->transA ? 1 : 0, b_row = attrs->transB ? 1 : 0;
  gint64 c_step[CLEAVE_MAX_RANK] = { 0 };

  p->m = y->type.shape.dim[0];
  p->n = y->type.shape.dim[1];
  p->k = a->type.shape.dim[1 - a_row];
  p->a_row = a->stride[a_row];
  p->a_column = a->stride[1 - a_row];
  p->b_row = b->stride[b_row];
  p->b_column = b->stride[1 - b_row];
  p->y_row = y->stride[0];
  p->y_column = y->stride[1];
  p->has_c = cleave_call_has (&instance->call, C);
  if (p->has_c)
    cleave_view_broadcast_strides (&instance->operands[C], 2, c_step);
  p->c_row = c_step[0];
  p->c_column = c_step[1];
  p->alpha = attrs->alpha;
  p->beta = attrs->beta;
  p->scales = attrs->alpha != 1;
  return p;
}

static gboolean
prepare (Products *p, const CleaveKernelInstance *instance, gpointer *state, gsize *n_scratch)
{
  switch (instance->results[0].type.element)
    {
    case CLEAVE_FLOAT32:
      p->run = run_f32;
      break;
    case CLEAVE_FLOAT64:
      p->run = run_f64;
      break;
    case CLEAVE_INT32:
    case CLEAVE_UINT32:
      p->run = run_u32;
      break;
    default:
      p->run = run_u64;
      break;
    }
  *state = p;
  *n_scratch = (gsize) p->k * VECTORS * VECTOR_BYTES;
  return TRUE;
}

static gboolean
prepare_matmul (const CleaveKernelInstance *instance,
                CleaveWeights *weights,
                gpointer *state,
                gsize *n_scratch)
{
  return prepare (plan_matmul (instance), instance, state, n_scratch);
}

static gboolean
prepare_gemm (const CleaveKernelInstance *instance,
              CleaveWeights *weights,
              gpointer *state,
              gsize *n_scratch)
{
  return prepare (plan_gemm (instance), instance, state, n_scratch);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Products *p = state;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &p->batch)
    {
      p->run (p,
              cleave_view_element (&instance->operands[A],
                                   cleave_index_offset (p->batch.rank, at, p->a_step)),
              cleave_view_element (&instance->operands[B],
                                   cleave_index_offset (p->batch.rank, at, p->b_step)),
              p->has_c ? instance->operands[C].data : NULL,
              cleave_view_element (&instance->results[0],
                                   cleave_index_offset (p->batch.rank, at, p->y_step)),
              scratch);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_products_matmul);
extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_products_gemm);

const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_products_matmul) = {
  .prepare = prepare_matmul, .run = run, .free = g_free
};
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_products_gemm) = { .prepare = prepare_gemm,
                                                                           .run = run,
                                                                           .free = g_free };
