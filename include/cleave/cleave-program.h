/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs: a graph is compiled once, tensors are bound to its inputs and outputs, and the program
 * runs any number of times. This header also has functions that need no run: they return the memory
 * of a program over time, and estimates of memory and time.
 *
 *   graph -> cleave_program_new() -> cleave_program_bind() -> cleave_program_run() ... */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_MEMORY_TIMELINE (cleave_memory_timeline_get_gtype ())
#define CLEAVE_TYPE_PROFILE (cleave_profile_get_gtype ())
#define CLEAVE_TYPE_PROGRAM (cleave_program_get_gtype ())

/**
 * CleaveProgram:
 *
 * A compiled graph, ready to run. A program must not be run by two threads at the same time.
 */
typedef struct _CleaveProgram CleaveProgram;

/**
 * CleaveProgramOptions:
 * @n_threads: number of threads; 0 for one per core
 * @reference: use reference kernels only
 * @trace: record the time and the thread of each step
 * @share: allocate the arena in memory that other processes can map, if the system supports it
 *
 * Options for compiling a program.
 */
typedef struct
{
  guint n_threads;
  gboolean reference;
  gboolean trace;
  gboolean share;
} CleaveProgramOptions;

/* The rules by which Cleave counts memory, as text for reports. The documentation of
 * cleave_program_get_stats() explains these rules. */
#define CLEAVE_MEMORY_CONVENTION                                                                   \
  "live activations of the schedule, inputs and outputs of the graph included, weights apart, "    \
  "element-wise and depthwise in place, slices and assembled parts as views"

/**
 * CleaveProgramStats:
 * @n_threads: number of threads
 * @n_nodes: number of nodes that compute
 * @n_steps: number of steps
 * @peak_activation_bytes: largest sum of the sizes of values that are live at the same time
 * @arena_bytes: size of the arena, which holds all values of a run
 * @scratch_bytes: bytes of scratch memory of the kernels, summed over all threads
 * @weight_bytes: bytes of the constants that kernels read directly, and of packed copies
 * @copied_bytes: bytes that one run copies to join parts, to take slices and to change the memory
 * order
 *
 * Sizes of a program. Bytes of activations are counted as %CLEAVE_MEMORY_CONVENTION says.
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
 * @name: name of the node, input or output
 * @what: the ops, such as `Conv + Clip`; or `load`, `store` or `copy`
 * @reference: whether the step runs the reference kernel, because no faster kernel serves the node
 * @nanoseconds: time of the fastest run
 * @macs: multiply-accumulates
 * @bytes: bytes of operands and results
 *
 * The time of one step of a program, including the steps that are fused into this step.
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
 * @steps: (array length=n_steps): the steps, in the order in which they run
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
 * @name: name of the node or output
 * @op: (transfer none): the op, or `load`, `store`, `copy` or `join`
 * @live_bytes: bytes of the buffers that are in use
 * @live_bytes_apart: bytes that the buffers in use would have if no value overlapped another. With
 * overlaps, a value that is computed strip by strip may reuse the memory of a value that dies strip
 * by strip
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
 * @name: the value that the buffer was allocated for; other values may share the buffer, or use the
 * buffer later
 * @n_bytes: size of the buffer
 * @offset: offset of the buffer in the arena, in bytes
 * @first: index of the first step that uses the buffer
 * @last: index of the last step that uses the buffer
 *
 * A buffer of the arena and its lifetime. If values that are computed strip by strip overlap, the
 * memory that they share is listed as several buffers, each with one lifetime.
 */
typedef struct
{
  char *name;
  gint64 n_bytes, offset;
  guint first, last;
} CleaveBufferLifetime;

/**
 * CleaveMemoryTimeline:
 * @peak_bytes: largest number of live bytes at any step
 * @arena_bytes: size of the arena
 * @peak_step: index of the first step with @peak_bytes
 * @n_steps: number of steps
 * @steps: (array length=n_steps): the steps, in the order in which they run
 * @n_buffers: number of buffers
 * @buffers: (array length=n_buffers): the buffers, sorted by their first step
 * @nanoseconds: time of a run, as the schedule estimates it
 *
 * The memory that each step of a run uses.
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
 * @peak_activation_bytes: largest sum of the sizes of values that are live at the same time
 * @arena_bytes: size of the arena, which holds all values of a run
 * @nanoseconds: time of a run, as the schedule estimates it
 *
 * The memory and time of a program, estimated without making the program. Bytes are counted as
 * %CLEAVE_MEMORY_CONVENTION says.
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

/* Returns the peak bytes of a graph, by CLEAVE_MEMORY_CONVENTION, if its nodes run on one thread,
 * depth first. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes (const CleaveGraph *graph, GError **error);
/* Returns the peak bytes of a graph if a program with `n_threads` threads runs it. */
CLEAVE_API gint64 cleave_graph_get_peak_bytes_with_threads (const CleaveGraph *graph,
                                                            guint n_threads,
                                                            GError **error);
/* Returns the bytes of scratch memory of the kernels if a program with `n_threads` threads runs the
 * graph. */
CLEAVE_API gint64 cleave_graph_get_scratch_bytes (const CleaveGraph *graph,
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
