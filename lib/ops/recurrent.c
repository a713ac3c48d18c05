/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The records of RNN, GRU and LSTM. Batch and directions can be split. The hidden size cannot. Time
 * can be cut only into chunks that run one after the other (sequence). recurrent-steps.c has the
 * kernels. */

#include "recurrent.h"

#include "../ir/op.h"

enum {
  X = CLEAVE_RECURRENT_X,
  W = CLEAVE_RECURRENT_W,
  R = CLEAVE_RECURRENT_R,
  B = CLEAVE_RECURRENT_B,
  LENGTHS = CLEAVE_RECURRENT_LENGTHS,
  P = CLEAVE_RECURRENT_P
};

/* The properties in which the records of RNN, GRU and LSTM differ. */
typedef struct
{
  const CleaveOp *op;
  guint n_gates, n_functions;
  CleaveActivation defaults[CLEAVE_RECURRENT_MAX_FUNCTIONS];
} Kind;

static const Kind kinds[] = {
  { &cleave_op_rnn, 1, 1, { CLEAVE_ACTIVATION_TANH } },
  { &cleave_op_gru, 3, 2, { CLEAVE_ACTIVATION_SIGMOID, CLEAVE_ACTIVATION_TANH } },
  { &cleave_op_lstm,
    4,
    3,
    { CLEAVE_ACTIVATION_SIGMOID, CLEAVE_ACTIVATION_TANH, CLEAVE_ACTIVATION_TANH } },
};

static const Kind *
kind_of (const CleaveCall *call)
{
  guint i = 0;

  while (kinds[i].op != call->op)
    i++;
  return &kinds[i];
}

static guint
count_directions (const CleaveRecurrentAttrs *a)
{
  return a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? 2 : 1;
}

/* The code below finds the activation functions of a node. */

static const char *const activation_names[] = { "Tanh",       "Sigmoid",     "Relu",
                                                "Affine",     "LeakyRelu",   "ThresholdedRelu",
                                                "ScaledTanh", "HardSigmoid", "Elu",
                                                "Softsign",   "Softplus",    NULL };

/* The parameters of each activation function, and the defaults of the parameters. A default applies
 * if an attribute has too few entries. */
static const struct
{
  gboolean has_alpha, has_beta;
  double alpha, beta;
} numbers[] = {
  [CLEAVE_ACTIVATION_AFFINE] = { TRUE, TRUE, 1, 0 },
  [CLEAVE_ACTIVATION_LEAKY_RELU] = { TRUE, FALSE, 0.01, 0 },
  [CLEAVE_ACTIVATION_THRESHOLDED_RELU] = { TRUE, FALSE, 1, 0 },
  [CLEAVE_ACTIVATION_SCALED_TANH] = { TRUE, TRUE, 1, 1 },
  [CLEAVE_ACTIVATION_HARD_SIGMOID] = { TRUE, TRUE, 0.2, 0.5 },
  [CLEAVE_ACTIVATION_ELU] = { TRUE, FALSE, 1, 0 },
  [CLEAVE_ACTIVATION_SOFTPLUS] = { FALSE, FALSE, 0, 0 },
};

/* Sets the activation functions of one direction. The attributes activation_alpha and
 * activation_beta have an entry for each function with that parameter: first the entries of
 * direction 0, then the entries of direction 1. */
void
cleave_recurrent_functions (const CleaveCall *call,
                            guint direction,
                            CleaveRecurrentFunction *functions)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  const Kind *kind = kind_of (call);
  guint alphas = 0, betas = 0;

  for (guint i = 0; i < (direction + 1) * kind->n_functions; i++)
    {
      guint place = i % kind->n_functions;
      CleaveActivation activation =
          a->activations.n == 0 ? kind->defaults[place] : (CleaveActivation) a->activations.v[i];
      CleaveRecurrentFunction *f = &functions[place];

      *f = (CleaveRecurrentFunction){ activation, numbers[activation].alpha,
                                      numbers[activation].beta };
      if (numbers[activation].has_alpha && alphas < a->activation_alpha.n)
        f->alpha = a->activation_alpha.v[alphas++];
      if (numbers[activation].has_beta && betas < a->activation_beta.n)
        f->beta = a->activation_beta.v[betas++];
    }
}

/* Sets the attributes `activations`, `activation_alpha` and `activation_beta` of a piece to the
 * entries of one direction. */
static void
narrow_activations (const CleaveCall *call, guint direction, CleaveRecurrentAttrs *a)
{
  CleaveRecurrentFunction functions[CLEAVE_RECURRENT_MAX_FUNCTIONS];
  guint n = kind_of (call)->n_functions;

  cleave_recurrent_functions (call, direction, functions);
  a->activations.n = a->activation_alpha.n = a->activation_beta.n = 0;
  for (guint i = 0; i < n; i++)
    {
      CleaveActivation activation = functions[i].activation;

      a->activations.v[a->activations.n++] = activation;
      if (numbers[activation].has_alpha)
        a->activation_alpha.v[a->activation_alpha.n++] = functions[i].alpha;
      if (numbers[activation].has_beta)
        a->activation_beta.v[a->activation_beta.n++] = functions[i].beta;
    }
}

/* The functions below check attributes and infer types. */

static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveRecurrentAttrs *a = attrs;
  const CleaveShape *r = &call->operands[R].shape;
  guint n = kind_of (call)->n_functions * count_directions (a);

  if (a->hidden_size == 0 && r->rank == 3)
    a->hidden_size = r->dim[2];
  if (a->activations.n != 0 && a->activations.n != n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "has %u activations, not %u",
                        a->activations.n, n);
  if (a->layout > 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "layout must be 0 or 1, not %" G_GINT64_FORMAT, a->layout);
  if (!(a->clip >= 0))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "clip must be more than 0");
  return TRUE;
}

static gboolean
check_shape (const CleaveCall *call, guint operand, const CleaveShape *wanted, GError **error)
{
  g_autofree char *got = NULL, *want = NULL;

  if (!cleave_call_has (call, operand) ||
      cleave_shape_equal (&call->operands[operand].shape, wanted))
    return TRUE;
  got = cleave_shape_to_string (&call->operands[operand].shape);
  want = cleave_shape_to_string (wanted);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s is %s, but must be %s",
                      cleave_op_operand_name (call->op, operand), got, want);
}

static gboolean
check_elements (const CleaveCall *call, GError **error)
{
  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error))
    return FALSE;
  for (guint i = W; i < call->n_operands; i++)
    if (cleave_call_has (call, i) && i != LENGTHS &&
        !cleave_call_check_same_element (call, X, i, error))
      return FALSE;
  return !cleave_call_has (call, LENGTHS) ||
         cleave_call_check_element (call, LENGTHS, CLEAVE_ELEMENT_BIT (CLEAVE_INT32), error);
}

static CleaveShape
state_shape (const CleaveRecurrentAttrs *a, gint64 n_directions, gint64 batch)
{
  return a->layout == 0 ? CLEAVE_SHAPE (n_directions, batch, a->hidden_size)
                        : CLEAVE_SHAPE (batch, n_directions, a->hidden_size);
}

static gboolean
check_shapes (const CleaveCall *call, gint64 batch, gint64 n_inputs, GError **error)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  gint64 n_directions = count_directions (a), hidden = a->hidden_size;
  gint64 rows = kind_of (call)->n_gates * hidden;
  const CleaveShape shapes[] = { [W] = CLEAVE_SHAPE (n_directions, rows, n_inputs),
                                 [R] = CLEAVE_SHAPE (n_directions, rows, hidden),
                                 [B] = CLEAVE_SHAPE (n_directions, 2 * rows),
                                 [LENGTHS] = CLEAVE_SHAPE (batch),
                                 [CLEAVE_RECURRENT_INITIAL_H] =
                                     state_shape (a, n_directions, batch),
                                 [CLEAVE_RECURRENT_INITIAL_C] =
                                     state_shape (a, n_directions, batch),
                                 [P] = CLEAVE_SHAPE (n_directions, 3 * hidden) };

  for (guint i = W; i < call->n_operands; i++)
    if (!check_shape (call, i, &shapes[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  const CleaveShape *x = &call->operands[X].shape;
  gint64 n_directions = count_directions (a), batch = x->dim[dims.x_batch];
  CleaveTensorType y = { call->operands[X].element, { .rank = 4 } };

  if (!cleave_call_check_rank (call, X, 3, 3, error) ||
      !cleave_call_check_rank (call, R, 3, 3, error) || !check_elements (call, error))
    return FALSE;
  if (a->hidden_size < 1 || a->hidden_size > G_MAXINT32)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the hidden size is %" G_GINT64_FORMAT "; it must be 1 to 2147483647",
                        a->hidden_size);
  if (!check_shapes (call, batch, x->dim[2], error))
    return FALSE;
  y.shape.dim[dims.y_time] = x->dim[dims.x_time];
  y.shape.dim[dims.y_direction] = n_directions;
  y.shape.dim[dims.y_batch] = batch;
  y.shape.dim[3] = a->hidden_size;
  results[CLEAVE_RECURRENT_Y] = y;
  y.shape = state_shape (a, n_directions, batch);
  for (guint i = CLEAVE_RECURRENT_Y_H; i < call->n_results; i++)
    results[i] = y;
  return TRUE;
}

/* The functions below set the maps, and the attributes of pieces. */

/* Sets the map of an initial or final state. */
static void
map_state (const CleaveRecurrentAttrs *a, CleaveDimMap *map)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);

  map[dims.state_direction] = cleave_dim_map_same (dims.y_direction);
  map[dims.state_batch] = cleave_dim_map_same (dims.y_batch);
  map[2] = cleave_dim_map_same (3);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  const CleaveShape *own = &call->operands[operand].shape;

  for (guint d = 0; d < own->rank; d++)
    map[d] = cleave_dim_map_whole (own->dim[d]);
  if (operand == X)
    map[dims.x_batch] = cleave_dim_map_same (dims.y_batch);
  else if (operand == LENGTHS)
    map[0] = cleave_dim_map_same (dims.y_batch);
  else if (operand == W || operand == R || operand == B || operand == P)
    map[0] = cleave_dim_map_same (dims.y_direction);
  else
    map_state (a, map);
}

static void
result_maps (const CleaveCall *call, guint result, CleaveDimMap *map)
{
  map_state (call->attrs, map);
}

/* Refuses a chunk that cuts the time. Refuses a chunk that cuts the hidden units, since all hidden
 * units depend on each other. (Without this check, such a chunk could pass: the shapes of the W and
 * the R of its piece may match by chance.) If the chunk has one of two directions, sets the
 * attributes of the piece to this direction. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveRecurrentAttrs *a = attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  CleaveSpan direction = chunk->range.dim[dims.y_direction];
  gint64 time = call->results[0].shape.dim[dims.y_time];

  if (chunk->range.dim[3].begin != 0 || chunk->range.dim[3].end != a->hidden_size)
    return cleave_refuse (why, "dimension 3, the hidden state, is computed as a whole");
  if (chunk->range.dim[dims.y_time].begin != 0 || chunk->range.dim[dims.y_time].end != time)
    return cleave_refuse (why, "dimension %u, the time, is computed as a whole", dims.y_time);
  if (direction.end - direction.begin == count_directions (a))
    return TRUE;
  if (a->activations.n > 0)
    narrow_activations (call, (guint) direction.begin, a);
  a->direction = direction.begin == 0 ? CLEAVE_DIRECTION_FORWARD : CLEAVE_DIRECTION_REVERSE;
  return TRUE;
}

/* Describes how to cut the op along time. Returns FALSE for a bidirectional op, since its two
 * directions run in opposite order. Also returns FALSE if the call has the operand sequence_lens: a
 * length is a number of steps of the whole sequence. */
static gboolean
sequence (const CleaveCall *call, CleaveSequence *sequence)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);

  *sequence = (CleaveSequence){ .dim = dims.y_time,
                                .operand_dim = dims.x_time,
                                .is_backwards = a->direction == CLEAVE_DIRECTION_REVERSE,
                                .takes = { [CLEAVE_RECURRENT_Y_H] = CLEAVE_RECURRENT_INITIAL_H,
                                           [CLEAVE_RECURRENT_Y_C] = CLEAVE_RECURRENT_INITIAL_C },
                                .ahead_operands = { W, B } };
  /* 16-bit floats do not use cleave_op_recurrent_sums, since its result would round the sums to 16
   * bits. */
  if (cleave_call_has (call, W) && cleave_element_size (call->operands[X].element) > 2)
    sequence->ahead = &cleave_op_recurrent_sums;
  return a->direction != CLEAVE_DIRECTION_BIDIRECTIONAL && !cleave_call_has (call, LENGTHS);
}

static gint64
macs (const CleaveCall *call)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  gint64 n_inputs = cleave_call_has (call, W) ? call->operands[X].shape.dim[2] : 0;

  return cleave_saturated_mul (
      cleave_saturated_mul (cleave_shape_n_elements (&call->results[0].shape),
                            kind_of (call)->n_gates),
      cleave_saturated_add (n_inputs, a->hidden_size));
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].element == CLEAVE_FLOAT64 ? CLEAVE_KERNEL_REFERENCE
                                                     : CLEAVE_KERNEL_RECURRENT;
}

static guint
since (const CleaveCall *call)
{
  return call->operands[X].element == CLEAVE_BFLOAT16 ? 22 : 0;
}

/* The code below defines the records of RNN, GRU and LSTM. */

static const char *const directions[] = { "forward", "reverse", "bidirectional", NULL };

#define FIELD(name) #name, .offset = G_STRUCT_OFFSET(CleaveRecurrentAttrs, name)
/* clang-format off */
#define COMMON                                                                                     \
  { FIELD (direction), .kind = CLEAVE_ATTR_ENUM, .names = directions },                            \
  { FIELD (activations), .kind = CLEAVE_ATTR_ENUMS, .names = activation_names },                   \
  { FIELD (activation_alpha), .kind = CLEAVE_ATTR_DOUBLES },                                       \
  { FIELD (activation_beta), .kind = CLEAVE_ATTR_DOUBLES },                                        \
  { FIELD (clip), .kind = CLEAVE_ATTR_DOUBLE },                                                    \
  { FIELD (hidden_size), .kind = CLEAVE_ATTR_INT, CLEAVE_AT_LEAST (0) },                           \
  { FIELD (layout), .kind = CLEAVE_ATTR_INT, CLEAVE_AT_LEAST (0) }

static const CleaveAttr rnn_attrs[] = { COMMON, { 0 } };
static const CleaveAttr gru_attrs[] = {
  COMMON, { FIELD (linear_before_reset), .kind = CLEAVE_ATTR_BOOL }, { 0 },
};
static const CleaveAttr lstm_attrs[] = {
  COMMON, { FIELD (input_forget), .kind = CLEAVE_ATTR_BOOL }, { 0 },
};
/* clang-format on */

static const char *const operands[] = { "X", "W", "R", "B", "sequence_lens", "initial_h", NULL };
static const char *const lstm_operands[] = { "X",         "W",         "R", "B", "sequence_lens",
                                             "initial_h", "initial_c", "P", NULL };
static const char *const results[] = { "Y", "Y_h", NULL };
static const char *const lstm_results[] = { "Y", "Y_h", "Y_c", NULL };

/* Defines a record. A node must have all results, since the kernels store the states in the results
 * from step to step. */
#define RECORD(word, op_name, op_operands, op_results)                                             \
  const CleaveOp cleave_op_##word = {                                                              \
    .name = op_name,                                                                               \
    .operands = op_operands,                                                                       \
    .results = op_results,                                                                         \
    .min_operands = 3,                                                                             \
    .flags = CLEAVE_OP_ALL_RESULTS,                                                                \
    .attrs_size = sizeof (CleaveRecurrentAttrs),                                                   \
    .attrs = word##_attrs,                                                                         \
    .normalize = normalize,                                                                        \
    .infer = infer,                                                                                \
    .maps = maps,                                                                                  \
    .result_maps = result_maps,                                                                    \
    .narrow = narrow,                                                                              \
    .sequence = sequence,                                                                          \
    .macs = macs,                                                                                  \
    .kernel = kernel,                                                                              \
    .compute = cleave_##word##_compute,                                                            \
    .since = since,                                                                                \
  };

RECORD (rnn, "RNN", operands, results)
RECORD (gru, "GRU", operands, results)
RECORD (lstm, "LSTM", lstm_operands, lstm_results)
