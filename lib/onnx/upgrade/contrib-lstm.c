/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades DynamicQuantizeLSTM, an LSTM with quantized weights. The LSTM quantizes its other
 * operands at run time: X as a whole, so that a single MatMul computes all products with W, and
 * each hidden state separately. The time steps are unrolled like the iterations of a loop. */

#include "contrib.h"

/* Indices of the operands, in ONNX Runtime's order. */
enum {
  X,
  W, /* [directions, inputs, 4 * hidden]: weights of X, with the gates in the order i o f c */
  R, /* [directions, hidden, 4 * hidden]: weights of the hidden state, with the gates in the order
      * of W */
  B, /* [directions, 8 * hidden]: the bias of W, then the bias of R */
  SEQUENCE_LENS,
  INITIAL_H, /* [directions, batch, hidden]: hidden state; INITIAL_C, the cell state, has the same
              * shape */
  INITIAL_C,
  P,
  W_SCALE, /* [directions] or [directions, 4 * hidden]; each scale is followed by its zero point */
  R_SCALE = 10,
};

static const guint needed[] = { X, W, R, W_SCALE, R_SCALE };

#define N_GATES 4
#define NODES_OF_STEP 17 /* A time step adds this many nodes for each direction. */

typedef struct
{
  CleaveOnnxNode *node;
  gint64 n_steps, batch, hidden;
  gboolean both; /* whether the LSTM runs forward and backward; FALSE: in one direction */
  CleaveOnnxValue *x[CLEAVE_ONNX_N_QUANTIZED];
} Lstm;

typedef struct
{
  CleaveOnnxValue *weights, *scale, *zero_point;
} Bytes;

/* The results of one direction. `h` has the hidden state after each time step. */
typedef struct
{
  GPtrArray *h;
  CleaveOnnxValue *last_h, *last_c;
} Direction;

/* Returns element `d` of `x` along dimension 0. The result does not have that dimension. */
static CleaveOnnxValue *
pick (CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 d, const char *suffix, GError **error)
{
  return CLEAVE_ONNX_STEP ("Gather", suffix, cleave_onnx_attr_new_int ("axis", 0), x,
                           cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_INT64), &d));
}

/* Splits `x` along the axis. Part i has sizes[i] elements along the axis. */
static gboolean
cut (CleaveOnnxNode *node,
     CleaveOnnxValue *x,
     gint64 axis,
     const gint64 *sizes,
     guint n_parts,
     const char *suffix,
     CleaveOnnxValue **parts,
     GError **error)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, "Split", name, n_parts);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n_parts);

  if (x == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (made, 0, x);
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_constant (node, &type, sizes));
  g_ptr_array_add (made->attrs, cleave_onnx_attr_new_int ("axis", axis));
  if (!cleave_onnx_node_make (made, error))
    return FALSE;
  for (guint i = 0; i < n_parts; i++)
    parts[i] = made->values->pdata[i];
  return TRUE;
}

static gboolean
pick_bytes (const Lstm *lstm, guint operand, guint scale, gint64 d, Bytes *bytes, GError **error)
{
  CleaveOnnxNode *node = lstm->node;
  gboolean w = operand == W;
  const struct
  {
    guint operand;
    const char *suffix;
    CleaveOnnxValue **value;
  } parts[] = { { operand, w ? ".w" : ".r", &bytes->weights },
                { scale, w ? ".w.scale" : ".r.scale", &bytes->scale },
                { scale + 1, w ? ".w.zero" : ".r.zero", &bytes->zero_point } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      CleaveOnnxValue *all = cleave_onnx_node_operand (node, parts[i].operand);

      *parts[i].value = all == NULL ? NULL : pick (node, all, d, parts[i].suffix, error);
      if (all != NULL && *parts[i].value == NULL)
        return FALSE;
    }
  return TRUE;
}

static CleaveOnnxValue *
multiply (CleaveOnnxNode *node,
          CleaveOnnxValue *const *quantized,
          const Bytes *bytes,
          const char *suffix,
          GError **error)
{
  CleaveOnnxValue *integers[] = { quantized[0], bytes->weights, quantized[2], bytes->zero_point };

  return cleave_onnx_scaled_product (node, integers, quantized[1], bytes->scale, suffix, error);
}

/* Returns the bias of direction `d`: the sum of the biases of W and R, which are the two halves of
 * B. */
static CleaveOnnxValue *
pick_bias (const Lstm *lstm, gint64 d, GError **error)
{
  CleaveOnnxNode *node = lstm->node;
  CleaveOnnxValue *all = pick (node, cleave_onnx_node_operand (node, B), d, ".b", error), *half[2];
  const gint64 sizes[] = { N_GATES * lstm->hidden, N_GATES * lstm->hidden };

  return cut (node, all, 0, sizes, 2, ".b.halves", half, error)
             ? CLEAVE_ONNX_STEP ("Add", ".bias", NULL, half[0], half[1])
             : NULL;
}

/* Returns the initial state of direction `d` for all batch elements, with the shape [1, batch,
 * hidden]. Returns zeros if the operand is absent. */
static CleaveOnnxValue *
pick_state (const Lstm *lstm, guint operand, gint64 d, GError **error)
{
  CleaveOnnxNode *node = lstm->node;
  CleaveOnnxValue *all = cleave_onnx_node_operand (node, operand), *parts[2];
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, lstm->batch, lstm->hidden);

  if (all == NULL)
    return cleave_onnx_zeros (node, &type, error);
  if (!lstm->both)
    return all;
  return cut (node, all, 0, (const gint64[]){ 1, 1 }, 2, operand == INITIAL_H ? ".h0" : ".c0",
              parts, error)
             ? parts[d]
             : NULL;
}

/* Computes one time step: replaces h and c, the states before the step, by the states after the
 * step. */
static gboolean
step (CleaveOnnxNode *node,
      gint64 hidden,
      CleaveOnnxValue *products, /* products of X and W for this time step */
      const Bytes *r,
      CleaveOnnxValue *bias,
      CleaveOnnxValue **h,
      CleaveOnnxValue **c,
      GError **error)
{
  const gint64 halves[] = { 3 * hidden, hidden }, gates[] = { hidden, hidden, hidden };
  CleaveOnnxValue *quantized[CLEAVE_ONNX_N_QUANTIZED], *parts[2], *gate[3], *y;

  if (!cleave_onnx_quantize_dynamically (node, *h, ".h.bytes", quantized, error))
    return FALSE;
  y = multiply (node, quantized, r, ".hr", error);
  y = CLEAVE_ONNX_STEP ("Add", ".gates", NULL, products, y);
  if (bias != NULL)
    y = CLEAVE_ONNX_STEP ("Add", ".biased", NULL, y, bias);
  if (!cut (node, y, 2, halves, 2, ".parts", parts, error))
    return FALSE;
  parts[0] = CLEAVE_ONNX_STEP ("Sigmoid", ".iof", NULL, parts[0]);
  if (!cut (node, parts[0], 2, gates, 3, ".iof.parts", gate, error))
    return FALSE;
  parts[1] = CLEAVE_ONNX_STEP ("Tanh", ".c.new", NULL, parts[1]);
  y = CLEAVE_ONNX_STEP ("Mul", ".c.input", NULL, gate[0], parts[1]);
  *c = CLEAVE_ONNX_STEP ("Mul", ".c.kept", NULL, gate[2], *c);
  *c = CLEAVE_ONNX_STEP ("Add", ".c", NULL, *c, y);
  y = CLEAVE_ONNX_STEP ("Tanh", ".c.tanh", NULL, *c);
  *h = CLEAVE_ONNX_STEP ("Mul", ".h", NULL, gate[1], y);
  return *h != NULL;
}

static gboolean
run_direction (const Lstm *lstm, gint64 d, gboolean reverse, Direction *direction, GError **error)
{
  CleaveOnnxNode *node = lstm->node;
  g_autofree gint64 *ones = g_new (gint64, (gsize) lstm->n_steps);
  g_autofree CleaveOnnxValue **products = g_new0 (CleaveOnnxValue *, (gsize) lstm->n_steps);
  Bytes w, r;
  CleaveOnnxValue *bias = NULL, *h = pick_state (lstm, INITIAL_H, d, error),
                  *c = h == NULL ? NULL : pick_state (lstm, INITIAL_C, d, error);

  for (gint64 t = 0; t < lstm->n_steps; t++)
    ones[t] = 1;
  if (c == NULL || !pick_bytes (lstm, W, W_SCALE, d, &w, error) ||
      !pick_bytes (lstm, R, R_SCALE, d, &r, error))
    return FALSE;
  if (cleave_onnx_node_operand (node, B) != NULL && (bias = pick_bias (lstm, d, error)) == NULL)
    return FALSE;
  if (!cut (node, multiply (node, lstm->x, &w, ".xw", error), 0, ones, (guint) lstm->n_steps,
            ".xw.steps", products, error))
    return FALSE;
  g_ptr_array_set_size (direction->h, (gint) lstm->n_steps);
  for (gint64 i = 0; i < lstm->n_steps; i++)
    {
      gint64 t = reverse ? lstm->n_steps - 1 - i : i;
      g_autofree char *name =
          g_strdup_printf ("%s.%c%" G_GINT64_FORMAT, node->name, reverse ? 'b' : 'f', t);
      g_autoptr (CleaveOnnxNode) at = cleave_onnx_node_new (node->import, node->op, name, 0);

      if (!step (at, lstm->hidden, products[t], &r, bias, &h, &c, error))
        return FALSE;
      direction->h->pdata[t] = h;
    }
  direction->last_h = h;
  direction->last_c = c;
  return TRUE;
}

/* Makes the results of the node: Y with the shape [time steps, directions, batch, hidden], and Y_h
 * and Y_c with the shape [directions, batch, hidden]. */
static gboolean
give_results (const Lstm *lstm, const Direction *directions, GError **error)
{
  CleaveOnnxNode *node = lstm->node;
  const CleaveShape shape = { .rank = 4, .dim = { lstm->n_steps, 1, lstm->batch, lstm->hidden } };
  const guint n = lstm->both ? 2 : 1;
  CleaveOnnxValue *y[2], *all, *last_h,
      *last_c, *const h[] = { directions[0].last_h, directions[1].last_h },
                      *const c[] = { directions[0].last_c, directions[1].last_c };

  for (guint d = 0; d < n; d++)
    {
      y[d] = cleave_onnx_join (node, (CleaveOnnxValue **) directions[d].h->pdata,
                               directions[d].h->len, 0, ".steps", error);
      y[d] = cleave_onnx_node_reshape (node, y[d], &shape, ".y", error);
    }
  last_h = cleave_onnx_join (node, h, n, 0, ".y_h", error);
  last_c = cleave_onnx_join (node, c, n, 0, ".y_c", error);
  all = cleave_onnx_join (node, y, n, 1, "", error);
  return cleave_onnx_finish_all (node, (CleaveOnnxValue *[]){ all, last_h, last_c }, 3);
}

/* Returns an error message about the first attribute or operand that is not supported; NULL if all
 * are supported. Removes the attributes from the node. */
static const char *
find_unread (CleaveOnnxNode *node)
{
  g_autoptr (CleaveOnnxAttr) activations = cleave_onnx_node_take (node, "activations"),
                             clip = cleave_onnx_node_take (node, "clip");

  if (cleave_onnx_node_operand (node, SEQUENCE_LENS) != NULL)
    return "sequence_lens is not supported";
  if (cleave_onnx_node_operand (node, P) != NULL)
    return "peepholes are not supported";
  if (activations != NULL || clip != NULL)
    return "activations and clip are not supported";
  if (cleave_onnx_node_take_int (node, "input_forget", 0) != 0)
    return "input_forget is not supported";
  return NULL;
}

/* Returns whether an initial state is absent or has the shape [directions, batch, hidden]. Any
 * other shape must be an error here, since the ops that read the state would broadcast it. */
static gboolean
state_fits (const Lstm *lstm, guint operand)
{
  const CleaveShape *shape = cleave_onnx_node_operand_shape (lstm->node, operand);

  return shape == NULL || (shape->rank == 3 && shape->dim[0] == (lstm->both ? 2 : 1) &&
                           shape->dim[1] == lstm->batch && shape->dim[2] == lstm->hidden);
}

gboolean
cleave_onnx_upgrade_dynamic_quantize_lstm (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) direction = cleave_onnx_node_take (node, "direction");
  const char *way = direction == NULL ? "forward" : direction->string, *unread;
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, X),
                    *r = cleave_onnx_node_operand_shape (node, R);
  Lstm lstm = { .node = node, .both = g_strcmp0 (way, "bidirectional") == 0 };
  g_autoptr (GPtrArray) forward = g_ptr_array_new (), backward = g_ptr_array_new ();
  Direction directions[2] = { { .h = forward }, { .h = backward } };

  cleave_onnx_attr_free (cleave_onnx_node_take (node, "hidden_size"));
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (cleave_onnx_node_operand (node, needed[i]) == NULL)
      return cleave_onnx_node_fail (node, error, "operand %u is missing", needed[i]);
  unread = find_unread (node);
  if (unread != NULL)
    return cleave_onnx_node_fail (node, error, "%s", unread);
  if (x == NULL || x->rank != 3 || r == NULL || r->rank != 3 || r->dim[0] != (lstm.both ? 2 : 1) ||
      x->dim[0] < 1 || r->dim[2] != N_GATES * r->dim[1])
    return cleave_onnx_node_fail (node, error,
                                  "X must be [T, N, I], and R [D, H, 4 H] with D by direction");
  lstm.n_steps = x->dim[0];
  lstm.batch = x->dim[1];
  lstm.hidden = r->dim[1];
  if (!state_fits (&lstm, INITIAL_H) || !state_fits (&lstm, INITIAL_C))
    return cleave_onnx_node_fail (node, error, "initial_h and initial_c must be [D, N, H]");
  return cleave_onnx_unroll (
             node, (gsize) MIN (lstm.n_steps, G_MAXINT32) * NODES_OF_STEP * (lstm.both ? 2 : 1),
             error) &&
         cleave_onnx_quantize_dynamically (node, cleave_onnx_node_operand (node, X), ".x.bytes",
                                           lstm.x, error) &&
         run_direction (&lstm, 0, g_strcmp0 (way, "reverse") == 0, &directions[0], error) &&
         (!lstm.both || run_direction (&lstm, 1, TRUE, &directions[1], error)) &&
         give_results (&lstm, directions, error);
}
