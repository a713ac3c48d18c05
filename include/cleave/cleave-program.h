/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_MEMORY_TIMELINE (cleave_memory_timeline_get_gtype ())
#define CLEAVE_TYPE_PROFILE (cleave_profile_get_gtype ())
#define CLEAVE_TYPE_PROGRAM (cleave_program_get_gtype ())

/**
 * CleaveProgram:
 *
 * A graph that was compiled, ready to run.
 */
typedef struct _CleaveProgram CleaveProgram;

/**
 * CleaveProgramOptions:
 * @n_threads: number of threads; 0 for one per core
 * @reference: use reference kernels only
 * @trace: record when and on which thread each step ran
 * @share: the arena lies in memory that other processes can map, where the system has such
 *
 * How to compile a program.
 */
typedef struct
{
  guint n_threads;
  gboolean reference;
  gboolean trace;
  gboolean share;
} CleaveProgramOptions;

/* How memory is counted: see cleave_program_get_stats(). */
#define CLEAVE_MEMORY_CONVENTION                                                                   \
  "live activations of the schedule, inputs and outputs of the graph included, weights apart, "    \
  "element-wise and depthwise in place, slices and assembled parts as views"

/**
 * CleaveProgramStats:
 * @n_threads: number of threads
 * @n_nodes: number of nodes that compute
 * @n_steps: number of steps
 * @peak_activation_bytes: largest sum of live values
 * @arena_bytes: size of the arena, which holds them
 * @scratch_bytes: scratch memory of kernels, of all threads
 * @weight_bytes: constants that kernels read as they are, and packed ones
 * @copied_bytes: bytes that one run moves to join parts, to take slices and to change the memory
 * order
 *
 * Sizes of a program.  Bytes of activations are counted as %CLEAVE_MEMORY_CONVENTION says.
 */
typedef struct
{
  guint n_threads, n_nodes, n_steps;
  gint64 peak_activation_bytes;
  gint64 arena_bytes;
  gint64 scratch_bytes;
  gint64 weight_bytes;
  gint64 copied_bytes;
} CleaveProgramStats;

/**
 * CleaveStepTime:
 * @name: the node, input or output
 * @what: the ops, such as `Conv + Clip`; or `load`, `store` or `copy`
 * @reference: whether the reference kernel of the op runs, for lack of a faster one
 * @nanoseconds: time of the fastest run
 * @macs: multiply-accumulates
 * @bytes: bytes of operands and results
 *
 * The time of one step of a program, with the steps that are fused into it.
 */
typedef struct
{
  char *name;
  char *what;
  gboolean reference;
  gint64 nanoseconds;
  gint64 macs, bytes;
} CleaveStepTime;

/**
 * CleaveProfile:
 * @n_steps: number of steps
 * @steps: (array length=n_steps): the steps in the order of the run
 *
 * The times of the steps of a program.
 */
typedef struct
{
  guint n_steps;
  CleaveStepTime *steps;
} CleaveProfile;

/**
 * CleaveMemoryStep:
 * @name: the node or output
 * @op: (transfer none): the op, or `load`, `store`, `copy` or `join`
 * @live_bytes: bytes of the buffers that are in use
 * @live_bytes_apart: the same, were nothing that is made strip by strip laid over what dies
 * meanwhile
 *
 * A step of a [struct@Cleave.MemoryTimeline].
 */
typedef struct
{
  char *name;
  const char *op;
  gint64 live_bytes, live_bytes_apart;
} CleaveMemoryStep;

/**
 * CleaveBufferLifetime:
 * @name: the value that the buffer is made for; others may lie in it as well, or after it
 * @n_bytes: its size
 * @offset: where it begins in the arena
 * @first: the step from which on it is in use
 * @last: the last step at which it is in use
 *
 * A buffer of the arena and when it is in use.
 */
typedef struct
{
  char *name;
  gint64 n_bytes, offset;
  guint first, last;
} CleaveBufferLifetime;

/**
 * CleaveMemoryTimeline:
 * @peak_bytes: most live bytes of a step
 * @arena_bytes: size of the arena
 * @peak_step: the first step with that many
 * @n_steps: number of steps
 * @steps: (array length=n_steps): the steps in the order of the run
 * @n_buffers: number of buffers
 * @buffers: (array length=n_buffers): the buffers by their first step
 * @nanoseconds: about how long a run takes, as the schedule has it
 *
 * The memory of a run over its steps.
 */
typedef struct
{
  gint64 peak_bytes, arena_bytes;
  guint peak_step;
  guint n_steps;
  CleaveMemoryStep *steps;
  guint n_buffers;
  CleaveBufferLifetime *buffers;
  double nanoseconds;
} CleaveMemoryTimeline;

/**
 * CleaveEstimate:
 * @peak_activation_bytes: largest sum of live values
 * @arena_bytes: size of the arena, which holds them
 * @nanoseconds: about how long a run takes, as the schedule has it
 *
 * What a program would take.  Bytes are counted as %CLEAVE_MEMORY_CONVENTION says.
 */
typedef struct
{
  gint64 peak_activation_bytes;
  gint64 arena_bytes;
  double nanoseconds;
} CleaveEstimate;

CLEAVE_API GType cleave_program_get_gtype (void);
CLEAVE_API GType cleave_program_options_get_gtype (void);
CLEAVE_API GType cleave_program_stats_get_gtype (void);
CLEAVE_API GType cleave_estimate_get_gtype (void);
CLEAVE_API CleaveProgram *
cleave_program_new (const CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
CLEAVE_API CleaveProgram *
cleave_program_new_take (CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
CLEAVE_API gboolean cleave_graph_save_program (const CleaveGraph *graph,
                                               const CleaveProgramOptions *options,
                                               const char *path,
                                               GError **error);
CLEAVE_API CleaveProgram *cleave_program_load (
    const char *path, const char *model, gboolean trace, CleaveGraph **graph, GError **error);
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
CLEAVE_API int cleave_program_get_arena_file (const CleaveProgram *program, gconstpointer *begin);
CLEAVE_API char *cleave_program_dup_trace (const CleaveProgram *program);
CLEAVE_API CleaveProfile *cleave_program_profile (CleaveProgram *program, guint n_runs);
CLEAVE_API GType cleave_profile_get_gtype (void);
CLEAVE_API CleaveProfile *cleave_profile_ref (CleaveProfile *profile);
CLEAVE_API void cleave_profile_unref (CleaveProfile *profile);
CLEAVE_API const CleaveStepTime *cleave_profile_get_step (const CleaveProfile *profile,
                                                          guint index);

/* Bytes, by the convention above, of a graph's nodes run one after the other depth first. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes (const CleaveGraph *graph, GError **error);
/* The same, as a program with so many threads runs them. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes_with_threads (const CleaveGraph *graph,
                                                            guint n_threads,
                                                            GError **error);
CLEAVE_API gboolean cleave_graph_estimate (const CleaveGraph *graph,
                                           guint n_threads,
                                           CleaveEstimate *estimate,
                                           GError **error);

CLEAVE_API GType cleave_memory_timeline_get_gtype (void);
CLEAVE_API CleaveMemoryTimeline *
cleave_memory_timeline_new (const CleaveGraph *graph, guint n_threads, GError **error);
CLEAVE_API CleaveMemoryTimeline *cleave_memory_timeline_ref (CleaveMemoryTimeline *timeline);
CLEAVE_API void cleave_memory_timeline_unref (CleaveMemoryTimeline *timeline);
CLEAVE_API const CleaveMemoryStep *
cleave_memory_timeline_get_step (const CleaveMemoryTimeline *timeline, guint index);
CLEAVE_API const CleaveBufferLifetime *
cleave_memory_timeline_get_buffer (const CleaveMemoryTimeline *timeline, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveProgram, cleave_program_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveProfile, cleave_profile_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveMemoryTimeline, cleave_memory_timeline_unref)

G_END_DECLS
