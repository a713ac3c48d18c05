/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

/* A root: a node where a split begins. Requests and searches make roots. The region of a split
 * grows from its roots towards the inputs. */

/* A node where a region begins, with the ranges into which it is cut. */
typedef struct
{
  CleaveNode *node;
  GArray *ranges; /* CleaveRange; NULL: the node stays whole; `reason` and `message` say why */
  gboolean is_column_wise; /* strips follow each other along the innermost dimension that is cut,
                              not along the outermost */
  const CleaveConstraint *constraint;
  CleaveNotSplit reason;
  char *message;
  /* bytes of the root's largest piece. If the root stays whole because a search found no split,
   * bytes of the largest piece in the search's best split: the split whose largest piece is the
   * smallest. 0: not known */
  gint64 most_bytes;
} CleaveRoot;

/* Clears a root (CleaveRoot), as g_array_set_clear_func() needs. */
void cleave_root_clear (gpointer data);
/* Makes a root stay whole, with a reason for the report. */
void cleave_root_keep_whole (CleaveRoot *root, CleaveNotSplit reason, const char *message);
/* Returns the bytes of the largest piece of a node that is cut into `ranges` (NULL: the whole
 * result is one piece). Returns 0 if the ranges are not legal. */
gint64 cleave_root_most_bytes (CleaveNode *node, const GArray *ranges);
