/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds the nodes of a rotary embedding. A rotary embedding rotates each pair of elements of a head
 * by an angle that depends on the position. */

#include "rotary.h"
#include "attend.h"

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
      !cleave_onnx_expect (node, "sin_cache", caches[1], cleave_onnx_value_shape (caches[0]),
                           error))
    return FALSE;
  shape = CLEAVE_SHAPE (cleave_onnx_value_shape (positions)->dim[0], 1,
                        cleave_onnx_value_shape (positions)->dim[1],
                        cleave_onnx_value_shape (caches[0])->dim[1]);
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

/* The rotation of the pairs of one value. The name of each added node consists of the name of
 * `node`, `suffix`, and a word for the added node. Example: "attention.turned.pairs". */
typedef struct
{
  CleaveOnnxNode *node;
  const char *suffix;
  gint64 axis; /* dimension in which the two elements of a pair differ */
} Rotation;

static CleaveOnnxValue *
half (const Rotation *rotation, CleaveOnnxValue *x, gint64 which, GError **error)
{
  gint64 n = x == NULL ? 0 : cleave_onnx_value_shape (x)->dim[rotation->axis] / 2;
  g_autofree char *name = g_strconcat (rotation->suffix, which == 0 ? ".re" : ".im", NULL);

  return cleave_onnx_slice (rotation->node, x, rotation->axis,
                            (CleaveSpan){ which * n, (which + 1) * n }, name, error);
}

static CleaveOnnxValue *
binary (const Rotation *rotation,
        const char *op,
        CleaveOnnxValue *x,
        CleaveOnnxValue *y,
        const char *tail,
        GError **error)
{
  g_autofree char *name = g_strconcat (rotation->suffix, tail, NULL);
  CleaveOnnxNode *node = rotation->node;

  return CLEAVE_ONNX_STEP (op, name, NULL, x, y);
}

/* Rotates all pairs of elements of `x`, and returns the result. Along `rotation->axis`, the first
 * half of `x` has the first elements of all pairs, and the second half has the second elements. */
static CleaveOnnxValue *
rotate_pairs (const Rotation *rotation,
              CleaveOnnxValue *x,
              CleaveOnnxValue *cos,
              CleaveOnnxValue *sin,
              GError **error)
{
  CleaveOnnxValue *re = half (rotation, x, 0, error), *im = half (rotation, x, 1, error), *parts[2],
                  *y;
  g_autofree char *name = g_strconcat (rotation->suffix, ".pairs", NULL);

  parts[0] = binary (rotation, "Mul", re, cos, ".re.cos", error);
  y = binary (rotation, "Mul", im, sin, ".im.sin", error);
  parts[0] = binary (rotation, "Sub", parts[0], y, ".re.turned", error);
  parts[1] = binary (rotation, "Mul", re, sin, ".re.sin", error);
  y = binary (rotation, "Mul", im, cos, ".im.cos", error);
  parts[1] = binary (rotation, "Add", parts[1], y, ".im.turned", error);
  return cleave_onnx_join (rotation->node, parts, 2, rotation->axis, name, error);
}

CleaveOnnxValue *
cleave_onnx_rotate (CleaveOnnxNode *node,
                    const CleaveOnnxRotary *r,
                    CleaveOnnxValue *x,
                    const char *suffix,
                    GError **error)
{
  const Rotation rotation = { node, suffix, r->interleaved ? 4 : 3 };
  CleaveShape is, flat, pairs, angles = *cleave_onnx_value_shape (r->cos);
  g_autofree char *first = g_strconcat (suffix, ".first", NULL),
                  *paired = g_strconcat (suffix, ".paired", NULL),
                  *shaped = g_strconcat (suffix, ".flat", NULL),
                  *rest = g_strconcat (suffix, ".rest", NULL);
  CleaveOnnxValue *y;

  if (x == NULL)
    return NULL;
  is = flat = pairs = *cleave_onnx_value_shape (x);
  flat.dim[3] = pairs.dim[3] = 2 * angles.dim[3];
  if (flat.dim[3] > is.dim[3])
    return cleave_onnx_node_fail_null (node, error,
                                       "cos_cache must rotate at most the %" G_GINT64_FORMAT
                                       " elements of a head, not %" G_GINT64_FORMAT,
                                       is.dim[3], flat.dim[3]);
  if (r->interleaved)
    {
      pairs.rank = angles.rank = 5;
      pairs.dim[3] = angles.dim[3];
      pairs.dim[4] = 2;
      angles.dim[4] = 1;
    }
  y = cleave_onnx_slice (node, x, 3, (CleaveSpan){ 0, flat.dim[3] }, first, error);
  y = cleave_onnx_reshape (node, y, &pairs, paired, error);
  y = rotate_pairs (&rotation, y, cleave_onnx_reshape (node, r->cos, &angles, ".cos.pairs", error),
                    cleave_onnx_reshape (node, r->sin, &angles, ".sin.pairs", error), error);
  y = cleave_onnx_reshape (node, y, &flat, shaped, error);
  if (flat.dim[3] == is.dim[3])
    return y;
  x = cleave_onnx_slice (node, x, 3, (CleaveSpan){ flat.dim[3], is.dim[3] }, rest, error);
  return cleave_onnx_join (node, (CleaveOnnxValue *[]){ y, x }, 2, 3, suffix, error);
}

CleaveOnnxValue *
cleave_onnx_rotary_positions (
    CleaveOnnxNode *node, CleaveOnnxValue *ids, gint64 n_batch, gint64 n, GError **error)
{
  CleaveOnnxValue *steps;

  ids = cleave_onnx_cast (node, ids, CLEAVE_INT64, ".positions.int64", error);
  if (ids != NULL && cleave_onnx_value_shape (ids)->rank < 2 &&
      cleave_shape_n_elements (cleave_onnx_value_shape (ids)) == 1)
    {
      steps = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, n), error);
      return CLEAVE_ONNX_STEP ("Add", ".positions", NULL, steps, ids);
    }
  return cleave_onnx_expect (node, "position_ids", ids, &CLEAVE_SHAPE (n_batch, n), error) ? ids
                                                                                           : NULL;
}

gboolean
cleave_onnx_upgrade_rotary_embedding (CleaveOnnxNode *node, GError **error)
{
  gint64 n_turned = cleave_onnx_node_take_int (node, "rotary_embedding_dim", 0),
         n_heads = cleave_onnx_node_take_int (node, "num_heads", 0);
  CleaveOnnxRotary rotary = { .interleaved =
                                  cleave_onnx_node_take_int (node, "interleaved", 0) != 0 };
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *y = x;
  const CleaveShape *cache = cleave_onnx_node_operand_shape (node, 2);
  CleaveShape is;

  cleave_onnx_node_take_real (node, "scale", 1); /* ignored: the CPU kernel of ONNX Runtime does
                                                  * not read this attribute */
  if (!cleave_onnx_take_only (node, "is_packed_batching", 0, error) ||
      !cleave_onnx_node_check_no_attrs (node, error) || !cleave_onnx_node_need (node, 4, error))
    return FALSE;
  is = *cleave_onnx_value_shape (x);
  if (is.rank != 3 && is.rank != 4)
    return cleave_onnx_node_fail (node, error, "input must have rank 3 or 4, not %u", is.rank);
  if (n_heads == 0 && n_turned == 0 && cache->rank == 2 && cache->dim[1] > 0)
    n_heads = is.dim[2] / (2 * cache->dim[1]);
  if (is.rank == 3 && (n_heads < 1 || is.dim[2] % n_heads != 0))
    return cleave_onnx_node_fail (
        node, error, "num_heads must divide %" G_GINT64_FORMAT ", but is %" G_GINT64_FORMAT,
        is.dim[2], n_heads);
  if (!cleave_onnx_rotary_init (
          node, &rotary, 2,
          cleave_onnx_rotary_positions (node, cleave_onnx_node_operand (node, 1), is.dim[0],
                                        is.dim[is.rank - 2], error),
          error))
    return FALSE;
  if (is.rank == 3)
    y = cleave_onnx_split_heads (node, x, n_heads, ".heads", error);
  y = cleave_onnx_rotate (node, &rotary, y, ".turned", error);
  if (is.rank == 3)
    y = cleave_onnx_permute (node, y, &CLEAVE_SHAPE (0, 2, 1, 3), ".heads.turned", error);
  return cleave_onnx_finish (node, cleave_onnx_reshape (node, y, &is, "", error));
}
