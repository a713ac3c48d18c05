/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/memory-format.h"

/* The order in which the elements of a value are sent to another rank. */

/* Memory order of each value in the whole graph. Values are sent in this order, since sender and
 * receiver probably store them in it. */
typedef struct
{
  guint *position, *first_value;
  CleaveMemoryOrder *orders;
} CleaveWireOrders;

void cleave_wire_orders_init (CleaveWireOrders *wire, const CleaveGraph *graph);
void cleave_wire_orders_clear (CleaveWireOrders *wire);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWireOrders, cleave_wire_orders_clear)

/* Returns the letters of the dimensions, written to `letters`, if the elements of dimension C are
 * innermost and all other dimensions are row-major. Returns NULL if all dimensions are
 * row-major. */
const char *cleave_wire_orders_get_letters (const CleaveWireOrders *wire,
                                            const CleaveResult *value,
                                            char letters[CLEAVE_MAX_RANK + 1]);
