/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Judges one trial: its graph is computed in several ways, all of which must give the same bits. */

#include "counts.h"
#include "tape.h"
#include "trial.h"

typedef enum {
  VERDICT_GOOD,
  VERDICT_NOT_READ,    /* the library refuses a valid model */
  VERDICT_NOT_RUN,     /* no program can be made from an imported graph */
  VERDICT_WRONG_TYPE,  /* an output has the wrong type */
  VERDICT_WRONG_BITS,  /* an output has the wrong bits */
  VERDICT_WRITES,      /* a run changed an input */
  VERDICT_NOT_CHANGED, /* a change to the graph failed, or made it invalid */
  VERDICT_CRASH,
  VERDICT_HANG,
  N_VERDICTS
} Verdict;

/* The message of a worker to its parent. */
typedef struct
{
  guint64 seed;
  guint way;
  gboolean busy;     /* working on that seed */
  gint64 cpu_before; /* microseconds of processor time at the start of the seed */
  gint64 wall_before;
  gint64 cpu_seen, wall_seen; /* time at which the parent last saw the processor time grow */
  Verdict verdict;
  char message[4096];
  TapeCopy graph, of_way; /* the tapes, when one graph is judged alone */
  Counts counts;
} Report;

#define N_WAYS 5

const char *verdict_name (Verdict verdict);
void judge_tapes (guint64 seed, guint way, Tape *graph, Tape *of_way);
/* Judges all ways of a seed. */
Verdict judge_seed (guint64 seed, Report *report);
/* Judges one graph with one way, and consumes both tapes. */
Verdict judge_way (Tape *graph, Tape *way, Report *report);
