/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* What a rank does for a message.  Its program does all of them one after the other. */
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
  guint turn; /* how many nodes of the rank come before it, inputs included */
} CleaveAct;

/* By rank: its CleaveAct in order. */
typedef struct
{
  guint n_ranks;
  GArray **of_rank;
} CleaveActs;

void cleave_acts_init (CleaveActs *acts, const CleavePlacement *p);
void cleave_acts_clear (CleaveActs *acts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveActs, cleave_acts_clear)
