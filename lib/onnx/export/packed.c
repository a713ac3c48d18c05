/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the constants that the graph has as bytes and the file stores with 4 bits per element.
 *
 *     weights (uint8, all below 16) ─► DequantizeLinear ◄─ zero points (uint8, all below 16)
 *
 * In ONNX, few ops besides DequantizeLinear read elements of 4 bits. So a constant qualifies if all
 * its readers are DequantizeLinear. The weights and the zero points of one DequantizeLinear must
 * have one type, so the file stores both with 4 bits, or neither. */

#include "export.h"

#include "../../ir/defaults.h"
#include "../../ir/deferred-tensor.h"

/* Indices of the operands of DequantizeLinear. */
enum { X, SCALE, ZERO };

/* Returns the constant that an operand reads if all its elements fit 4 bits. Returns NULL if an
 * element does not fit, or if the constant is in `bad`, the set of constants that cannot be
 * packed. */
static CleaveTensor *
find_small (const CleaveNode *node, guint operand, GHashTable *bad)
{
  const CleaveResult *value = operand < node->n_operands ? node->operands[operand].result : NULL;
  CleaveTensor *tensor = value == NULL ? NULL : cleave_node_get_constant (value->node);

  return tensor == NULL || cleave_tensor_get_bits (tensor) == CLEAVE_BITS_8 ||
                 g_hash_table_contains (bad, tensor)
             ? NULL
             : tensor;
}

/* Returns whether the weights and the zero points of a DequantizeLinear can both have 4 bits.
 * `bad`: the constants that the file must store with 8 bits per element. */
static gboolean
reads_packed (const CleaveNode *node, GHashTable *bad)
{
  CleaveTensor *x = find_small (node, X, bad), *zero = find_small (node, ZERO, bad);

  if (node->op != cleave_op_lookup ("DequantizeLinear") || x == NULL)
    return FALSE;
  return node->n_operands <= ZERO || node->operands[ZERO].result == NULL ||
         (zero != NULL && cleave_tensor_get_bits (zero) == cleave_tensor_get_bits (x));
}

/* Adds to `bad` each constant that the file must store with 8 bits per element because of one of
 * its readers. Returns whether the set has grown. */
static gboolean
exclude (const CleaveGraph *graph, GHashTable *bad)
{
  gboolean changed = FALSE;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_operands; i++)
      {
        CleaveTensor *tensor = find_small (node, i, bad);

        if (tensor != NULL && (i == SCALE || i > ZERO || !reads_packed (node, bad)))
          changed = g_hash_table_add (bad, tensor) || changed;
      }
  return changed;
}

/* Adds constants to `bad`, the set of the constants that must keep 8 bits per element. Adds each
 * constant that is an output of the graph, and each tensor that a constant of the graph is a slice
 * of. */
static void
exclude_shared (const CleaveGraph *graph, GHashTable *bad)
{
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveResult *value = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      if (cleave_node_get_constant (value->node) != NULL)
        g_hash_table_add (bad, cleave_node_get_constant (value->node));
    }
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);
      CleaveTensor *base = tensor == NULL ? NULL : cleave_tensor_get_base (tensor, NULL);

      if (base != tensor)
        g_hash_table_add (bad, base);
    }
}

GHashTable *
cleave_onnx_find_packed (const CleaveGraph *graph)
{
  g_autoptr (GHashTable) bad = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) packed = g_hash_table_new (NULL, NULL);

  exclude_shared (graph, bad);
  while (exclude (graph, bad))
    ;
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);

      if (tensor != NULL && node->results[0].n_uses > 0 &&
          cleave_tensor_get_bits (tensor) != CLEAVE_BITS_8 &&
          !g_hash_table_contains (bad, tensor) && cleave_graph_find_default (graph, tensor) == NULL)
        g_hash_table_add (packed, tensor);
    }
  return g_hash_table_size (packed) > 0 ? g_steal_pointer (&packed) : NULL;
}
