/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/memory-format.h"

/* In which order the elements of each value are sent: that in which it is likely to lie on either
 * side, since the whole graph wants it so. */
typedef struct
{
  guint *position, *first_value;
  CleaveMemoryOrder *orders;
} CleaveWireOrders;

void cleave_wire_orders_init (CleaveWireOrders *wire, const CleaveGraph *graph);
void cleave_wire_orders_clear (CleaveWireOrders *wire);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWireOrders, cleave_wire_orders_clear)

/* Letters of the dimensions, to `letters`, if those of C are innermost and all others row-major;
 * else NULL: all are row-major. */
const char *cleave_wire_orders_get_letters (const CleaveWireOrders *wire,
                                            const CleaveResult *value,
                                            char letters[CLEAVE_MAX_RANK + 1]);
