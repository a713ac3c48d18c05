/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sorts the uses of a result by reader and operand (uses.h). */

#include "uses.h"

#include <stdlib.h>

static int
compare_uses (gconstpointer a, gconstpointer b)
{
  const CleaveOperand *x = *(CleaveOperand *const *) a, *y = *(CleaveOperand *const *) b;

  return x->node != y->node ? (x->node->id > y->node->id) - (x->node->id < y->node->id)
                            : (x->index > y->index) - (x->index < y->index);
}

void
cleave_uses_list (GPtrArray *uses, const CleaveResult *result)
{
  gboolean is_sorted = TRUE;

  g_ptr_array_set_size (uses, 0);
  for (CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL)
      {
        is_sorted &= uses->len == 0 || compare_uses (&uses->pdata[uses->len - 1], &use) < 0;
        g_ptr_array_add (uses, use);
      }
  if (!is_sorted)
    qsort (uses->pdata, uses->len, sizeof (gpointer), compare_uses);
}
