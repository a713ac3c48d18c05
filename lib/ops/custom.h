/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Nodes whose meaning nobody here knows, such as those of a domain of the user's own: they pass
 * through whole. */

#include "../ir/op.h"

typedef struct
{
  char *op;        /* "domain:op" */
  GArray *outputs; /* gint64: of each output of the node in the file the element type, and, unless
                    * that is CLEAVE_NONE, rank and extents: those are the results */
  CleaveTensor *node; /* the node of the file, as bytes */
} CleaveCustomAttrs;

extern const CleaveOp cleave_op_custom;

/* An output that is a result, or is none (NULL). */
void cleave_custom_add_output (GArray *outputs, const CleaveTensorType *type);
/* Goes on from `*at`, 0 at first, to the next output; FALSE: there is none. */
gboolean cleave_custom_next_output (const GArray *outputs, guint *at, CleaveTensorType *type);
