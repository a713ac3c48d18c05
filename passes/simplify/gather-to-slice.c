/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a Gather by a Slice if its indices are constants and ascend by equal steps.
 * cleave_gather_add_slice() checks the indices and adds the Slice. */

#include "../info.h"

#include "../views/gathers.h"
#include "help.h"

/*   x   [2, 3, 4]        x
 *    \   /               |
 *   Gather       =>    Slice
 *      |                 |
 *
 * Constant indices that ascend by equal steps select a part of the dimension, which a Slice returns
 * as a view. If the indices are not a list, a Reshape follows: a scalar index removes the
 * dimension.
 *
 * Before: a valid graph. After: no Gather has constant indices that ascend by equal steps. */

static gboolean
visit (CleaveNode *node)
{
  guint first_new = node->graph->n_ids;

  return cleave_node_give_way (node, cleave_gather_add_slice (node), first_new);
}

const CleavePassInfo cleave_pass_info_gather_to_slice = {
  .name = "gather-to-slice",
  .summary = "Replaces a Gather of constant indices with equal steps by a Slice.",
  .visit = visit,
};
