/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_PROGRAM (cleave_program_get_gtype ())

typedef struct _CleaveProgram CleaveProgram; /* a graph made ready to run; counted */

typedef struct
{
  guint n_threads;    /* 0: all cores */
  gboolean reference; /* reference kernels only */
  gboolean trace;     /* keep when each step ran and on which thread */
} CleaveProgramOptions;

/* How memory is counted: see cleave_program_get_stats(). */
#define CLEAVE_MEMORY_CONVENTION                                                                   \
  "live activations of the schedule, inputs and outputs of the graph included, weights apart, "    \
  "element-wise in place, slices and assembled parts as views"

typedef struct
{
  guint n_threads, n_nodes, n_steps; /* nodes: those that compute */
  gint64 peak_activation_bytes;      /* largest sum of live values */
  gint64 arena_bytes;                /* what the program takes for them */
  gint64 scratch_bytes;              /* kernels' own, all threads */
  gint64 weight_bytes;               /* constants that are read as they are, and packed ones */
  gint64 copied_bytes; /* moved by one run to join parts, take slices, change memory order */
} CleaveProgramStats;

/* One step of a program, and those that are done part by part along with it. */
typedef struct
{
  char *name;         /* of the node, input or output */
  char *what;         /* ops, "Conv + Clip"; or "load", "store", "copy" */
  gboolean reference; /* by the op's reference kernel: there is no faster one for it */
  gint64 nanoseconds; /* the least of the runs */
  gint64 macs, bytes;
} CleaveStepTime;

typedef struct
{
  guint n_steps;
  CleaveStepTime *steps;
} CleaveProfile;

CLEAVE_API GType cleave_program_get_gtype (void);
CLEAVE_API CleaveProgram *
cleave_program_new (const CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
CLEAVE_API CleaveProgram *
cleave_program_new_take (CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
CLEAVE_API CleaveProgram *cleave_program_ref (CleaveProgram *program);
CLEAVE_API void cleave_program_unref (CleaveProgram *program);
CLEAVE_API gboolean cleave_program_bind (CleaveProgram *program,
                                         CleaveTensor *const *inputs,
                                         guint n_inputs,
                                         CleaveTensor *const *outputs,
                                         guint n_outputs,
                                         GError **error);
CLEAVE_API void cleave_program_run (CleaveProgram *program);
CLEAVE_API void cleave_program_get_stats (const CleaveProgram *program, CleaveProgramStats *stats);
CLEAVE_API char *cleave_program_dup_trace (const CleaveProgram *program);
CLEAVE_API CleaveProfile *cleave_program_profile (CleaveProgram *program, guint n_runs);
CLEAVE_API void cleave_profile_free (CleaveProfile *profile);

/* Bytes, by the convention above, of a graph's nodes run one after the other depth first. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes (const CleaveGraph *graph, GError **error);
/* The same, as a program with so many threads runs them. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes_with_threads (const CleaveGraph *graph,
                                                            guint n_threads,
                                                            GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveProgram, cleave_program_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveProfile, cleave_profile_free)

G_END_DECLS
