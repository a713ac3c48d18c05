/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measure.h"
#include "row.h"

/* Builds nodes [begin, end) as a part, and measures it. */
void
cleave_row_measure (const CleaveRow *row, guint begin, guint end, CleavePartitionMemory *memory);
