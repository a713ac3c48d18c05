/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/memory-format.h"

/* The order in which the elements of a value are sent to another rank. build.c gives this order to
 * the nodes that send and receive. */

/* Memory order of each value in the whole graph. A rank sends the elements of a value in the memory
 * order of the value, since sender and receiver probably store the value in this order. */
typedef struct
{
  guint *position, *first_value;
  CleaveMemoryOrder *orders;
} CleaveWireOrders;

void cleave_wire_orders_init (CleaveWireOrders *wire, const CleaveGraph *graph);
void cleave_wire_orders_clear (CleaveWireOrders *wire);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWireOrders, cleave_wire_orders_clear)

/* Returns `letters`, filled with one letter for each dimension (such as XCXX), if dimension C is
 * innermost in memory and all other dimensions are row-major. Returns NULL for any other memory
 * order. */
const char *cleave_wire_orders_get_letters (const CleaveWireOrders *wire,
                                            const CleaveResult *value,
                                            char letters[CLEAVE_MAX_RANK + 1]);
