/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* A search over several nodes at once, for limits on the peak of the whole graph.
 *
 * A level is a number of bytes. At a level, each node is cut into the fewest pieces whose operands
 * (without weights) and results fit into the level. The search begins at the level of the largest
 * node, lowers it by a quarter each time, and splits a copy of the graph at each level to measure
 * it. It tries each level once for each dimension that is cut first, so that consecutive nodes are
 * cut along the same dimension. */
typedef struct _CleaveJoint CleaveJoint;

CleaveJoint *cleave_joint_new (CleaveTrial *trial);
void cleave_joint_free (CleaveJoint *joint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoint, cleave_joint_free)

/* Adds a node to the search. `space` lists the dimensions that the search may cut, and the rules
 * for their chunks. */
void
cleave_joint_add (CleaveJoint *joint, const CleaveSplitRequest *request, const CleaveSpace *space);
/* Sets the ranges of the roots of these nodes to those of the first level that meets the limits. If
 * no level does, the roots stay whole, with the reason. */
void cleave_joint_search (CleaveJoint *joint, GArray *roots);
