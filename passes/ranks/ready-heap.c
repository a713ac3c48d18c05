/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the heap in an array. The entry with the smallest key comes first; among equal
 * keys, the entry with the smallest position. */

#include "ready-heap.h"

static gboolean
is_before (const CleaveReady *a, const CleaveReady *b)
{
  return a->key < b->key || (a->key <= b->key && a->position < b->position);
}

void
cleave_ready_push (GArray *heap, double key, guint position)
{
  CleaveReady entry = { key, position };
  guint i = heap->len;

  g_array_append_val (heap, entry);
  for (; i > 0 && is_before (&entry, &g_array_index (heap, CleaveReady, (i - 1) / 2));
       i = (i - 1) / 2)
    g_array_index (heap, CleaveReady, i) = g_array_index (heap, CleaveReady, (i - 1) / 2);
  g_array_index (heap, CleaveReady, i) = entry;
}

CleaveReady
cleave_ready_pop (GArray *heap)
{
  CleaveReady top = g_array_index (heap, CleaveReady, 0);
  CleaveReady last = g_array_index (heap, CleaveReady, heap->len - 1);
  guint i = 0, n = heap->len - 1;

  g_array_set_size (heap, n);
  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      if (child + 1 < n && is_before (&g_array_index (heap, CleaveReady, child + 1),
                                      &g_array_index (heap, CleaveReady, child)))
        child++;
      if (!is_before (&g_array_index (heap, CleaveReady, child), &last))
        break;
      g_array_index (heap, CleaveReady, i) = g_array_index (heap, CleaveReady, child);
      i = child;
    }
  if (n > 0)
    g_array_index (heap, CleaveReady, i) = last;
  return top;
}
