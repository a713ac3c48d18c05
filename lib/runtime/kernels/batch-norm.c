/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of BatchNormalization, for views with any strides: y = fma (x - mean, factor,
 * b) with factor = scale / sqrt (variance + epsilon). The factor of each channel is computed in
 * each run, or once if it depends on constants only. If pixels with contiguous channels follow each
 * other without gaps, several pixels form one line; the factor, b and mean are repeated along the
 * line.
 *
 * Over 400 lines: this file has one kernel family, with a loop for each layout of the channels. */

#include "axis.h"
#include "level.h"
#include "loops.h"
#include "vector.h"

#include "../digest.h"

#include <math.h>

/* Number of elements of the result after which progress is reported and fused consumers run. */
#define PART 2048

enum { X, SCALE, B, MEAN, VAR };
enum { AT_Y, AT_X, AT_FACTOR, AT_B, AT_MEAN, N_VIEWS };

/* Preferred length of a line in floats: if a pixel has fewer channels, several pixels form one line
 * of about this length. */
#define LINE 256
/* Number of floats in a cache line. */
#define CACHE_LINE 16

/* Number of vectors of a pixel that are normalized at once. Besides its elements of x, each vector
 * needs three registers: for the factors, the addends (operand B) and the means of its channels. */
#define MAX_COLUMNS 2

typedef struct
{
  /* loops over all dimensions except the dimensions of a line or, if `in_columns`, of the pixels */
  CleaveLoops loops;
  gint64 n_pixels;   /* number of pixels that run_pixels() or run_columns() normalizes at once */
  gint64 n_repeated; /* number of pixels that form one line, with a copy of the factors for each
                        pixel; 0: factors are not repeated */
  /* TRUE: the pixels have gaps between them, and run_columns() normalizes them */
  gboolean in_columns;
  gint64 line_distance; /* distance in floats from the repeated factors to the repeated addends
                           (operand B), and from the repeated addends to the repeated means */
  gboolean nests;       /* TRUE: the lines of y follow each other in memory */
  gint64 end;           /* number of elements in memory from the first to the last element of y */
  guint c;              /* dimension of the channels */
  gint64 pixel; /* distance of adjacent pixels of y, in elements; 0: the node cannot be an epilogue
                   op */
  const float *factor; /* indexed by channel: the factor, if it depends on constants only; NULL:
                          each run computes it */
} BatchNorm;

/* The progress of a run: the first `made` elements of y are complete, and the fused consumers have
 * run on them. */
typedef struct
{
  const BatchNorm *bn;
  const CleaveKernelInstance *instance;
  gint64 made;
} Progress;

/* If the lines of y follow each other in memory, runs the fused consumers for the elements of y
 * between `made` and `end`. Does nothing if these are fewer than `few` elements. */
static void
report_progress (Progress *progress, gint64 end, gint64 few)
{
  if (!progress->bn->nests || end - progress->made < few)
    return;
  cleave_kernel_range_done (progress->instance, progress->made, end);
  progress->made = end;
}

/* Returns a view of a vector that has one element per channel. The view has the rank of x, and
 * extent 1 in all dimensions except c. */
static CleaveView
broadcast_vector (const CleaveView *vector, const CleaveView *x, guint c)
{
  CleaveView view = { .type = { CLEAVE_FLOAT32, { .rank = x->type.shape.rank } } };

  for (guint d = 0; d < view.type.shape.rank; d++)
    view.type.shape.dim[d] = d == c ? x->type.shape.dim[c] : 1;
  view.stride[c] = vector->stride[0];
  return view;
}

/* Removes the pixel dimension from the loops and forms lines of several pixels, if pixels follow
 * each other without gaps in x and y. */
static void
find_pixels (BatchNorm *bn)
{
  CleaveLoops *loops = &bn->loops;
  gint64 n = loops->length, unit = CACHE_LINE / MIN (MAX (n & -n, 1), CACHE_LINE);
  guint d = loops->n_dims - 1;

  bn->n_pixels = 1;
  if (loops->n_dims == 0 || n == 0 || n >= LINE || loops->step[AT_FACTOR] != 1 ||
      loops->step[AT_Y] != 1 || loops->step[AT_X] != 1 || loops->stride[AT_Y][d] != n ||
      loops->stride[AT_X][d] != n)
    return;
  bn->n_pixels = loops->extent[d];
  bn->n_repeated = MIN (LINE / n, bn->n_pixels);
  if (bn->n_repeated > unit)
    bn->n_repeated -= bn->n_repeated % unit;
  bn->line_distance = (bn->n_repeated * n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  loops->n_dims--;
}

/* Removes the pixel dimension from the loops, if channels are contiguous and pixels are evenly
 * spaced: run_columns() then loops over the pixels. */
static void
find_columns (BatchNorm *bn)
{
  CleaveLoops *loops = &bn->loops;
  guint d = loops->n_dims - 1;

  if (loops->n_dims == 0 || loops->length < CLEAVE_VECTOR || loops->length >= LINE)
    return;
  for (guint v = 0; v < N_VIEWS; v++)
    if (loops->step[v] != 1)
      return;
  for (guint v = AT_FACTOR; v < N_VIEWS; v++)
    if (loops->stride[v][d] != 0)
      return;
  bn->in_columns = TRUE;
  bn->n_pixels = loops->extent[d];
  loops->n_dims--;
}

static gboolean
is_dense_constant (const CleaveKernelInstance *instance, guint operand)
{
  const CleaveView *vector = &instance->operands[operand];

  return instance->constants[operand] != NULL &&
         (vector->stride[0] == 1 || vector->type.shape.dim[0] == 1);
}

/* Returns the distance of adjacent pixels in elements; 0 if the channels are not contiguous. */
static gint64
find_pixel (const CleaveView *y, guint c)
{
  const CleaveShape *shape = &y->type.shape;
  gint64 pixel = 0;

  if (!cleave_has_channels_innermost (y, c))
    return 0;
  for (guint d = 0; d < shape->rank; d++)
    if (d != c && shape->dim[d] > 1 && (pixel == 0 || y->stride[d] < pixel))
      pixel = y->stride[d];
  for (guint d = 0; d < shape->rank; d++)
    if (d != c && shape->dim[d] > 1 && y->stride[d] % pixel != 0)
      return 0;
  if (pixel == 0)
    return MAX (shape->dim[c], 1);
  return pixel >= shape->dim[c] ? pixel : 0;
}

static void
make_factors (const CleaveKernelInstance *instance, float *factor)
{
  const CleaveNormAttrs *attrs = instance->call.attrs;
  const CleaveView *scale = &instance->operands[SCALE];
  const CleaveView *var = &instance->operands[VAR];

  for (gint64 c = 0; c < scale->type.shape.dim[0]; c++)
    factor[c] = ((const float *) scale->data)[c * scale->stride[0]] /
                sqrtf (((const float *) var->data)[c * var->stride[0]] + (float) attrs->epsilon);
}

static void
pack_factors (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  make_factors (data, to);
}

/* Returns the factors of all channels. All pieces of a node share these factors, which are computed
 * from the whole constants. A piece reads views of these constants. Returns NULL if each run must
 * compute the factors. */
static const float *
get_factors (const CleaveKernelInstance *instance, CleaveWeights *weights)
{
  const CleaveNormAttrs *attrs = instance->call.attrs;
  CleaveTensor *scale = instance->constants[SCALE], *var = instance->constants[VAR];
  g_autofree char *scale_digest = NULL, *var_digest = NULL, *key = NULL;

  if (scale == NULL || var == NULL)
    return NULL;
  scale_digest = cleave_constant_dup_digest (scale);
  var_digest = cleave_constant_dup_digest (var);
  key = g_strdup_printf ("factors of %s, %s, epsilon %a", scale_digest, var_digest, attrs->epsilon);
  return cleave_weights_get (weights, cleave_tensor_get_base (scale, NULL), key,
                             (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (scale)),
                             pack_factors, instance);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveNormAttrs *attrs = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];
  CleaveView views[N_VIEWS - 1] = { *x };
  CleaveView factor = { .stride = { 1 } };
  guint c = cleave_layout_dims (attrs->layout, x->type.shape.rank).c;
  BatchNorm *bn;

  for (guint i = 0; i < instance->call.n_operands; i++)
    if (instance->operands[i].type.element != CLEAVE_FLOAT32)
      return FALSE;
  views[AT_FACTOR - 1] = broadcast_vector (&factor, x, c);
  views[AT_B - 1] = broadcast_vector (&instance->operands[B], x, c);
  views[AT_MEAN - 1] = broadcast_vector (&instance->operands[MEAN], x, c);
  bn = g_new0 (BatchNorm, 1);
  bn->c = c;
  cleave_loops_init (&bn->loops, &instance->results[0], views, N_VIEWS - 1);
  bn->nests = cleave_loops_nest (&bn->loops);
  bn->end = cleave_loops_end (&bn->loops);
  find_pixels (bn);
  if (bn->n_repeated == 0)
    find_columns (bn);
  bn->factor = get_factors (instance, weights);
  if (bn->factor != NULL && is_dense_constant (instance, MEAN) && is_dense_constant (instance, B))
    bn->pixel = find_pixel (&instance->results[0], c);
  *n_scratch = (gsize) (3 * bn->line_distance + x->type.shape.dim[c]) * sizeof (float);
  *state = bn;
  return TRUE;
}

/* clang-format off */
#define EACH(X_AT, C_AT, Y_AT)                                                                     \
  CLEAVE_INDEPENDENT                                                                               \
  for (gint64 i = 0; i < n; i++)                                                                   \
    y[Y_AT] = __builtin_fmaf (x[X_AT] - mean[C_AT], factor[C_AT], b[C_AT]);

/* Normalizes n elements of a line. `b`: the addends (operand B). `c_steps`: distances in floats of
 * adjacent elements of `factor`, `b` and `mean`. */
static void
run_line (float *y, gint64 y_step, const float *x, gint64 x_step, const float *factor, const float *b,
          const float *mean, const gint64 *c_steps, gint64 n)
{
  if (y_step == 1 && x_step == 1 && c_steps[0] == 1 && c_steps[1] == 1 && c_steps[2] == 1)
    EACH (i, i, i)
  else if (y_step == 1 && x_step == 1 && c_steps[0] == 0)
    EACH (i, 0, i)
  else
    for (gint64 i = 0; i < n; i++)
      y[i * y_step] = __builtin_fmaf (x[i * x_step] - mean[i * c_steps[2]], factor[i * c_steps[0]], b[i * c_steps[1]]);
}
/* clang-format on */

static gboolean
reports_progress (gconstpointer state)
{
  const BatchNorm *bn = state;

  return bn->nests;
}

static void
repeat (const float *from, gint64 step, gint64 n, gint64 times, float *to)
{
  for (gint64 t = 0; t < times; t++)
    for (gint64 i = 0; i < n; i++)
      *to++ = from[i * step];
}

/* Normalizes all pixels of `line`, n_line elements at a time: y = fma (x - mean, factor, b).
 * `factor` is an array of n_line factors. An array of n_line addends (`b`) begins `line_distance`
 * floats after `factor`, and an array of n_line means begins `line_distance` floats after the
 * addends. */
static void
run_pixels (Progress *progress, const CleaveLine *line, const float *factor, gint64 n_line)
{
  const BatchNorm *bn = progress->bn;
  const CleaveKernelInstance *instance = progress->instance;
  const gint64 steps[] = { 1, 1, 1 };
  gint64 n = bn->n_pixels * bn->loops.length;
  const float *x = (const float *) instance->operands[X].data + line->offset[AT_X];
  const float *b = factor + bn->line_distance, *mean = b + bn->line_distance;
  float *y = (float *) instance->results[0].data + line->offset[AT_Y];

  for (gint64 i = 0; i < n; i += n_line)
    {
      run_line (y + i, 1, x + i, 1, factor, b, mean, steps, MIN (n_line, n - i));
      report_progress (progress, line->offset[AT_Y] + MIN (i + n_line, n), PART);
    }
}

static void
run_repeated (Progress *progress, const float *factor, float *repeated)
{
  const CleaveKernelInstance *instance = progress->instance;
  const CleaveLoops *loops = &progress->bn->loops;
  gint64 n = loops->length, times = progress->bn->n_repeated, apart = progress->bn->line_distance;
  CleaveLine line;

  repeat (factor, 1, n, times, repeated);
  repeat (instance->operands[B].data, loops->step[AT_B], n, times, repeated + apart);
  repeat (instance->operands[MEAN].data, loops->step[AT_MEAN], n, times, repeated + 2 * apart);
  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    run_pixels (progress, &line, repeated, times * n);
}

static void
run_lines (Progress *progress, const float *factor)
{
  const CleaveKernelInstance *instance = progress->instance;
  const CleaveLoops *loops = &progress->bn->loops;
  CleaveLine line;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    {
      report_progress (progress, line.offset[AT_Y], PART);
      run_line ((float *) instance->results[0].data + line.offset[AT_Y], loops->step[AT_Y],
                (const float *) instance->operands[X].data + line.offset[AT_X], loops->step[AT_X],
                factor + line.offset[AT_FACTOR],
                (const float *) instance->operands[B].data + line.offset[AT_B],
                (const float *) instance->operands[MEAN].data + line.offset[AT_MEAN],
                loops->step + AT_FACTOR, loops->length);
    }
}

/* Adjacent channels of n_pixels evenly spaced pixels, which run_vectors() normalizes. All distances
 * are in elements. */
typedef struct
{
  const float *x, *factor, *b, *mean;
  float *y;
  gint64 x_pixel, y_pixel, n_pixels;
} Columns;

#define IS_WHOLE(c) ((c) + 1 < vectors || last == CLEAVE_VECTOR)
#define LOAD(FROM, c)                                                                              \
  (IS_WHOLE (c) ? cleave_vector_load ((FROM) + (c) *CLEAVE_VECTOR)                                 \
                : cleave_vector_load_some ((FROM) + (c) *CLEAVE_VECTOR, last))

/* Normalizes `vectors` vectors of channels of each pixel. `last` is the number of channels in the
 * last vector. */
static CLEAVE_SPECIALISED void
run_vectors (const Columns *at, int vectors, int last)
{
  CleaveVector factor[MAX_COLUMNS], b[MAX_COLUMNS], mean[MAX_COLUMNS];

  CLEAVE_EACH (c, vectors)
    {
      factor[c] = cleave_vector_keep (LOAD (at->factor, c));
      b[c] = cleave_vector_keep (LOAD (at->b, c));
      mean[c] = cleave_vector_keep (LOAD (at->mean, c));
    }
  for (gint64 p = 0; p < at->n_pixels; p++)
    {
      const float *x = at->x + p * at->x_pixel;
      float *y = at->y + p * at->y_pixel;

      CLEAVE_EACH (c, vectors)
        {
          CleaveVector v = cleave_vector_fma (LOAD (x, c) - mean[c], factor[c], b[c]);

          if (IS_WHOLE (c))
            cleave_vector_store (y + c * CLEAVE_VECTOR, v);
          else
            cleave_vector_store_some (y + c * CLEAVE_VECTOR, v, last);
        }
    }
}

static void
run_channels (Columns at, gint64 n)
{
  while (n > 0)
    {
      gint64 some = MIN (n, CLEAVE_VECTOR);

      if (n >= MAX_COLUMNS * CLEAVE_VECTOR)
        run_vectors (&at, MAX_COLUMNS, CLEAVE_VECTOR), some = MAX_COLUMNS * CLEAVE_VECTOR;
      else if (some == CLEAVE_VECTOR)
        run_vectors (&at, 1, CLEAVE_VECTOR);
      else
        run_vectors (&at, 1, (int) some);
      at.x += some;
      at.y += some;
      at.factor += some;
      at.b += some;
      at.mean += some;
      n -= some;
    }
}

/* Normalizes evenly spaced pixels with few channels. Keeps factor, b and mean in registers for all
 * pixels. */
static void
run_columns (Progress *progress, const float *factor)
{
  const CleaveKernelInstance *instance = progress->instance;
  const CleaveLoops *loops = &progress->bn->loops;
  gint64 n = progress->bn->n_pixels, at_once = PART / loops->length;
  guint d = loops->n_dims;
  CleaveLine line;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    for (gint64 p = 0; p < n; p += at_once)
      {
        gint64 x_pixel = loops->stride[AT_X][d], y_pixel = loops->stride[AT_Y][d];
        gint64 x = line.offset[AT_X] + p * x_pixel, y = line.offset[AT_Y] + p * y_pixel;

        report_progress (progress, y, PART);
        run_channels (
            (Columns){ .x = (const float *) instance->operands[X].data + x,
                       .factor = factor + line.offset[AT_FACTOR],
                       .b = (const float *) instance->operands[B].data + line.offset[AT_B],
                       .mean = (const float *) instance->operands[MEAN].data + line.offset[AT_MEAN],
                       .y = (float *) instance->results[0].data + y,
                       .x_pixel = x_pixel,
                       .y_pixel = y_pixel,
                       .n_pixels = MIN (at_once, n - p) },
            loops->length);
      }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const BatchNorm *bn = state;
  Progress progress = { bn, instance, 0 };
  float *made = (float *) scratch + 3 * bn->line_distance;
  const float *factor = bn->factor;

  if (factor == NULL)
    {
      make_factors (instance, made);
      factor = made;
    }
  if (bn->n_repeated > 0)
    run_repeated (&progress, factor, scratch);
  else if (bn->in_columns)
    run_columns (&progress, factor);
  else
    run_lines (&progress, factor);
  report_progress (&progress, bn->end, 1);
}

static CleaveEpilogueKind
epilogue_op (gconstpointer state,
             const CleaveKernelInstance *instance,
             guint v,
             CleaveEpilogueOp *epilogue_op)
{
  const BatchNorm *bn = state;

  if (v != X || bn->pixel == 0)
    return CLEAVE_EPILOGUE_NONE;
  epilogue_op->mean = instance->operands[MEAN].data;
  epilogue_op->factor = bn->factor;
  epilogue_op->b = instance->operands[B].data;
  epilogue_op->c = bn->c;
  epilogue_op->pixel = bn->pixel;
  return CLEAVE_EPILOGUE_NORMALIZE;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_batch_norm);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_batch_norm) = { .prepare = prepare,
                                                   .run = run,
                                                   .free = g_free,
                                                   .by_elements = TRUE,
                                                   .reports_progress = reports_progress,
                                                   .epilogue_op = epilogue_op };
