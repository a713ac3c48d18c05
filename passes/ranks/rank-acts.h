/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Lists the acts of each rank: the actions of the rank's program for messages, in order, between
 * the nodes of the rank. build.c adds a node for each act to the graph of the rank, and replay.c
 * simulates the acts. */

/* The kinds of acts. The receiver of a message posts a buffer (EXPECT) and waits for the data
 * (RECEIVE). The sender begins to send (SEND) and waits until the value may be overwritten
 * (FINISH). */
typedef enum {
  CLEAVE_ACT_EXPECT,
  CLEAVE_ACT_RECEIVE,
  CLEAVE_ACT_SEND,
  CLEAVE_ACT_FINISH
} CleaveActKind;

typedef struct
{
  CleaveActKind kind;
  guint message;
  guint rank_index; /* number of the rank's nodes that run before the act, inputs included */
} CleaveAct;

/* The acts (CleaveAct) of each rank, in order. */
typedef struct
{
  guint n_ranks;
  GArray **of_rank;
} CleaveActs;

void cleave_acts_init (CleaveActs *acts, const CleavePlacement *p);
void cleave_acts_clear (CleaveActs *acts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveActs, cleave_acts_clear)
