/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* A search for several nodes at once, where the graph that comes of it is to meet something.  A
 * level is a number of bytes: each node is cut into the fewest pieces of which none reads and makes
 * more.  Levels are tried on the graph from the largest value down, each of them once for each
 * dimension to be cut first, so that nodes that follow each other are cut alike. */
typedef struct _CleaveJoint CleaveJoint;

CleaveJoint *cleave_joint_new (CleaveTrial *trial);
void cleave_joint_free (CleaveJoint *joint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoint, cleave_joint_free)

/* A node that may be cut inside a space. */
void
cleave_joint_add (CleaveJoint *joint, const CleaveSplitRequest *request, const CleaveSpace *space);
/* Cuts the roots of these nodes as the first level that meets the limits does; if none does, they
 * stay whole and say why. */
void cleave_joint_search (CleaveJoint *joint, GArray *roots);
