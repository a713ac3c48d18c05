/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds a Pad that only pads the spatial dimensions of a convolution's or pooling's operand, and
 * adds its pads to the pads of the convolution or pooling. */

#include "pads.h"

const CleaveNode *
cleave_window_find_pad (const CleaveNode *node, CleaveLayout layout)
{
  const CleaveNode *pad = node->operands[0].result->node;
  guint rank = node->operands[0].result->type.shape.rank;
  CleaveDims dims = cleave_layout_dims (layout, rank);
  const CleavePadAttrs *a = pad->attrs;
  gboolean pads = FALSE;

  if (!cleave_node_is (pad, CLEAVE_KNOWN_PAD) || a->mode != CLEAVE_PAD_CONSTANT ||
      cleave_shape_n_elements (&pad->operands[0].result->type.shape) == 0)
    return NULL;
  for (guint i = 0; i < 2 * rank; i++)
    {
      guint d = i % rank;
      gboolean is_spatial = d >= dims.h && d < dims.h + dims.n_spatial;

      if (a->pads.v[i] < 0 || (a->pads.v[i] > 0 && !is_spatial))
        return NULL;
      pads = pads || a->pads.v[i] > 0;
    }
  return pads ? pad : NULL; /* a Pad that adds nothing is left to fold-views */
}

/* Adds the pads of `pad` to `pads`, and replaces `node` by a node that reads the operand of
 * `pad`. Returns FALSE if a pad would be at least as long as the window. Such a window could lie
 * completely in the padding, which is legal in Cleave, but not in every runtime. */
gboolean
cleave_window_take_pad (CleaveNode *node,
                        const CleaveNode *pad,
                        CleaveLayout layout,
                        const gint64 *kernel,
                        gpointer attrs,
                        CleaveInts *pads)
{
  g_autofree CleaveResult **operands = g_new (CleaveResult *, node->n_operands);
  const CleavePadAttrs *a = pad->attrs;
  guint rank = a->pads.n / 2;
  CleaveDims dims = cleave_layout_dims (layout, rank);

  for (guint i = 0; i < 2 * dims.n_spatial; i++)
    {
      guint side = i / dims.n_spatial, d = dims.h + i % dims.n_spatial;

      pads->v[i] = (pads->n == 0 ? 0 : pads->v[i]) + a->pads.v[side * rank + d];
      if (pads->v[i] >= kernel[i % dims.n_spatial])
        return FALSE;
    }
  pads->n = 2 * dims.n_spatial;
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = i == 0 ? pad->operands[0].result : node->operands[i].result;
  return cleave_node_replace (node, operands, attrs);
}
