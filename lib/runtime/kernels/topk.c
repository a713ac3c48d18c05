/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of TopK, which reads each row once. It skips elements that are not among the
 * first k so far, usually a whole block at a time. All other elements go into a heap of k elements,
 * whose root comes last in the result. The order is total, so the result does not depend on the
 * algorithm. */

#include "level.h"
#include "loops.h"
#include "vector-compare.h"

#include <string.h>

enum { VALUES, INDICES };
enum { VALUES_AT, INDICES_AT, X_AT };

/* Number of vectors of floats (VECTORS), and number of integers (CHUNK), that are compared at once.
 * If no element of a block can be among the first k, the whole block is skipped. */
#define VECTORS 4
#define CHUNK 32

/* An element of a row with its sort key. The greater key comes first in the result. */
typedef struct
{
  gint64 key;
  gint64 at;
} Kept;

typedef struct Topk_ Topk;
typedef void (*RunRow) (
    const Topk *topk, gconstpointer x, gpointer values, gint64 *indices, Kept *heap);

struct Topk_
{
  CleaveLoops loops; /* loops over the rows; the views are Values, Indices and X */
  gint64 n, k, x_step, values_step, indices_step;
  gboolean largest;
  RunRow run_row;
};

/* Returns the sort key of a float. All NaNs have one key; +0 and -0 have one key. */
static inline gint64
key_FLOAT32 (float x, gboolean largest)
{
  const float value = x == 0 ? 0 : x;
  gint32 bits;

  memcpy (&bits, &value, sizeof bits);
  bits = x != x ? 0x7f800001 : bits; /* bits of a NaN become greater than the bits of infinity */
  return (bits < 0 ? bits ^ 0x7fffffff : bits) ^ (largest ? 0 : -1);
}

static inline gboolean
comes_before (Kept a, Kept b)
{
  return a.key > b.key || (a.key == b.key && a.at < b.at);
}

/* Puts `kept` into the heap at position `at` or below. Moves greater children up until `kept` is
 * not smaller than its children. */
static void
sift_down (Kept *heap, gint64 size, gint64 at, Kept kept)
{
  for (gint64 child = 2 * at + 1; child < size; child = 2 * at + 1)
    {
      if (child + 1 < size && comes_before (heap[child], heap[child + 1]))
        child++;
      if (!comes_before (kept, heap[child]))
        break;
      heap[at] = heap[child];
      at = child;
    }
  heap[at] = kept;
}

/* Returns a mask with a bit for each element of a vector that comes before `number` in the result.
 * `largest`: a NaN comes before every number. */
static CLEAVE_SPECIALISED guint
find_before (const float *x, CleaveVector number, gboolean largest)
{
  const CleaveVector v = cleave_vector_load (x);

  return cleave_lanes_bits (largest ? cleave_lanes_not_at_most (v, number)
                                    : cleave_lanes_less (v, number));
}

static CLEAVE_SPECIALISED gint64
pass_by_numbers (const float *x, gint64 i, gint64 n, CleaveVector number, gboolean largest)
{
  guint bits = 0;

  for (; i + VECTORS * CLEAVE_VECTOR <= n; i += VECTORS * CLEAVE_VECTOR)
    {
      CLEAVE_EACH (c, VECTORS)
        bits |= find_before (x + i + c * CLEAVE_VECTOR, number, largest);
      if (bits != 0)
        break;
    }
  for (; i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    {
      bits = find_before (x + i, number, largest);
      if (bits != 0)
        return i + __builtin_ctz (bits);
    }
  return i;
}

/* Returns the index of the first element, from `i` on, that may come before `least`. May return the
 * begin of the block that contains the element. */
static gint64
pass_by_FLOAT32 (const Topk *topk, const float *x, gint64 i, float least)
{
  const CleaveVector number = cleave_vector_all (least);

  if (least != least) /* a NaN comes before or after all other elements */
    return topk->largest ? topk->n : i;
  return topk->largest ? pass_by_numbers (x, i, topk->n, number, TRUE)
                       : pass_by_numbers (x, i, topk->n, number, FALSE);
}

static void
make_heap (Kept *heap, gint64 size)
{
  for (gint64 i = size / 2; i-- > 0;)
    sift_down (heap, size, i, heap[i]);
}

static void
sort_heap (Kept *heap, gint64 size)
{
  while (--size > 0)
    {
      Kept last = heap[0], moved = heap[size];

      sift_down (heap, size, 0, moved);
      heap[size] = last;
    }
}

/* Lists the integer types: X (element, E). E is the C type. */
/* clang-format off */
#define INTEGERS(X)                                                                                \
  X (INT8, gint8)                                                                                  \
  X (UINT8, guint8)                                                                                \
  X (INT32, gint32)                                                                                \
  X (INT64, gint64)

#define X(e, E)                                                                                    \
  static inline gint64 key_##e (E x, gboolean largest) { return largest ? x : ~(gint64) x; }       \
                                                                                                   \
  static CLEAVE_SPECIALISED gint64 pass_by_integers_##e (const E *x, gint64 i, gint64 n, E least,  \
                                                         gboolean largest)                         \
  {                                                                                                \
    for (; i + CHUNK <= n; i += CHUNK)                                                             \
      {                                                                                            \
        E any = 0;                                                                                 \
                                                                                                   \
        for (gint64 j = i; j < i + CHUNK; j++)                                                     \
          any |= (E) (largest ? x[j] > least : x[j] < least);                                      \
        if (any != 0)                                                                              \
          break;                                                                                   \
      }                                                                                            \
    while (i < n && (largest ? x[i] <= least : x[i] >= least))                                     \
      i++;                                                                                         \
    return i;                                                                                      \
  }                                                                                                \
                                                                                                   \
  static gint64 pass_by_##e (const Topk *topk, const E *x, gint64 i, E least)                      \
  {                                                                                                \
    return topk->largest ? pass_by_integers_##e (x, i, topk->n, least, TRUE)                       \
                         : pass_by_integers_##e (x, i, topk->n, least, FALSE);                     \
  }
INTEGERS (X)
#undef X

/* Defines a function that finds the first k elements of a row, in order. */
#define X(e, E)                                                                                    \
  static void run_row_##e (const Topk *topk, gconstpointer from, gpointer to, gint64 *indices,     \
                           Kept *heap)                                                             \
  {                                                                                                \
    const gint64 n = topk->n, k = topk->k, step = topk->x_step;                                    \
    const E *x = from;                                                                             \
    E *values = to;                                                                                \
                                                                                                   \
    for (gint64 i = 0; i < k; i++)                                                                 \
      heap[i] = (Kept){ key_##e (x[i * step], topk->largest), i };                                 \
    make_heap (heap, k);                                                                           \
    for (gint64 i = k; i < n; i++)                                                                 \
      {                                                                                            \
        Kept next;                                                                                 \
                                                                                                   \
        if (step == 1)                                                                             \
          i = pass_by_##e (topk, x, i, x[heap[0].at]);                                             \
        if (i == n)                                                                                \
          break;                                                                                   \
        next = (Kept){ key_##e (x[i * step], topk->largest), i };                                  \
        if (next.key > heap[0].key) /* among equal elements, the first one is selected */          \
          sift_down (heap, k, 0, next);                                                            \
      }                                                                                            \
    sort_heap (heap, k);                                                                           \
    for (gint64 i = 0; i < k; i++)                                                                 \
      {                                                                                            \
        values[i * topk->values_step] = x[heap[i].at * step];                                      \
        indices[i * topk->indices_step] = heap[i].at;                                              \
      }                                                                                            \
  }
X (FLOAT32, float)
INTEGERS (X)
#undef X

static const RunRow run_rows[CLEAVE_N_ELEMENTS] = {
  [CLEAVE_FLOAT32] = run_row_FLOAT32,
#define X(e, E) [CLEAVE_##e] = run_row_##e,
  INTEGERS (X)
#undef X
};
/* clang-format on */

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveTopkAttrs *a = instance->call.attrs;
  CleaveView values = instance->results[VALUES], others[2];
  RunRow run_row = run_rows[values.type.element];
  Topk *topk;

  others[0] = instance->results[INDICES];
  others[1] = instance->operands[0];
  if (others[1].type.shape.dim[a->axis] > G_MAXINT32 || a->k == 0 || run_row == NULL)
    return FALSE;
  topk = g_new0 (Topk, 1);
  topk->run_row = run_row;
  topk->n = others[1].type.shape.dim[a->axis];
  topk->k = a->k;
  topk->largest = a->largest;
  topk->x_step = others[1].stride[a->axis];
  topk->values_step = values.stride[a->axis];
  topk->indices_step = others[0].stride[a->axis];
  values.type.shape.dim[a->axis] = 1;
  for (guint i = 0; i < 2; i++)
    others[i].type.shape.dim[a->axis] = 1;
  cleave_loops_init (&topk->loops, &values, others, 2);
  *n_scratch = (gsize) topk->k * sizeof (Kept);
  *state = topk;
  return TRUE;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Topk *topk = state;
  const CleaveLoops *loops = &topk->loops;
  CleaveLine line;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    for (gint64 i = 0; i < loops->length; i++)
      {
        gint64 at[3];

        for (guint v = 0; v < 3; v++)
          at[v] = line.offset[v] + i * loops->step[v];
        topk->run_row (
            topk, (const char *) instance->operands[0].data + at[X_AT] * loops->size[X_AT],
            (char *) instance->results[VALUES].data + at[VALUES_AT] * loops->size[VALUES_AT],
            (gint64 *) instance->results[INDICES].data + at[INDICES_AT], scratch);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_topk);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_topk) = { .prepare = prepare, .run = run, .free = g_free };
