/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../views/forwarding.h"
#include "region.h"

/* Builds the pieces of all nodes of a region, and what they read, beside the nodes themselves. */
void cleave_region_build (CleaveRegion *region, CleaveForwarder *forwarder);
