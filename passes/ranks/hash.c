/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the hash of a placement from the printed graph, the bytes of its constants, and the
 * ranks of all nodes except constants. */

#include "placement.h"

#include "../../lib/ir/view.h"

#include <string.h>

static guint64
mix (guint64 hash, guint64 word)
{
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static guint64
mix_bytes (guint64 hash, gconstpointer bytes, gsize n)
{
  const char *data = bytes;
  guint64 word = 0;

  for (; n >= sizeof word; n -= sizeof word, data += sizeof word)
    {
      memcpy (&word, data, sizeof word);
      hash = mix (hash, word);
    }
  word = n;
  memcpy ((char *) &word + 1, data, MIN (n, sizeof word - 1));
  return mix (hash, word);
}

static guint64
mix_constant (guint64 hash, CleaveTensor *value)
{
  CleaveView view = cleave_view_tensor (value);
  g_autoptr (CleaveTensor) dense = cleave_view_is_dense (&view)
                                       ? cleave_tensor_ref (value)
                                       : cleave_tensor_dup_canonical (value);

  return mix_bytes (hash, cleave_tensor_get_data (dense),
                    (gsize) cleave_tensor_type_n_bytes (&view.type));
}

/**
 * cleave_placement_get_hash:
 * @placement: a placement
 *
 * Computes a hash of the graph, its weights and the ranks of its nodes. Processes that run together
 * must have equal hashes. Takes about as long as reading the weights once.
 *
 * Returns: the hash
 *
 * Since: 0.2
 */
guint64
cleave_placement_get_hash (const CleavePlacement *placement)
{
  g_return_val_if_fail (placement != NULL, 0);
  g_autofree char *text = cleave_graph_print (placement->graph);
  guint64 hash = mix_bytes (placement->n_ranks, text, strlen (text));

  for (CleaveNode *node = placement->graph->first; node != NULL; node = node->next)
    {
      CleaveTensor *value = cleave_node_get_constant (node);

      hash = value != NULL ? mix_constant (hash, value) : mix (hash, placement->rank[node->id]);
    }
  return hash;
}
