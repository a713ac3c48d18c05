/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The indices of a MaxPool that computes a piece.  ONNX counts in what the node reads, we in the
 * whole that this is a part of.
 *
 * With the dimensions in the order in which indices count, the last one fastest, let the piece have
 * the extents e and the strides s, the whole E and S, and let the piece begin at b.  An index f in
 * the piece has in dimension k the coordinate floor (f / s_k) - floor (f / s_(k-1)) * e_k; so in
 * the whole it is
 *
 *   f + sum of b_k * S_k + sum of floor (f / s_(k-1)) * (E_k - e_k) * S_k
 *
 * where the second sum has a term for each dimension that was cut, but none for the outermost. */

#include "export.h"

#include "../../ir/graph-private.h"

typedef struct
{
  CleaveOnnxExport *export;
  const CleaveNode *node;
} Work;

/* The value that the op makes of these; `to` NULL: under a name of its own. */
static const char *
add_op (const Work *work, const char *op, const char *const *operands, guint n, const char *to)
{
  g_autofree char *name = g_strconcat (work->node->name, ".", op, NULL);

  if (to == NULL)
    to = cleave_onnx_name_value (work->export, name);
  cleave_onnx_add_node (work->export, op, name, operands, n, &to, 1);
  return to;
}

static const char *
add_with (const Work *work, const char *op, const char *x, gint64 number, const char *to)
{
  CleaveTensorType scalar = CLEAVE_SCALAR (CLEAVE_INT64);
  const char *operands[] = { x, cleave_onnx_add_small (
                                    work->export, "index",
                                    cleave_tensor_new_copy (&scalar, &number, NULL)) };

  return add_op (work, op, operands, 2, to);
}

/* Whether some window of dimension `i` reads nothing but padding. */
static gboolean
has_empty_window (const CleaveNode *node, guint i)
{
  const CleavePoolAttrs *a = node->attrs;
  gint64 extent = node->operands[0].result->type.shape.dim[2 + i];
  gint64 step = cleave_ints_at (&a->dilations, i, 1);

  for (gint64 o = 0; o < node->results[0].type.shape.dim[2 + i]; o++)
    {
      gint64 at = o * cleave_ints_at (&a->strides, i, 1) - cleave_ints_at (&a->pads, i, 0);
      gint64 tap = at >= 0 ? 0 : (step - 1 - at) / step; /* the first behind the padding */

      if (tap >= a->kernel_shape.v[i] || at + tap * step >= extent)
        return TRUE;
    }
  return FALSE;
}

/* Then its index is -1 here, in the piece as in the whole. */
static gboolean
may_find_none (const CleaveNode *node)
{
  for (guint i = 0; i < node->results[0].type.shape.rank - 2; i++)
    if (has_empty_window (node, i))
      return TRUE;
  return FALSE;
}

void
cleave_onnx_export_indices (CleaveOnnxExport *export,
                            const CleaveNode *node,
                            const char *from,
                            const char *to)
{
  const CleavePoolAttrs *a = node->attrs;
  const CleaveShape *x = &node->operands[0].result->type.shape;
  Work work = { export, node };
  const char *index = from;
  gboolean none = may_find_none (node);
  gint64 begin = 0, own = 1, stride = 1; /* s_k and S_k */

  for (guint i = x->rank; i-- > 0;)
    {
      guint d = a->storage_order == 1 && i >= 2 ? x->rank + 1 - i : i;
      gint64 missing = a->whole.v[d] - x->dim[d];

      begin += cleave_ints_at (&a->begin, d, 0) * stride;
      own *= x->dim[d];
      if (missing > 0 && i > 0)
        {
          const char *outer = add_with (&work, "Div", from, own, NULL);
          const char *terms[] = { index, add_with (&work, "Mul", outer, missing * stride, NULL) };

          index = add_op (&work, "Add", terms, 2, NULL);
        }
      stride *= a->whole.v[d];
    }
  index = add_with (&work, "Add", index, begin, none ? NULL : to);
  if (none)
    add_op (&work, "Where",
            (const char *const[]){ add_with (&work, "Less", from, 0, NULL), from, index }, 3, to);
}
