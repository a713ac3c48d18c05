/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Makes the chunks of a root strips, which follow each other along the outermost dimension that is
 * cut, so many to a band.  Where no number is given or bands exchange halos, all are one band. */
void cleave_strips_add (CleaveRegion *region, const CleaveRoot *root);
