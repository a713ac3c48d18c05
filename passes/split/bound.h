/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* Fewer bytes a graph cannot need that is split from `roots` on, `depth` nodes deep: the nodes
 * that no such split reaches take what they take.  `which` is told which of them takes most, for
 * what; NULL: there is none. */
gint64 cleave_bound_find (CleaveNode *const *roots, guint n_roots, guint depth, char **which);
