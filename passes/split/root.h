/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

/* A root: a node where a split begins.  Requests and searches make roots; the region grows from
 * them towards the inputs. */

/* A node where a region begins, with the ranges that it is cut into. */
typedef struct
{
  CleaveNode *node;
  GArray *ranges;          /* CleaveRange; NULL: it stays whole, as `reason` and `message` say */
  gboolean is_column_wise; /* strips follow each other along the innermost dimension that is cut,
                              not along the outermost */
  const CleaveConstraint *constraint;
  CleaveNotSplit reason;
  char *message;
  gint64 most_bytes; /* bytes of the largest piece of the root; if it stays whole, the smallest
                        limit that a search can meet; 0: not known */
} CleaveRoot;

/* Clears a root; a clear function for GArray. */
void cleave_root_clear (gpointer data);
/* Makes a root stay whole, with a reason for the report. */
void cleave_root_keep_whole (CleaveRoot *root, CleaveNotSplit reason, const char *message);
/* Returns the bytes of the largest piece of a node cut into these ranges; NULL stands for one
 * range, the whole.  0 if the ranges are not legal. */
gint64 cleave_root_most_bytes (CleaveNode *node, const GArray *ranges);
