/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Names of the values that graphs of one partition exchange. Different values have different names,
 * also if two values of the whole graph print the same name, such as the results of two nodes that
 * the import made of one. */
typedef struct _CleavePartitionNames CleavePartitionNames;

CleavePartitionNames *cleave_partition_names_new (void);
void cleave_partition_names_free (CleavePartitionNames *names);

/* Reserves the name of an output, which other values than this one then avoid. */
void cleave_partition_names_reserve (CleavePartitionNames *names,
                                     const CleaveResult *value,
                                     const char *name);
/* Returns the name of a value: always the same one for the same value. */
const char *cleave_partition_names_get (CleavePartitionNames *names, const CleaveResult *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePartitionNames, cleave_partition_names_free)
