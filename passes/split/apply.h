/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Builds what a region's plan says, and removes what that left without users.  Cannot fail.  After
 * it, the values of a node of the region are those of its pieces; NULL where a piece is gone, since
 * nothing came to need it. */
void cleave_region_apply (CleaveRegion *region);
/* A result takes the name of another one. */
void cleave_take_result_name (CleaveResult *whole, CleaveResult *from);
