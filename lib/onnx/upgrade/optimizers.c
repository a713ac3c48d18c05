/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adagrad, Adam and Momentum, made of other ops as ONNX defines them in its domain for training:
 * each X with its gradient G and what is remembered of it becomes a new X and what is to be
 * remembered. */

#include "../import/import.h"

#include <string.h>

/* Operands come one after the other: R, T, all X, all G, and so on. */
typedef struct
{
  CleaveOnnxNode *node;
  CleaveOnnxValue *rate, *time; /* of the type of X */
  CleaveOnnxValue *x, *g, *v, *h;
  CleaveElement element;
  const char *mode; /* of Momentum */
  double alpha, beta, decay, epsilon, norm, norm_post;
} Update;

#define STEP(op, ...)                                                                              \
  cleave_onnx_step (u->node, op, "." op, (CleaveOnnxValue *[]){ __VA_ARGS__ },                     \
                    sizeof ((CleaveOnnxValue *[]){ __VA_ARGS__ }) / sizeof (CleaveOnnxValue *),    \
                    NULL, error)

static CleaveOnnxValue *
number (const Update *u, double value)
{
  return cleave_onnx_real (u->node, u->element, value);
}

static CleaveOnnxValue *
times (const Update *u, CleaveOnnxValue *value, double factor, GError **error)
{
  return STEP ("Mul", value, number (u, factor));
}

/* a * x + b * y */
static CleaveOnnxValue *
blend (const Update *u, double a, CleaveOnnxValue *x, double b, CleaveOnnxValue *y, GError **error)
{
  CleaveOnnxValue *one = times (u, x, a, error);
  CleaveOnnxValue *other = one == NULL ? NULL : times (u, y, b, error);

  return STEP ("Add", one, other);
}

static CleaveOnnxValue *
regularise (const Update *u, GError **error)
{
  CleaveOnnxValue *scaled = times (u, u->x, u->norm, error);

  return STEP ("Add", scaled, u->g);
}

/* `later` once some time has passed, `first` at the beginning. */
static CleaveOnnxValue *
by_time (const Update *u, CleaveOnnxValue *later, CleaveOnnxValue *first, GError **error)
{
  CleaveOnnxValue *begun = STEP ("Greater", u->time, number (u, 0));

  return begun == NULL ? NULL : STEP ("Where", begun, later, first);
}

/* x - rate * change */
static CleaveOnnxValue *
move (const Update *u, CleaveOnnxValue *rate, CleaveOnnxValue *change, GError **error)
{
  CleaveOnnxValue *by = change == NULL ? NULL : STEP ("Mul", rate, change);

  return STEP ("Sub", u->x, by);
}

/* g / (sqrt (h) + epsilon) */
static CleaveOnnxValue *
by_root (const Update *u, CleaveOnnxValue *g, CleaveOnnxValue *h, GError **error)
{
  CleaveOnnxValue *root = STEP ("Sqrt", h);
  CleaveOnnxValue *divisor = root == NULL ? NULL : STEP ("Add", root, number (u, u->epsilon));

  return divisor == NULL ? NULL : STEP ("Div", g, divisor);
}

static gboolean
adagrad (const Update *u, CleaveOnnxValue **results, GError **error)
{
  CleaveOnnxValue *decay = times (u, u->time, u->decay, error);
  CleaveOnnxValue *slower = STEP ("Add", decay, number (u, 1));
  CleaveOnnxValue *rate = slower == NULL ? NULL : STEP ("Div", u->rate, slower);
  CleaveOnnxValue *g = rate == NULL ? NULL : regularise (u, error);
  CleaveOnnxValue *square = g == NULL ? NULL : STEP ("Mul", g, g);

  results[1] = square == NULL ? NULL : STEP ("Add", u->h, square);
  if (results[1] != NULL)
    results[0] = move (u, rate, by_root (u, g, results[1], error), error);
  return results[0] != NULL;
}

/* 1 - base ^ time */
static CleaveOnnxValue *
rest_of_power (const Update *u, double base, GError **error)
{
  CleaveOnnxValue *power = STEP ("Pow", number (u, base), u->time);

  return power == NULL ? NULL : STEP ("Sub", number (u, 1), power);
}

static CleaveOnnxValue *
adam_rate (const Update *u, GError **error)
{
  CleaveOnnxValue *beta = rest_of_power (u, u->beta, error);
  CleaveOnnxValue *root = beta == NULL ? NULL : STEP ("Sqrt", beta);
  CleaveOnnxValue *scaled = root == NULL ? NULL : STEP ("Mul", u->rate, root);
  CleaveOnnxValue *alpha = scaled == NULL ? NULL : rest_of_power (u, u->alpha, error);
  CleaveOnnxValue *later = alpha == NULL ? NULL : STEP ("Div", scaled, alpha);

  return later == NULL ? NULL : by_time (u, later, u->rate, error);
}

static gboolean
adam (const Update *u, CleaveOnnxValue **results, GError **error)
{
  CleaveOnnxValue *rate = adam_rate (u, error);
  CleaveOnnxValue *g = rate == NULL ? NULL : regularise (u, error);
  CleaveOnnxValue *square = g == NULL ? NULL : STEP ("Mul", g, g);
  CleaveOnnxValue *moved;

  if (square == NULL)
    return FALSE;
  results[1] = blend (u, u->alpha, u->v, 1 - u->alpha, g, error);
  if (results[1] != NULL)
    results[2] = blend (u, u->beta, u->h, 1 - u->beta, square, error);
  if (results[2] == NULL)
    return FALSE;
  moved = move (u, rate, by_root (u, results[1], results[2], error), error);
  results[0] =
      moved == NULL || u->norm_post == 0 ? moved : times (u, moved, 1 - u->norm_post, error);
  return results[0] != NULL;
}

static gboolean
momentum (const Update *u, CleaveOnnxValue **results, GError **error)
{
  CleaveOnnxValue *g = regularise (u, error);
  CleaveOnnxValue *beta = g == NULL ? NULL : by_time (u, number (u, u->beta), number (u, 1), error);
  CleaveOnnxValue *added = beta == NULL ? NULL : STEP ("Mul", beta, g);
  CleaveOnnxValue *kept = added == NULL ? NULL : times (u, u->v, u->alpha, error);

  results[1] = kept == NULL ? NULL : STEP ("Add", kept, added);
  if (results[1] != NULL)
    results[0] =
        move (u, u->rate,
              strcmp (u->mode, "nesterov") == 0 ? blend (u, 1, g, u->alpha, results[1], error)
                                                : results[1],
              error);
  return results[0] != NULL;
}

/* What each op is given for every X, beside X and G, in this order; it makes as many results. */
static const struct
{
  const char *op;
  guint n_kept;
  gboolean (*update) (const Update *u, CleaveOnnxValue **results, GError **error);
  double alpha, beta, epsilon;
} optimizers[] = {
  { "Adagrad", 1, adagrad, 0, 0, 1e-6 },
  { "Adam", 2, adam, 0.9, 0.999, 1e-2 },
  { "Momentum", 1, momentum, 0, 0, 0 },
};

static guint
find_optimizer (const char *op)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (optimizers) && strcmp (optimizers[i].op, op) != 0)
    i++;
  return i;
}

gboolean
cleave_onnx_is_optimizer (const char *op)
{
  return find_optimizer (op) < G_N_ELEMENTS (optimizers);
}

static double
take_number (CleaveOnnxNode *node, const char *name, double fallback)
{
  g_autoptr (CleaveOnnxAttr) attr = cleave_onnx_node_take (node, name);

  return attr == NULL || attr->floats == NULL || attr->floats->len != 1
             ? fallback
             : g_array_index (attr->floats, double, 0);
}

static gboolean
read_attrs (Update *u, guint kind, const CleaveOnnxAttr *mode, GError **error)
{
  CleaveOnnxNode *node = u->node;

  u->alpha = take_number (node, "alpha", optimizers[kind].alpha);
  u->beta = take_number (node, "beta", optimizers[kind].beta);
  u->decay = take_number (node, "decay_factor", 0);
  u->epsilon = take_number (node, "epsilon", optimizers[kind].epsilon);
  u->norm = take_number (node, "norm_coefficient", 0);
  u->norm_post = take_number (node, "norm_coefficient_post", 0);
  u->mode = mode == NULL || mode->string == NULL ? "standard" : mode->string;
  if (strcmp (u->mode, "standard") != 0 && strcmp (u->mode, "nesterov") != 0)
    return cleave_onnx_node_fail (node, error, "its mode is neither standard nor nesterov");
  return cleave_onnx_node_check_no_attrs (node, error);
}

/* A scalar, in the type of X. */
static CleaveOnnxValue *
read_scalar (const Update *u, guint operand, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (u->node, operand);
  CleaveOnnxAttr *to;

  if (cleave_onnx_value_type (value)->element == u->element)
    return value;
  to = cleave_onnx_attr_new_int ("to", cleave_onnx_element_number (u->element));
  return cleave_onnx_step (u->node, "Cast", operand == 0 ? ".R" : ".T", &value, 1, to, error);
}

/* What belongs to the index-th of n X. */
static gboolean
read_update (Update *u, guint index, guint n, guint n_kept, GError **error)
{
  CleaveOnnxValue *found[4] = { NULL };
  const CleaveTensorType *x;

  for (guint i = 0; i < 2 + n_kept; i++)
    found[i] = cleave_onnx_node_operand (u->node, 2 + i * n + index);
  x = cleave_onnx_value_type (found[0]);
  for (guint i = 1; i < 2 + n_kept; i++)
    if (!cleave_tensor_type_equal (x, cleave_onnx_value_type (found[i])))
      return cleave_onnx_node_fail (u->node, error, "operands %u and %u have different types",
                                    2 + index, 2 + i * n + index);
  u->x = found[0];
  u->g = found[1];
  u->v = u->h = found[2];
  if (n_kept == 2)
    u->h = found[3];
  u->element = x->element;
  if (u->element != CLEAVE_FLOAT32 && u->element != CLEAVE_FLOAT64)
    return cleave_onnx_node_fail (u->node, error, "it is for float32 and float64 only");
  u->rate = read_scalar (u, 0, error);
  u->time = u->rate == NULL ? NULL : read_scalar (u, 1, error);
  return u->time != NULL;
}

/* How many X there are; 0 and the error if the operands do not come out even. */
static guint
count_updates (const CleaveOnnxNode *node, guint n_kept, GError **error)
{
  guint n = node->operands->len < 2 ? 0 : (node->operands->len - 2) / (2 + n_kept);

  for (guint i = 0; i < node->operands->len; i++)
    if (node->operands->pdata[i] == NULL)
      n = 0;
  if (n > 0 && node->operands->len == 2 + n * (2 + n_kept) && node->n_results <= n * (1 + n_kept))
    return n;
  cleave_onnx_node_fail (node, error, "it has %u operands and %u results", node->operands->len,
                         node->n_results);
  return 0;
}

gboolean
cleave_onnx_upgrade_optimizer (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) mode = cleave_onnx_node_take (node, "mode");
  guint kind = find_optimizer (node->op), n_kept = optimizers[kind].n_kept;
  guint n = count_updates (node, n_kept, error);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Update u = { .node = node };

  if (n == 0 || !read_attrs (&u, kind, mode, error))
    return FALSE;
  g_ptr_array_set_size (values, (int) (n * (1 + n_kept)));
  for (guint i = 0; i < n; i++)
    {
      CleaveOnnxValue *results[3] = { NULL };

      if (!read_update (&u, i, n, n_kept, error) || !optimizers[kind].update (&u, results, error))
        return FALSE;
      for (guint k = 0; k <= n_kept; k++)
        values->pdata[k * n + i] = results[k];
    }
  node->values = g_steal_pointer (&values);
  return TRUE;
}
