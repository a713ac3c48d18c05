/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Turns of a body: what Loop and Scan share.  A graph runs once, from its inputs to its outputs, so
 * turns become part of it, each with nodes of its own. */

#include "import.h"

typedef struct CleaveOnnxTurns
{
  CleaveOnnxNode *node;
  const Onnx__GraphProto *body;
  guint n_first; /* results of the body before those that it carries */
  guint n_states;
  /* Binds what the body reads. */
  gboolean (*bind) (const struct CleaveOnnxTurns *turns, gint64 turn, GError **error);
  /* Tells whether another turn follows, of the body's first result.  NULL: it does. */
  gboolean (*judge) (const struct CleaveOnnxTurns *turns,
                     CleaveOnnxValue *first,
                     gboolean *goes_on,
                     GError **error);

  GPtrArray *states;  /* CleaveOnnxValue: what the next turn reads, or the turns give */
  GPtrArray *stacked; /* GPtrArray of CleaveOnnxValue: what each turn gives */
  GArray *empty;      /* CleaveTensorType: what a turn would give, if none is taken; or NULL */
  gboolean *is_own;   /* of each state: whether a node of the last turn made it */
} CleaveOnnxTurns;

void cleave_onnx_turns_clear (CleaveOnnxTurns *turns);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxTurns, cleave_onnx_turns_clear)

/* Looks at the body, whose inputs should be so many, and takes the node's operands from `first` on
 * as what the first turn reads. */
gboolean cleave_onnx_turns_init (CleaveOnnxTurns *turns,
                                 const Onnx__NodeProto *proto,
                                 guint n_inputs,
                                 guint first,
                                 GError **error);
/* Takes so many turns, or as many as `judge` says. */
gboolean cleave_onnx_take_turns (CleaveOnnxTurns *turns, gint64 n_turns, GError **error);
/* The node's values: what the last turn left, and what each gave, put together.  Along dimension
 * `axes[i]` of the result `i` of these, from the last turn to the first where `backwards[i]`; NULL:
 * along the first, as they come. */
gboolean cleave_onnx_give_turns (const CleaveOnnxTurns *turns,
                                 const gint64 *axes,
                                 const gint64 *backwards,
                                 GError **error);
