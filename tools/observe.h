/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What to tell while a pipeline runs, and when to end it.  All of it goes to standard error. */
typedef struct
{
  gboolean print_after_all; /* the graph after each pass */
  gboolean print_changed;   /* what each pass changed of it */
  gboolean verify_each;     /* that the graph is valid after each */
  gboolean time_passes;     /* how long each took, at the end */
  const char *dot_folder;   /* drawings after each change go there; NULL: none */
  const char *stop_after;   /* end after this pass; NULL: none */
  gint64 max_changes;       /* passes run until so many changed the graph; negative: all */

  gint64 n_changes;
  gboolean stopped; /* at stop_after */
  char *before;     /* the graph as it was printed last */
  gint64 begin;     /* of the pass, microseconds */
  GArray *times;    /* of each pass */
  GError *error;    /* that ended it */
} CleaveObserver;

/* A CleavePipelineObserver; the data is a CleaveObserver. */
gboolean cleave_observe (CleavePipelineEvent event,
                         const char *pass,
                         const CleaveGraph *graph,
                         gpointer data);
void cleave_observer_print_times (const CleaveObserver *observer);
void cleave_observer_clear (CleaveObserver *observer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveObserver, cleave_observer_clear)
