/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs one kernel on random operands in memory with gaps. A CleaveTrySite defines the elements and
 * the layout of the operands. Compares the results with the results of the reference kernel. */

#include "site.h"

#include "test.h"

#include "../../lib/ir/nan.h"

#include <math.h>
#include <string.h>

#define MAX_OPERANDS 9
#define MAX_RESULTS 3
#define CANARY 0x5a

/* An operand or a result of the kernel, in separate memory with gaps. */
typedef struct
{
  CleaveView view;
  char *bytes;
  gsize n_bytes;
} Value;

typedef struct
{
  const CleaveTrySite *try;
  CleaveTensorType types[MAX_OPERANDS], result_types[MAX_RESULTS];
  gpointer attrs;
  Value values[MAX_OPERANDS];
  CleaveView views[MAX_OPERANDS];
  CleaveTensor *constants[MAX_OPERANDS];
  CleaveTensor *bases[MAX_OPERANDS];
  CleaveKernelInstance instance;
} Trial;

/* Sets `order` to the dimensions of a value, the innermost in memory first. */
static void
order_dims (guint rank, gboolean row_major, guint *order)
{
  guint n = 0;

  if (!row_major && rank >= 3)
    order[n++] = 1;
  for (guint d = rank; d-- > 0;)
    if (row_major || rank < 3 || d != 1)
      order[n++] = d;
}

static Value
new_value (const CleaveTensorType *type, gboolean row_major, gint64 gap)
{
  Value value = { .view = { .type = *type } };
  gsize size = cleave_element_size (type->element);
  guint order[CLEAVE_MAX_RANK];
  gint64 n = 1;

  order_dims (type->shape.rank, row_major, order);
  for (guint i = 0; i < type->shape.rank; i++)
    {
      value.view.stride[order[i]] = n;
      n *= type->shape.dim[order[i]] + gap;
    }
  value.n_bytes = (gsize) n * size + 64;
  value.bytes = g_aligned_alloc (1, value.n_bytes + 64, 64);
  memset (value.bytes, CANARY, value.n_bytes);
  value.view.data = value.bytes + (gap == 0 ? 0 : size * (gsize) gap);
  return value;
}

/* Sets element i of a tensor of 16-bit elements to the bits i, so that a large tensor contains all
 * 16-bit floats. In a float32 tensor, the upper 19 bits of element i are i, and the lower 13 bits
 * are one of eight patterns. With these patterns, many elements are at or near the middle between
 * two float16 numbers. */
static void
count_up (CleaveTensor *tensor)
{
  static const guint32 rests[] = { 0, 0xfff, 0x1000, 0x1001, 0x1fff, 1, 0x800, 0x1000 };
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gint64 n = cleave_shape_n_elements (&type->shape);
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  for (guint32 i = 0; i < n; i++)
    if (cleave_element_size (type->element) == 2)
      ((guint16 *) data)[i] = (guint16) i;
    else
      ((guint32 *) data)[i] = i << 13 | rests[(i ^ i >> 3) & 7];
}

static void
make_small (CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  const guint8 middle = type->element == CLEAVE_UINT8 ? 0x80 : 0;
  guint8 *bytes = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_tensor_type_n_bytes (type); i++)
    bytes[i] = (guint8) ((gint8) (bytes[i] * 2) / 2) ^ middle;
}

/* Returns a scale. Every third scale has a mantissa of ones, every fifth scale is huge or tiny. */
static float
draw_any_scale (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  float mantissa = seed % 3 == 0 ? 0x1.fffffep0f : (float) g_rand_double_range (rand, 1, 2);
  int most = seed % 5 == 0 ? 135 : 12;

  return ldexpf (mantissa, g_rand_int_range (rand, -most, MIN (most, 120)));
}

static void
make_near_ties (CleaveTensor *tensor, guint operand, guint32 seed)
{
  float scale = draw_any_scale (seed), *x = cleave_tensor_get_mutable_data (tensor);
  gint64 n = cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape);

  for (gint64 i = 0; i < n; i++)
    {
      x[i] = operand == 1 ? scale : ((float) (i / 7 % 300 - 150) + 0.5f) * scale;
      for (gint64 j = operand == 1 ? 3 : i % 7; j != 3; j += j < 3 ? 1 : -1)
        x[i] = nextafterf (x[i], j < 3 ? -INFINITY : INFINITY);
    }
}

/* Fills a matrix with integers times a scale for each block. The integers may be negative or have a
 * large offset. */
static void
make_blocks (CleaveTensor *tensor, const CleaveTrySite *try)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  float *x = cleave_tensor_get_mutable_data (tensor);
  gint32 most = (1 << try->block_bits) - 1;

  for (gint64 i = 0; i < shape->dim[0] * shape->dim[1]; i++)
    {
      const gint64 at[2] = { i / shape->dim[1], i % shape->dim[1] };
      guint32 of_block = (guint32) (at[try->block_dim] / try->block * 7919 +
                                    at[1 - try->block_dim] * 104729 + try->seed);
      guint32 hash = (of_block ^ of_block >> 7) * 2654435761u;
      float scale = ldexpf (1 + (float) (hash >> 12 & 0xffff) / 65536, -(int) (hash >> 29));
      gint32 number = (gint32) ((guint32) i * 2246822519u >> 16) % (most + 1) -
                      (gint32) (hash % (guint32) (most + 1));

      x[i] = (float) number * scale + 0.0f;
    }
}

static CleaveTensor *
new_tensor (const CleaveTrySite *try, guint i, const CleaveTensorType *type)
{
  CleaveTensor *tensor = cleave_random_tensor (type, try->seed + i, try->special);

  if (try->filled & (1u << i))
    memset (cleave_tensor_get_mutable_data (tensor), try->fill[i],
            (gsize) cleave_tensor_type_n_bytes (type));
  if (try->small & (1u << i))
    make_small (tensor);
  if (try->counted)
    count_up (tensor);
  if (try->in_blocks & (1u << i))
    make_blocks (tensor, try);
  if (try->near_ties && i < 2)
    make_near_ties (tensor, i, try->seed);
  return tensor;
}

static CleaveTensor *
random_constant (const CleaveTrySite *try, guint i, CleaveTensor **base)
{
  CleaveTensorType whole = try->operands[i];
  CleaveRange range;

  if (!(try->sliced & (1u << i)))
    {
      *base = NULL;
      return new_tensor (try, i, &whole);
    }
  whole.shape.dim[try->sliced_dim] += 13;
  *base = new_tensor (try, i, &whole);
  range = cleave_range_whole (&whole.shape);
  range.dim[try->sliced_dim].begin = 5;
  range.dim[try->sliced_dim].end -= 8;
  return cleave_tensor_new_slice (*base, &range);
}

static void
init_operand (Trial *trial, guint i)
{
  const CleaveTrySite *try = trial->try;
  CleaveTensorType *type = &trial->types[i];
  CleaveView from;

  *type = try->operands[i];
  if (type->element == CLEAVE_NONE)
    return;
  trial->constants[i] = random_constant (try, i, &trial->bases[i]);
  from = cleave_view_tensor (trial->constants[i]);
  if (try->constants & (1u << i))
    {
      trial->views[i] = from;
      return;
    }
  trial->values[i] = new_value (type, (try->row_major & (1u << i)) != 0, try->gap);
  trial->views[i] = trial->values[i].view;
  if ((try->broadcast & (1u << i)) != 0 && type->shape.rank > 0)
    trial->views[i].stride[type->shape.rank - 1] = 0;
  cleave_view_copy (&trial->views[i], &from);
  g_clear_pointer (&trial->constants[i], cleave_tensor_unref);
}

static void
trial_init (Trial *trial, const CleaveTrySite *try)
{
  g_autoptr (GError) error = NULL;
  CleaveCall *call = &trial->instance.call;

  *trial = (Trial){ .try = try };
  for (guint i = 0; i < try->n_operands; i++)
    init_operand (trial, i);
  call->op = try->record != NULL ? try->record : cleave_op_lookup (try->op);
  g_assert (call->op != NULL);
  trial->attrs = try->attrs == NULL ? g_malloc0 (MAX (call->op->attrs_size, 1))
                                    : cleave_attrs_copy (call->op, try->attrs);
  if (try->attrs == NULL && call->op->attrs != NULL)
    cleave_attrs_init (call->op, trial->attrs);
  call->attrs = trial->attrs;
  call->n_operands = try->n_operands;
  call->n_results = MAX (try->n_results, 1);
  call->operands = trial->types;
  if (call->op->attrs != NULL)
    cleave_attrs_normalize (call, trial->attrs, &error);
  g_assert_no_error (error);
  call->op->infer (call, trial->result_types, &error);
  g_assert_no_error (error);
  call->results = trial->result_types;
  trial->instance.operands = trial->views;
  trial->instance.constants = trial->constants;
}

static void
trial_clear (Trial *trial)
{
  for (guint i = 0; i < MAX_OPERANDS; i++)
    {
      g_aligned_free (trial->values[i].bytes);
      g_clear_pointer (&trial->constants[i], cleave_tensor_unref);
      g_clear_pointer (&trial->bases[i], cleave_tensor_unref);
    }
  if (trial->instance.call.op->attrs != NULL)
    cleave_attrs_free (trial->instance.call.op, trial->attrs);
  else
    g_free (trial->attrs);
}

static void
settle_nans (const Value *value)
{
  CleaveElement element = value->view.type.element;

  cleave_nans_settle (element, value->bytes,
                      (gint64) (value->n_bytes / cleave_element_size (element)));
}

static void
compare (const Trial *trial, const Value *fast, const Value *reference)
{
  settle_nans (fast);
  settle_nans (reference);
  for (gsize i = 0; i < fast->n_bytes; i++)
    if (fast->bytes[i] != reference->bytes[i])
      {
        GString *text = g_string_new (NULL);

        cleave_attrs_print (trial->instance.call.op, trial->attrs, text);
        for (guint o = 0; o < trial->try->n_operands; o++)
          {
            g_autofree char *type = cleave_tensor_type_to_string (&trial->types[o]);

            g_string_append_printf (text, ", %s", type);
          }
        ck_abort_msg ("%s%s, gap %d, seed %u: element %u of %u bytes is %g, not %g", trial->try->op,
                      text->str, (int) trial->try->gap, trial->try->seed, (guint) (i / 4),
                      (guint) fast->n_bytes,
                      (double) *(const float *) (const void *) (fast->bytes + i / 4 * 4),
                      (double) *(const float *) (const void *) (reference->bytes + i / 4 * 4));
      }
}

static const CleaveKernelFamily *
find (const CleaveCall *call, const char *level)
{
  return level == NULL ? cleave_kernel_find (call) : cleave_kernel_find_at (call, level);
}

gboolean
cleave_level_has_kernel (const CleaveTrySite *try, const char *level)
{
  Trial trial;
  gboolean has;

  trial_init (&trial, try);
  has = find (&trial.instance.call, level) != NULL;
  trial_clear (&trial);
  return has;
}

/* Returns scratch memory that is filled with garbage. */
static gpointer
new_scratch (gsize n_scratch)
{
  gpointer scratch = g_aligned_alloc (1, n_scratch + 64, 64);

  memset (scratch, 0xff, n_scratch + 64);
  return scratch;
}

static gboolean
run_fast (Trial *trial, CleaveView *results, const char *level)
{
  const CleaveKernelFamily *family = find (&trial->instance.call, level);
  CleaveWeights *weights = cleave_weights_new (NULL);
  gpointer state = NULL, scratch;
  gsize n_scratch = 0;
  gboolean served;

  trial->instance.results = results;
  served = family != NULL && family->prepare (&trial->instance, weights, &state, &n_scratch);
  if (served)
    {
      for (guint i = 0; family->reads != NULL && i < trial->instance.call.n_operands; i++)
        if (!family->reads (state, i))
          trial->instance.operands[i].data = NULL;
      scratch = new_scratch (n_scratch);
      family->run (state, &trial->instance, scratch);
      /* the second run must not depend on scratch or state that the first run has changed */
      if (!trial->try->in_place)
        family->run (state, &trial->instance, scratch);
      g_aligned_free (scratch);
      if (family->free != NULL)
        family->free (state);
    }
  cleave_weights_free (weights);
  return served;
}

gboolean
cleave_try_instance (const CleaveTrySite *try, const char *level)
{
  Trial trial;
  Value fast[MAX_RESULTS] = { 0 }, reference[MAX_RESULTS] = { 0 };
  CleaveView fast_views[MAX_RESULTS], views[MAX_RESULTS];
  gboolean served;

  trial_init (&trial, try);
  for (guint r = 0; r < trial.instance.call.n_results; r++)
    {
      fast[r] = new_value (&trial.result_types[r], try->y_row_major, try->gap + try->y_gap);
      reference[r] = new_value (&trial.result_types[r], try->y_row_major, try->gap + try->y_gap);
      fast_views[r] = fast[r].view;
      views[r] = reference[r].view;
    }
  if (try->in_place)
    {
      fast_views[0] = trial.values[0].view;
      trial.values[0].view.type = fast_views[0].type = trial.result_types[0];
    }
  trial.instance.call.op->compute (&trial.instance.call, trial.views, views);
  served = run_fast (&trial, fast_views, level);
  for (guint r = 0; r < trial.instance.call.n_results; r++)
    {
      if (served)
        compare (&trial, try->in_place ? &trial.values[0] : &fast[r], &reference[r]);
      g_aligned_free (fast[r].bytes);
      g_aligned_free (reference[r].bytes);
    }
  trial_clear (&trial);
  return served;
}

/* Repeats a run at least five times, and until `seconds` have passed. Returns the seconds of the
 * fastest run. */
static double
fastest (const CleaveKernelFamily *family,
         Trial *trial,
         gpointer state,
         gpointer scratch,
         double seconds)
{
  double least = G_MAXDOUBLE;
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * 1e6);

  for (guint i = 0; i < 5 || g_get_monotonic_time () < end; i++)
    {
      gint64 begin = g_get_monotonic_time ();
      guint n = 0;
      double each;

      for (; n == 0 || g_get_monotonic_time () - begin < 2000; n++)
        family->run (state, &trial->instance, scratch);
      each = (double) (g_get_monotonic_time () - begin) * 1e-6 / n;
      least = MIN (least, each);
    }
  return least;
}

double
cleave_time_instance (const CleaveTrySite *try, const char *level, double seconds)
{
  Trial trial;
  Value y;
  CleaveWeights *weights = cleave_weights_new (NULL);
  const CleaveKernelFamily *family;
  gpointer state = NULL, scratch;
  gsize n_scratch = 0;
  double least = -1;

  trial_init (&trial, try);
  y = new_value (&trial.result_types[0], try->y_row_major, try->gap + try->y_gap);
  trial.instance.results = &y.view;
  family = find (&trial.instance.call, level);
  if (family != NULL && family->prepare (&trial.instance, weights, &state, &n_scratch))
    {
      scratch = new_scratch (n_scratch);
      least = fastest (family, &trial, state, scratch, seconds);
      g_aligned_free (scratch);
      if (family->free != NULL)
        family->free (state);
    }
  g_aligned_free (y.bytes);
  cleave_weights_free (weights);
  trial_clear (&trial);
  return least;
}
