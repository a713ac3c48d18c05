/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One trial: the graph computed in several ways, all of which must give the same. */

#include "counts.h"
#include "tape.h"
#include "trial.h"

typedef enum {
  VERDICT_GOOD,
  VERDICT_NOT_READ,    /* the library refuses a legal model */
  VERDICT_NOT_RUN,     /* a graph that was read cannot be made a program */
  VERDICT_WRONG_TYPE,  /* of an output */
  VERDICT_WRONG_BITS,  /* of an output */
  VERDICT_WRITES,      /* an input was changed */
  VERDICT_NOT_CHANGED, /* a change of the graph failed, or left it invalid */
  VERDICT_CRASH,
  VERDICT_HANG,
  N_VERDICTS
} Verdict;

/* What workers tell their parent. */
typedef struct
{
  guint64 seed;
  guint way;
  gboolean busy;     /* with that seed */
  gint64 cpu_before; /* microseconds of the process when it began */
  gint64 wall_before;
  Verdict verdict;
  char message[4096];
  TapeCopy graph, of_way; /* where one graph is judged alone */
  Counts counts;
} Report;

#define N_WAYS 5

const char *verdict_name (Verdict verdict);
void judge_tapes (guint64 seed, guint way, Tape *graph, Tape *of_way);
/* All ways of a seed. */
Verdict judge_seed (guint64 seed, Report *report);
/* One graph and one way; both tapes are used up. */
Verdict judge_way (Tape *graph, Tape *way, Report *report);
