/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* What is worth making later, or again, is so many times as large as what it is made of, or ends so
 * what is. */
#define CLEAVE_FIT_MUCH_LARGER 3

gboolean cleave_fit_can_copy (const CleaveNode *node);
/* Adds the nodes (CleaveNode) that make a value of some that are much smaller than so many bytes.
 * FALSE: there are too many, or some cannot be copied. */
gboolean cleave_fit_cone_add (GPtrArray *cone, const CleaveResult *value, gint64 n_bytes);
