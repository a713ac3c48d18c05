/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Constants of which a rank is to have its own copy, as a set of CleaveNode: they are parts of
 * larger ones, of which the rank does not read all.  Else its kernels, which arrange weights once
 * for all pieces of a node, would have those of the other ranks as well. */
GHashTable *cleave_own_weights_find (const CleavePlacement *p, guint rank);
/* Adds the copy to a graph.  NULL: there is no memory for one. */
CleaveNode *cleave_own_weights_add (CleaveGraph *graph, CleaveNode *constant);
