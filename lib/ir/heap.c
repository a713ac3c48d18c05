/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A binary heap: pushes, reads and pops the smallest number. */

#include "heap.h"

void
cleave_heap_push (GArray *heap, guint number)
{
  guint *v, i = heap->len;

  g_array_append_val (heap, number);
  v = (guint *) (gpointer) heap->data;
  for (; i > 0 && v[(i - 1) / 2] > number; i = (i - 1) / 2)
    v[i] = v[(i - 1) / 2];
  v[i] = number;
}

guint
cleave_heap_top (const GArray *heap)
{
  return heap->len == 0 ? G_MAXUINT : g_array_index (heap, guint, 0);
}

guint
cleave_heap_pop (GArray *heap)
{
  guint *v = (guint *) (gpointer) heap->data, n = heap->len - 1;
  guint top = v[0], last = v[n], i = 0;

  for (guint child = 1; child < n; child = 2 * i + 1)
    {
      if (child + 1 < n && v[child + 1] < v[child])
        child++;
      if (v[child] >= last)
        break;
      v[i] = v[child];
      i = child;
    }
  v[i] = last;
  g_array_set_size (heap, n);
  return top;
}
