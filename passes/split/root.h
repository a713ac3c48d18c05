/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

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
  gint64 most_bytes; /* of its largest piece, or of the smallest that was found; 0: not known */
} CleaveRoot;

/* Of an element of an array. */
void cleave_root_clear (gpointer data);
/* Leaves a node whole. */
void cleave_root_stay (CleaveRoot *root, CleaveNotSplit reason, const char *message);
/* The bytes of the largest piece of a node cut into these ranges; of NULL, of the whole. */
gint64 cleave_root_most_bytes (CleaveNode *node, const GArray *ranges);
