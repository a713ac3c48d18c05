/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measure.h"
#include "row.h"

/* Builds the graph of a part, which has the nodes [begin, end) of a row (row.h), and measures the
 * memory of the part. row-bytes.c and row-refine.c compare this memory with the limit. */
void
cleave_row_measure (const CleaveRow *row, guint begin, guint end, CleavePartitionMemory *memory);
