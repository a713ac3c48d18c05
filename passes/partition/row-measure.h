/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measure.h"
#include "row.h"

/* Builds the part with nodes [begin, end) and measures its memory. */
void
cleave_row_measure (const CleaveRow *row, guint begin, guint end, CleavePartitionMemory *memory);
