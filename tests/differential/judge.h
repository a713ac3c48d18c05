/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Judges one trial (trial.h): its graph is computed in several ways (way.h), all of which must give
 * the same bits. A worker (workers.h) calls judge_seed() for each seed. The shrinker (shrink.h)
 * calls judge_way() with fewer and simpler choices. */

#include "counts.h"
#include "tape.h"
#include "trial.h"

typedef enum {
  VERDICT_GOOD,
  VERDICT_NOT_READ,    /* the library refused a valid model */
  VERDICT_NOT_RUN,     /* no program could be made from an imported graph */
  VERDICT_WRONG_TYPE,  /* an output had the wrong type */
  VERDICT_WRONG_BITS,  /* an output had the wrong bits */
  VERDICT_WRITES,      /* a run changed an input */
  VERDICT_NOT_CHANGED, /* a change to the graph failed, or made it invalid */
  VERDICT_CRASH,
  VERDICT_HANG,
  N_VERDICTS
} Verdict;

/* The state of a worker, in memory that it shares with its parent. */
typedef struct
{
  guint64 seed;
  guint way;
  gboolean busy;     /* the worker is judging `seed` */
  gint64 cpu_before; /* microseconds of processor time at the start of the seed */
  gint64 wall_before;
  gint64 cpu_seen, wall_seen; /* largest processor time (microseconds) that the parent has seen, and
                               * when the parent saw it */
  Verdict verdict;
  char message[4096];
  /* copies of the two tapes of random choices, for the graph and for the changes (way.h); valid
   * while judge_way() runs */
  TapeCopy graph, of_way;
  Counts counts;
} Report;

#define N_WAYS 5

const char *verdict_name (Verdict verdict);
void judge_tapes (guint64 seed, guint way, Tape *graph, Tape *of_way);
/* Makes the graph of a seed and judges N_WAYS ways to compute it. Returns the first bad verdict. */
Verdict judge_seed (guint64 seed, Report *report);
/* Returns the verdict on one random graph after random changes (way.h). The tape `graph` decides
 * the graph, and the tape `way` decides the changes. */
Verdict judge_way (Tape *graph, Tape *way, Report *report);
