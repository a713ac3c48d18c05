/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "buffers.h"

const CleaveRange *
cleave_storage_join_ranges (const CleaveStorage *storage, const CleaveNode *join)
{
  CleaveRange **ranges = &storage->ranges[cleave_storage_position (storage, join)];

  if (*ranges == NULL)
    {
      *ranges = cleave_pool_alloc (storage->parts, (join->n_operands + 1) * sizeof **ranges);
      cleave_join_get_ranges (join, *ranges);
    }
  return *ranges;
}
