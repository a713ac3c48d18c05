/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rotary embedding: pairs of elements turned by the angle of their position. */

#include "rotary.h"

static const CleaveShape *
shape_of (const CleaveOnnxValue *value)
{
  return &cleave_onnx_value_type (value)->shape;
}

gboolean
cleave_onnx_rotary_init (CleaveOnnxNode *node,
                         CleaveOnnxRotary *rotary,
                         guint cos_operand,
                         CleaveOnnxValue *positions,
                         GError **error)
{
  CleaveOnnxValue *caches[] = { cleave_onnx_node_operand (node, cos_operand),
                                cleave_onnx_node_operand (node, cos_operand + 1) };
  CleaveShape shape;

  if (positions == NULL ||
      !cleave_onnx_expect (node, "cos_cache", caches[0],
                           &CLEAVE_SHAPE (CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY), error) ||
      !cleave_onnx_expect (node, "sin_cache", caches[1], shape_of (caches[0]), error))
    return FALSE;
  shape = CLEAVE_SHAPE (shape_of (positions)->dim[0], 1, shape_of (positions)->dim[1],
                        shape_of (caches[0])->dim[1]);
  for (guint i = 0; i < 2; i++)
    {
      caches[i] = CLEAVE_ONNX_STEP ("Gather", i == 0 ? ".cos.rows" : ".sin.rows",
                                    cleave_onnx_attr_new_int ("axis", 0), caches[i], positions);
      caches[i] = cleave_onnx_reshape (node, caches[i], &shape, i == 0 ? ".cos" : ".sin", error);
    }
  rotary->cos = caches[0];
  rotary->sin = caches[1];
  return rotary->cos != NULL && rotary->sin != NULL;
}

/* What is made on the way to one rotation has its name. */
typedef struct
{
  CleaveOnnxNode *node;
  const char *suffix;
  gint64 axis; /* of the two elements of a pair */
} Turn;

static CleaveOnnxValue *
half (const Turn *turn, CleaveOnnxValue *x, gint64 which, GError **error)
{
  gint64 n = x == NULL ? 0 : shape_of (x)->dim[turn->axis] / 2;
  g_autofree char *name = g_strconcat (turn->suffix, which == 0 ? ".re" : ".im", NULL);

  return cleave_onnx_slice (turn->node, x, turn->axis, (CleaveSpan){ which * n, (which + 1) * n },
                            name, error);
}

static CleaveOnnxValue *
binary (const Turn *turn,
        const char *op,
        CleaveOnnxValue *x,
        CleaveOnnxValue *y,
        const char *tail,
        GError **error)
{
  g_autofree char *name = g_strconcat (turn->suffix, tail, NULL);
  CleaveOnnxNode *node = turn->node;

  return CLEAVE_ONNX_STEP (op, name, NULL, x, y);
}

/* `x`, all of which is turned, with a dimension of pairs where these are neighbours. */
static CleaveOnnxValue *
turn_pairs (const Turn *turn,
            CleaveOnnxValue *x,
            CleaveOnnxValue *cos,
            CleaveOnnxValue *sin,
            GError **error)
{
  CleaveOnnxValue *re = half (turn, x, 0, error), *im = half (turn, x, 1, error), *parts[2];
  g_autofree char *name = g_strconcat (turn->suffix, ".pairs", NULL);

  parts[0] = binary (turn, "Sub", binary (turn, "Mul", re, cos, ".re.cos", error),
                     binary (turn, "Mul", im, sin, ".im.sin", error), ".re.turned", error);
  parts[1] = binary (turn, "Add", binary (turn, "Mul", re, sin, ".re.sin", error),
                     binary (turn, "Mul", im, cos, ".im.cos", error), ".im.turned", error);
  return cleave_onnx_join (turn->node, parts, 2, turn->axis, name, error);
}

CleaveOnnxValue *
cleave_onnx_rotate (CleaveOnnxNode *node,
                    const CleaveOnnxRotary *r,
                    CleaveOnnxValue *x,
                    const char *suffix,
                    GError **error)
{
  const CleaveShape is = x == NULL ? (CleaveShape){ 0 } : *shape_of (x);
  const Turn turn = { node, suffix, r->interleaved ? 4 : 3 };
  CleaveShape flat = is, pairs = is, angles = *shape_of (r->cos);
  g_autofree char *first = g_strconcat (suffix, ".first", NULL),
                  *paired = g_strconcat (suffix, ".paired", NULL),
                  *shaped = g_strconcat (suffix, ".flat", NULL),
                  *rest = g_strconcat (suffix, ".rest", NULL);
  CleaveOnnxValue *y;

  if (x == NULL)
    return NULL;
  flat.dim[3] = pairs.dim[3] = 2 * angles.dim[3];
  if (flat.dim[3] > is.dim[3])
    {
      cleave_onnx_node_fail (node, error,
                             "cos_cache must turn no more than the %" G_GINT64_FORMAT
                             " elements of a head, not %" G_GINT64_FORMAT,
                             is.dim[3], flat.dim[3]);
      return NULL;
    }
  if (r->interleaved)
    {
      pairs.rank = angles.rank = 5;
      pairs.dim[3] = angles.dim[3];
      pairs.dim[4] = 2;
      angles.dim[4] = 1;
    }
  y = cleave_onnx_slice (node, x, 3, (CleaveSpan){ 0, flat.dim[3] }, first, error);
  y = cleave_onnx_reshape (node, y, &pairs, paired, error);
  y = turn_pairs (&turn, y, cleave_onnx_reshape (node, r->cos, &angles, ".cos.pairs", error),
                  cleave_onnx_reshape (node, r->sin, &angles, ".sin.pairs", error), error);
  y = cleave_onnx_reshape (node, y, &flat, shaped, error);
  if (flat.dim[3] == is.dim[3])
    return y;
  x = cleave_onnx_slice (node, x, 3, (CleaveSpan){ flat.dim[3], is.dim[3] }, rest, error);
  return cleave_onnx_join (node, (CleaveOnnxValue *[]){ y, x }, 2, 3, suffix, error);
}
