/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Names of the values that the graphs of one partition exchange. Different values get different
 * names, even if two values of the whole graph print the same name. Two results of one ONNX node
 * that the import made two nodes of are an example. */
typedef struct _CleavePartitionNames CleavePartitionNames;

CleavePartitionNames *cleave_partition_names_new (void);
void cleave_partition_names_free (CleavePartitionNames *names);

/* Reserves the name of an output for its value; other values then get other names. */
void cleave_partition_names_reserve (CleavePartitionNames *names,
                                     const CleaveResult *value,
                                     const char *name);
/* Returns the name of a value. The name of a value never changes. */
const char *cleave_partition_names_get (CleavePartitionNames *names, const CleaveResult *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePartitionNames, cleave_partition_names_free)
