/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of ScatterElements of floats with a reduction (add, mul, max, min). A run
 * combines one line of updates after the other with the result, in order. In graph networks, all
 * elements of a line often have the same index: the indices are broadcast along the line (stride
 * 0), or equal indices are repeated. Such a line is combined with one line of the result, in
 * vectors. With stride 0, the indices need not be compared, and one call processes many lines. */

#include "level.h"
#include "loops.h"

#include "../../ops/elementwise-math.h"
#include "../../ops/lines.h"
#include "../../ops/move.h"

enum { DATA, INDICES, UPDATES };
enum { INDICES_AT, Y_AT, UPDATES_AT };

typedef struct
{
  CleaveLines lines; /* loops over the lines of three views: the indices, the elements of y with
                        index 0 in the scattered dimension, and the updates */
  gint64 extent, axis_step;
  /* `n_rows`: number of lines that a call combines with y, if the stride of the indices along a
   * line is 0. Each line then has one index. If the stride is not 0, `n_rows` is 0, and a call
   * combines one line. `next`: distances of adjacent lines in the three views, in elements. */
  gint64 n_rows, next[3];
  gboolean is_short; /* TRUE: indices are INT32; FALSE: INT64 */
  CleaveScatterReduction reduction;
} Scatter;

/* If all elements of a line have the same index (stride 0), removes the innermost dimension from
 * the loops over the lines. One call then combines all lines along this dimension. */
static void
take_rows (Scatter *s)
{
  CleaveLines *lines = &s->lines;

  if (lines->step[Y_AT] != 1 || lines->step[UPDATES_AT] != 1 || lines->step[INDICES_AT] != 0)
    return;
  s->n_rows = 1;
  if (lines->rank == 0)
    return;
  s->n_rows = lines->dim[--lines->rank];
  for (guint k = 0; k < lines->n_views; k++)
    s->next[k] = lines->stride[k][lines->rank];
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveScatterAttrs *a = instance->call.attrs;
  const CleaveView *y = &instance->results[0], *indices = &instance->operands[INDICES];
  const CleaveView first = cleave_move_first_along (y, &indices->type.shape, (guint) a->axis);
  const CleaveView *views[] = { indices, &first, &instance->operands[UPDATES] };
  Scatter *s = g_new0 (Scatter, 1);

  s->extent = y->type.shape.dim[a->axis];
  s->axis_step = y->stride[a->axis];
  s->is_short = indices->type.element == CLEAVE_INT32;
  s->reduction = a->reduction;
  *state = s;
  if (a->reduction != CLEAVE_SCATTER_NONE && cleave_lines_init_dims (&s->lines, views, 3, ~0u))
    {
      take_rows (s);
      return TRUE;
    }
  g_free (s);
  *state = NULL;
  return FALSE;
}

/* clang-format off */
#define LINES(name, Index, join)                                                                   \
  /* Returns whether all indices of a line are equal. */                                           \
  static gboolean name##_is_one (const Index *at, gint64 step, gint64 n)                           \
  {                                                                                                \
    Index differs = 0;                                                                             \
                                                                                                   \
    if (step == 1)                                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        differs |= at[i] ^ at[0];                                                                  \
    else                                                                                           \
      for (gint64 i = 0; step != 0 && i < n; i++)                                                  \
        differs |= at[i * step] ^ at[0];                                                           \
    return differs == 0;                                                                           \
  }                                                                                                \
                                                                                                   \
  static inline gint64 name##_place (const Scatter *s, Index at)                                   \
  {                                                                                                \
    return CLAMP (at < 0 ? at + s->extent : at, 0, s->extent - 1) * s->axis_step;                  \
  }                                                                                                \
                                                                                                   \
  static void name (const Scatter *s, gconstpointer indices, float *y, const float *x)             \
  {                                                                                                \
    const gint64 *step = s->lines.step, n = s->lines.length;                                       \
    const Index *at = indices;                                                                     \
                                                                                                   \
    if (step[Y_AT] == 1 && step[UPDATES_AT] == 1 && name##_is_one (at, step[INDICES_AT], n))       \
      {                                                                                            \
        y += name##_place (s, at[0]);                                                              \
        CLEAVE_INDEPENDENT                                                                         \
        for (gint64 i = 0; i < n; i++)                                                             \
          y[i] = cleave_f32_##join (y[i], x[i]);                                                   \
      }                                                                                            \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        {                                                                                          \
          float *to = y + i * step[Y_AT] + name##_place (s, at[i * step[INDICES_AT]]);             \
                                                                                                   \
          *to = cleave_f32_##join (*to, x[i * step[UPDATES_AT]]);                                  \
        }                                                                                          \
  }                                                                                                \
                                                                                                   \
  static void name##_rows (const Scatter *s, gconstpointer indices, float *y, const float *x)      \
  {                                                                                                \
    const gint64 *next = s->next, n = s->lines.length;                                             \
    const Index *at = indices;                                                                     \
                                                                                                   \
    for (gint64 row = 0; row < s->n_rows; row++)                                                   \
      {                                                                                            \
        float *to = y + row * next[Y_AT] + name##_place (s, at[row * next[INDICES_AT]]);           \
        const float *from = x + row * next[UPDATES_AT];                                            \
                                                                                                   \
        CLEAVE_INDEPENDENT                                                                         \
        for (gint64 i = 0; i < n; i++)                                                             \
          to[i] = cleave_f32_##join (to[i], from[i]);                                              \
      }                                                                                            \
  }
LINES (add_32, gint32, add)
LINES (add_64, gint64, add)
LINES (mul_32, gint32, mul)
LINES (mul_64, gint64, mul)
LINES (max_32, gint32, max)
LINES (max_64, gint64, max)
LINES (min_32, gint32, min)
LINES (min_64, gint64, min)
/* clang-format on */

/* Table of the functions that combine lines of updates with y. The first index is the reduction
 * minus CLEAVE_SCATTER_ADD. The second index is 1 if indices are INT32, 0 if they are INT64. The
 * third index is 1 if a call combines several lines. */
static void (*const runs[][2][2]) (const Scatter *, gconstpointer, float *, const float *) = {
  { { add_64, add_64_rows }, { add_32, add_32_rows } },
  { { mul_64, mul_64_rows }, { mul_32, mul_32_rows } },
  { { max_64, max_64_rows }, { max_32, max_32_rows } },
  { { min_64, min_64_rows }, { min_32, min_32_rows } },
};

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  Scatter s = *(const Scatter *) state;
  const CleaveView *y = &instance->results[0];

  cleave_view_copy (y, &instance->operands[DATA]);
  do
    runs[s.reduction - CLEAVE_SCATTER_ADD][s.is_short][s.n_rows > 0](
        &s, cleave_view_element (&instance->operands[INDICES], s.lines.offset[INDICES_AT]),
        (float *) y->data + s.lines.offset[Y_AT],
        (const float *) instance->operands[UPDATES].data + s.lines.offset[UPDATES_AT]);
  while (cleave_lines_next (&s.lines));
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_scatter);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_scatter) = { .prepare = prepare, .run = run, .free = g_free };
