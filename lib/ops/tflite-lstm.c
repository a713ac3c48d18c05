/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteLstm: UNIDIRECTIONAL_SEQUENCE_LSTM on integers, with the states as operands and results.
 * Batch can be split; time can be cut into chunks that run one after the other (sequence); the
 * hidden size cannot be split.
 *
 * W, R and B hold the gates in the order input, forget, cell, output. For each gate of a step:
 *
 *   gate = clamp16 (clamp16 (M (B + W (x - x_zero))) + clamp16 (M' (R (h - h_zero))))
 *
 * M and M' are the gate's entries of x_multipliers and h_multipliers with their shifts. Sums have
 * 32 bits and wrap; with an int64 B they have 64 bits. Then, with int16 products:
 *
 *   c = clamp16 (clamp16 (forget * (logistic (forget gate) * c)) +
 *                clamp16 (input * (logistic (input gate) * tanh (cell gate))))
 *   h = clamp (h_zero + hidden * (tanh (c) * logistic (output gate)))
 *
 * Source: the template LstmStep of TensorFlow Lite for Microcontrollers. */

#include "fixed-sigmoid.h"
#include "reference.h"
#include "tflite.h"

enum { X, W, R, B, INITIAL_H, INITIAL_C };
enum { Y, LAST_H, LAST_C };
enum { INPUT, FORGET, CELL, OUTPUT, N_GATES };

/* Returns the dimension of time in x and y: 0 or 1. The other of these dimensions is the batch. */
static guint
time_of (const CleaveTfliteLstmAttrs *a)
{
  return a->time_major ? 0 : 1;
}

/* Checks that a list has one entry for each gate, and that all entries are from `least` to `most`.
 * An empty list stands for zeros. */
static gboolean
check_list (const char *name, const CleaveInts *list, gint64 least, gint64 most, GError **error)
{
  if (list->n != 0 && list->n != N_GATES)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u elements, but must have %d", name,
                        list->n, N_GATES);
  for (guint i = 0; i < list->n; i++)
    if (!cleave_tflite_check (name, list->v[i], least, most, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_attrs (const CleaveCall *call, GError **error)
{
  const CleaveTfliteLstmAttrs *a = call->attrs;

  return check_list ("x_multipliers", &a->x_multipliers, 0, G_MAXINT32, error) &&
         check_list ("x_shifts", &a->x_shifts, -31, 31, error) &&
         check_list ("h_multipliers", &a->h_multipliers, 0, G_MAXINT32, error) &&
         check_list ("h_shifts", &a->h_shifts, -31, 31, error) &&
         cleave_tflite_check_zero ("x_zero", call->operands[X].element, a->x_zero, error) &&
         cleave_tflite_check_zero ("h_zero", call->operands[INITIAL_H].element, a->h_zero, error) &&
         cleave_tflite_check_factor (a->forget_multiplier, a->forget_shift, error) &&
         cleave_tflite_check_factor (a->input_multiplier, a->input_shift, error) &&
         cleave_tflite_check_factor (a->hidden_multiplier, a->hidden_shift, error) &&
         cleave_tflite_check ("tanh_multiplier", a->tanh_multiplier, 0, 1 << 20, error) &&
         cleave_tflite_check ("tanh_shift", a->tanh_shift, 0, 30, error) &&
         cleave_tflite_check ("cell_clip", a->cell_clip, 0, G_MAXINT16, error);
}

static gboolean
check_elements (const CleaveCall *call, GError **error)
{
  CleaveElement x = call->operands[X].element;
  guint bias = CLEAVE_ELEMENT_BIT (x == CLEAVE_INT16 ? CLEAVE_INT64 : CLEAVE_INT32);

  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) &&
         cleave_call_check_element (call, W, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) &&
         cleave_call_check_element (call, R, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) &&
         cleave_call_check_element (call, B, bias, error) &&
         cleave_call_check_element (call, INITIAL_H, CLEAVE_ELEMENT_BIT (x), error) &&
         cleave_call_check_element (call, INITIAL_C, CLEAVE_ELEMENT_BIT (CLEAVE_INT16), error);
}

static gboolean
check_shape (const CleaveCall *call, guint operand, const CleaveShape *wanted, GError **error)
{
  g_autofree char *got = NULL, *want = NULL;

  if (cleave_shape_equal (&call->operands[operand].shape, wanted))
    return TRUE;
  got = cleave_shape_to_string (&call->operands[operand].shape);
  want = cleave_shape_to_string (wanted);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s is %s, but must be %s",
                      cleave_op_operand_name (call->op, operand), got, want);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteLstmAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *r = &call->operands[R].shape;
  CleaveShape shapes[6];
  gint64 hidden, batch;

  if (!check_elements (call, error) || !cleave_call_check_rank (call, X, 3, 3, error) ||
      !cleave_call_check_rank (call, R, 2, 2, error) || !check_attrs (call, error))
    return FALSE;
  hidden = r->dim[1];
  batch = x->dim[1 - time_of (a)];
  if (hidden < 1 || hidden > G_MAXINT32)
    return cleave_fail (
        error, CLEAVE_ERROR_SHAPE,
        "R has %" G_GINT64_FORMAT " columns; the hidden size must be 1 to 2147483647", hidden);
  shapes[W] = CLEAVE_SHAPE (N_GATES * hidden, x->dim[2]);
  shapes[R] = CLEAVE_SHAPE (N_GATES * hidden, hidden);
  shapes[B] = CLEAVE_SHAPE (N_GATES * hidden);
  shapes[INITIAL_H] = shapes[INITIAL_C] = CLEAVE_SHAPE (batch, hidden);
  for (guint i = W; i <= INITIAL_C; i++)
    if (!check_shape (call, i, &shapes[i], error))
      return FALSE;
  results[Y] = call->operands[X];
  results[Y].shape.dim[2] = hidden;
  for (guint i = LAST_H; i < call->n_results; i++)
    results[i] = call->operands[i == LAST_H ? INITIAL_H : INITIAL_C];
  return TRUE;
}

/* The functions below set the maps, and the attributes of pieces. */

static void
map_state (const CleaveCall *call, CleaveDimMap *map)
{
  map[0] = cleave_dim_map_same (1 - time_of (call->attrs));
  map[1] = cleave_dim_map_same (2);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;
  guint batch = 1 - time_of (call->attrs);

  for (guint d = 0; d < own->rank; d++)
    map[d] = cleave_dim_map_whole (own->dim[d]);
  if (operand == X)
    map[batch] = cleave_dim_map_same (batch);
  else if (operand == INITIAL_H || operand == INITIAL_C)
    map_state (call, map);
}

static void
result_maps (const CleaveCall *call, guint result, CleaveDimMap *map)
{
  map_state (call, map);
}

/* Refuses a chunk of hidden units or of time, since each step depends on all units of the step
 * before it. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  const CleaveShape *y = &call->results[Y].shape;
  guint time = time_of (attrs);

  if (chunk->range.dim[2].begin != 0 || chunk->range.dim[2].end != y->dim[2])
    return cleave_refuse (why, "dimension 2, the hidden state, is computed as a whole");
  if (chunk->range.dim[time].begin != 0 || chunk->range.dim[time].end != y->dim[time])
    return cleave_refuse (why, "dimension %u, the time, is computed as a whole", time);
  return TRUE;
}

static gboolean
sequence (const CleaveCall *call, CleaveSequence *sequence)
{
  guint time = time_of (call->attrs);

  *sequence = (CleaveSequence){ .dim = time,
                                .operand_dim = time,
                                .takes = { [LAST_H] = INITIAL_H, [LAST_C] = INITIAL_C } };
  return TRUE;
}

static gint64
macs (const CleaveCall *call)
{
  return cleave_saturated_mul (
      cleave_saturated_mul (cleave_shape_n_elements (&call->results[Y].shape), N_GATES),
      cleave_saturated_add (call->operands[W].shape.dim[1], call->operands[R].shape.dim[1]));
}

/* A row of elements; `step`: distance of adjacent elements, in elements. */
typedef struct
{
  CleaveElement element;
  const void *at;
  gint64 n, step;
} Row;

static Row
row_of (const CleaveView *view, const gint64 *at)
{
  guint last = view->type.shape.rank - 1;

  return (Row){ view->type.element, cleave_view_at (view, at), view->type.shape.dim[last],
                view->stride[last] };
}

static gint64
row_load (const Row *row, gint64 i)
{
  return cleave_integer_load (row->element,
                              (const char *) row->at +
                                  i * row->step * (gint64) cleave_element_size (row->element));
}

static gint16
clamp_16 (gint64 value)
{
  return (gint16) CLAMP (value, G_MININT16, G_MAXINT16);
}

/* The state of the computation of one step of one sequence. */
typedef struct
{
  const CleaveTfliteLstmAttrs *attrs;
  const CleaveView *operands;
  Row x, h; /* x: the input of the step; h: the state before the step */
  gint64 hidden;
  gboolean wide;
} Step;

/* Adds the product of a row `w` of weights and the vector x - `zero` to `bias`. Returns the sum
 * times the factor that `multiplier` and `shift` give, clamped to 16 bits. */
static gint16
multiply_row (const Step *s,
              const Row *w,
              const Row *x,
              gint64 zero,
              gint64 bias,
              gint32 multiplier,
              gint shift)
{
  guint64 sum = (guint64) bias; /* unsigned, so that the sum wraps around */

  for (gint64 i = 0; i < w->n; i++)
    sum += (guint64) ((row_load (x, i) - zero) * row_load (w, i));
  return clamp_16 (s->wide ? cleave_fixed_multiply_wide ((gint64) sum, multiplier, shift)
                           : cleave_fixed_multiply ((gint32) (guint32) sum, multiplier, shift));
}

/* Returns the sum of a gate for unit `j`, before its activation. */
static gint16
sum_gate (const Step *s, guint gate, gint64 j)
{
  const CleaveTfliteLstmAttrs *a = s->attrs;
  gint64 at[2] = { gate * s->hidden + j, 0 };
  Row w = row_of (&s->operands[W], at), r = row_of (&s->operands[R], at);
  gint64 bias =
      cleave_integer_load (s->operands[B].type.element, cleave_view_at (&s->operands[B], at));
  gint64 from_x = multiply_row (s, &w, &s->x, a->x_zero, bias,
                                (gint32) cleave_ints_at (&a->x_multipliers, gate, 0),
                                (gint) cleave_ints_at (&a->x_shifts, gate, 0));
  gint64 from_h = multiply_row (s, &r, &s->h, a->h_zero, 0,
                                (gint32) cleave_ints_at (&a->h_multipliers, gate, 0),
                                (gint) cleave_ints_at (&a->h_shifts, gate, 0));

  return clamp_16 (from_x + from_h);
}

static gint32
logistic_gate (const Step *s, guint gate, gint64 j)
{
  return cleave_fixed_logistic_16 (sum_gate (s, gate, j), 3, 0);
}

/* Returns the new cell state of unit `j`. */
static gint16
next_cell (const Step *s, gint64 j, gint32 cell)
{
  const CleaveTfliteLstmAttrs *a = s->attrs;
  gint32 forget = logistic_gate (s, FORGET, j), input = logistic_gate (s, INPUT, j);
  gint32 new = cleave_fixed_tanh_16 (sum_gate (s, CELL, j), 3, 0);
  gint64 kept = clamp_16 (
      cleave_fixed_multiply (forget * cell, (gint32) a->forget_multiplier, (gint) a->forget_shift));
  gint64 added = clamp_16 (
      cleave_fixed_multiply (input * new, (gint32) a->input_multiplier, (gint) a->input_shift));
  gint16 sum = clamp_16 (kept + added);

  return a->cell_clip == 0 ? sum : (gint16) CLAMP (sum, -a->cell_clip, a->cell_clip);
}

/* Computes a step of one sequence: updates the cell state in the result `c`, and writes a row of y.
 */
static void
run_step (const Step *s, const CleaveView *c, const CleaveView *y, gint64 batch, const gint64 *y_at)
{
  const CleaveTfliteLstmAttrs *a = s->attrs;
  CleaveElement element = y->type.element;
  gint64 at[3] = { y_at[0], y_at[1], 0 };

  for (gint64 j = 0; j < s->hidden; j++)
    {
      gint16 *cell = cleave_view_at (c, (gint64[]){ batch, j });
      gint32 open, squashed;
      gint64 value;

      *cell = next_cell (s, j, *cell);
      open = logistic_gate (s, OUTPUT, j);
      squashed = cleave_fixed_tanh_16 (*cell, (gint32) a->tanh_multiplier, (gint) a->tanh_shift);
      value = a->h_zero + cleave_fixed_multiply (squashed * open, (gint32) a->hidden_multiplier,
                                                 (gint) a->hidden_shift);
      at[2] = j;
      cleave_tflite_store (
          element, cleave_view_at (y, at),
          CLAMP (value, cleave_tflite_lowest (element), cleave_tflite_highest (element)));
    }
}

static void
copy_row (const CleaveView *to, gint64 batch, const Row *from)
{
  for (gint64 j = 0; j < from->n; j++)
    cleave_tflite_store (to->type.element, cleave_view_at (to, (gint64[]){ batch, j }),
                         row_load (from, j));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteLstmAttrs *a = call->attrs;
  const CleaveView *y = &results[Y];
  guint time = time_of (a), batch = 1 - time;
  Step step = { .attrs = a,
                .operands = operands,
                .hidden = y->type.shape.dim[2],
                .wide = operands[B].type.element == CLEAVE_INT64 };

  for (gint64 b = 0; b < y->type.shape.dim[batch]; b++)
    {
      gint64 at[3] = { 0 }, state_at[2] = { b, 0 };
      Row cell = row_of (&operands[INITIAL_C], state_at);

      copy_row (&results[LAST_C], b, &cell);
      step.h = row_of (&operands[INITIAL_H], state_at);
      at[batch] = b;
      for (gint64 t = 0; t < y->type.shape.dim[time]; t++)
        {
          at[time] = t;
          step.x = row_of (&operands[X], at);
          run_step (&step, &results[LAST_C], y, b, at);
          step.h = row_of (y, at);
        }
      copy_row (&results[LAST_H], b, &step.h);
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteLstmAttrs, field)
#define INTS(field)                                                                                \
  {                                                                                                \
#field, CLEAVE_ATTR_INTS, CLEAVE_FIELD(CleaveTfliteLstmAttrs, field),                          \
        .flags = CLEAVE_ATTR_NOT_ONNX                                                              \
  }
static const CleaveAttr attrs[] = {
  { "time_major", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveTfliteLstmAttrs, time_major),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  INT (x_zero),
  INT (h_zero),
  INTS (x_multipliers),
  INTS (x_shifts),
  INTS (h_multipliers),
  INTS (h_shifts),
  INT (forget_multiplier),
  INT (forget_shift),
  INT (input_multiplier),
  INT (input_shift),
  INT (hidden_multiplier),
  INT (hidden_shift),
  INT (tanh_multiplier),
  INT (tanh_shift),
  INT (cell_clip),
  { 0 },
};
#undef INT
#undef INTS

/* A node must have all results: the kernel stores the states of each step in the results. */
const CleaveOp cleave_op_tflite_lstm = {
  .name = "TfliteLstm",
  .operands = (const char *const[]){ "X", "W", "R", "B", "initial_h", "initial_c", NULL },
  .results = (const char *const[]){ "Y", "Y_h", "Y_c", NULL },
  .min_operands = 6,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_ALL_RESULTS,
  .attrs_size = sizeof (CleaveTfliteLstmAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = maps,
  .result_maps = result_maps,
  .narrow = narrow,
  .sequence = sequence,
  .macs = macs,
  .compute = compute,
};
