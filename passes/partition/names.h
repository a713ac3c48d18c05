/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Names of the values that the graphs of one partition exchange. Different values get different
 * names, even if two values of the whole graph print the same name. For example, an import may make
 * two nodes of one ONNX node, and the results of both nodes then print the same name. build.h gives
 * the unique names to inputs and outputs. */
typedef struct _CleavePartitionNames CleavePartitionNames;

CleavePartitionNames *cleave_partition_names_new (void);
void cleave_partition_names_free (CleavePartitionNames *names);

/* Reserves a name for the value of an output, so that no other value gets this name. */
void cleave_partition_names_reserve (CleavePartitionNames *names,
                                     const CleaveResult *value,
                                     const char *name);
/* Returns the name of a value. The name of a value never changes. */
const char *cleave_partition_names_get (CleavePartitionNames *names, const CleaveResult *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePartitionNames, cleave_partition_names_free)
