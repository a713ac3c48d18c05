/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "help.h"

/* A node whose attributes count dimensions of what it reads, such as a reduction or a Softmax, in
 * front of the Transpose that it reads from. */
typedef struct
{
  gpointer attrs;  /* of the op, with the dimensions that they were */
  CleaveInts perm; /* makes what it was of the result */
} CleavePastAxes;

/* FALSE: it would not compute the same there, bit for bit. */
gboolean cleave_past_axes_init (CleavePastAxes *past, const CleaveNode *node);
/* Whether there may be such a Transpose. */
gboolean cleave_past_axes_may_be (const CleaveNode *node);
void cleave_past_axes_clear (CleavePastAxes *past, const CleaveNode *node);
