/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

#include "../ir/row-copy.h"
#include "../memory/buffers.h"
#include "footprints.h"
#include "kernels.h"
#include "plan/record.h"
#include "plan/waits.h"

/* Defines the parts of a program, and declares the functions that make and run it. Making a program
 * takes these steps, in this order: memory plan (plan/memory-plan.h), tasks and kernels (lower.c),
 * fusion (plan/fusion.c), footprints (footprints.c), bindings (io-bindings.c). run.c then runs the
 * program. */

/* A task: a step of the schedule with everything that a run needs for it. The first cache line of
 * the struct contains all data of a copy of rows, since most tasks of a segment with many pieces
 * are copies of rows. */
typedef struct
{
  _Alignas(CLEAVE_CACHE_LINE) CleaveStepKind kind;
  gboolean is_fused;  /* the task is a fused consumer: an earlier task runs it range by range */
  CleaveRowCopy rows; /* the rows of a COPY step, or of a COMPUTE step that copies a view; `n_rows`
                         0: the task does not copy rows */
  /* kernel family of a COMPUTE step; NULL: the op's reference kernel */
  const CleaveKernelFamily *family;
  gpointer state;    /* state of the kernel family */
  gboolean shares;   /* the kernel state and the call belong to the task of another piece, so this
                        task does not free them */
  char *name;        /* name of the node, input or output */
  guint index;       /* LOAD, STORE: index of the input or output */
  CleaveRange *part; /* LOAD: the range of the input that is loaded */
  gboolean streams;  /* COPY, STORE: use stores that bypass the cache */
  const guint *together; /* STORE: indices of this step and of the steps whose outputs are stored
                            together with its output */
  guint n_together;
  CleaveKernelInstance instance; /* operands and results of the step. LOAD: only result 0; STORE:
                                    only operand 0; COPY: operand 0 and result 0 */
} CleaveTask;

/* Returns the name of the op of a COMPUTE step, and the name of the step kind (such as LOAD) for
 * other steps. */
static inline const char *
cleave_step_kind_name (CleaveStepKind kind, const CleaveOp *op)
{
  static const char *const names[] = { [CLEAVE_STEP_LOAD] = "load",
                                       [CLEAVE_STEP_COPY] = "copy",
                                       [CLEAVE_STEP_JOIN] = "join",
                                       [CLEAVE_STEP_STORE] = "store" };

  return kind == CLEAVE_STEP_COMPUTE ? op->name : names[kind];
}

/* A data pointer of a task, which a binding sets: to the address of the bound tensor, or to `own`,
 * the address of the value in the arena. */
typedef struct
{
  gpointer *data;
  char *own;
} CleavePatch;

typedef struct
{
  char *name;
  CleaveTensorType type;
  CleaveTensor *tensor; /* the bound tensor; NULL until a tensor is bound */
  CleaveView view;      /* view of the bound tensor */
  GArray *patches;      /* CleavePatch: all pointers to the value's memory in tasks; NULL: the bound
                           tensor cannot replace this memory, since other values share it */
  char *memory; /* address of the value in the arena; `stride`: strides of the value there, in
                   elements */
  gint64 stride[CLEAVE_MAX_RANK];
  gboolean direct; /* TRUE: steps read or write the memory of the bound tensor, and not `memory` */
} CleaveBinding;

/* Progress of one thread's sequence of steps: the number of finished steps, and whether a thread
 * runs the sequence now. Each struct has a cache line of its own, so that a waiting thread does not
 * slow down a thread that runs steps. */
typedef struct
{
  _Alignas(64) _Atomic guint n_done;
  _Atomic gboolean taken;
} CleaveProgress;

/* Times of the begin and the end of a step in the last run, and the thread that ran the step. */
typedef struct
{
  gint64 begin, end; /* nanoseconds of the monotonic clock; 0: the step has not run */
  guint thread;
} CleaveTraceEvent;

struct _CleaveProgram
{
  CleaveProgramStats stats;
  guint n_inputs, n_outputs;
  CleaveBinding *inputs, *outputs;
  gboolean bound;

  guint n_tasks; /* number of tasks, including the tasks of JOIN steps, which do nothing but wait */
  CleaveTask *tasks;
  CleaveFusedConsumer *fused; /* descriptions of steps as fused consumers: the steps of thread 0 in
                                 their order, then the steps of thread 1, and so on. The entry of a
                                 step that is not fused is unset */
  CleaveSchedule *schedule;
  CleaveWaits waits; /* waits of each step: for values that other threads compute, and for memory
                        that earlier values occupy */
  CleaveFootprints footprints;
  CleaveProgress *progress; /* indexed by thread: progress of its sequence */

  CleaveWeights *weights;
  GPtrArray *constants; /* CleaveTensor: constants that steps read unpacked */
  GBytes *bytes; /* the file of a saved program, which contains the packed weights; NULL: each
                    packed weight has memory of its own */
  char *arena;
  int arena_fd;   /* file descriptor of a shared arena; -1: the arena is not shared */
  char **scratch; /* indexed by thread: its scratch memory */

  CleaveTraceEvent *events; /* indexed by task; NULL: the option `trace` is off */
  char **names; /* indexed by task: name in the trace; NULL: the option `trace` is off */
};

/* The decisions that a saved program stores: the schedule and the packed weights. When lib/saved
 * loads a program, it fills in the decisions and cleave_program_new_by() follows them. When
 * lib/saved saves a program, cleave_program_new_by() fills in the decisions. */
typedef struct
{
  gboolean is_known; /* TRUE: the other fields are filled in, and cleave_program_new_by() uses them;
                        FALSE: cleave_program_new_by() fills them in */
  CleaveRecord record;
  GArray *packed; /* CleavePackedWeight; if cleave_program_new_by() filled in the array, the program
                     owns the array */
} CleaveSavedDecisions;

void cleave_saved_decisions_clear (CleaveSavedDecisions *decisions);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveSavedDecisions, cleave_saved_decisions_clear)

/* Returns a program of `graph`, or NULL on error. If `decisions` are known, takes the schedule and
 * the number of threads from them, else takes the number of threads from `options`. `bytes` is the
 * file of a saved program, to which the new program keeps a reference; NULL: none. */
CleaveProgram *cleave_program_new_by (const CleaveGraph *graph,
                                      const CleaveProgramOptions *options,
                                      CleaveSavedDecisions *decisions,
                                      GBytes *bytes,
                                      GError **error);

/* The inputs from which the following functions make a program. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveStorage *storage;
  gboolean reference; /* TRUE: use only reference kernels */
  gboolean given;     /* TRUE: the program owns the graph and may take constants out of it */
  gboolean measures;  /* TRUE: the program never runs; only the bytes of its scratch are counted */
  /* the decisions of a saved program, which are used or filled in; NULL: a search makes the
   * schedule, and no saved program is written */
  CleaveSavedDecisions *decisions;
} CleaveMaking;

/* lower.c: makes the tasks of all steps and chooses their kernels. FALSE: error. */
gboolean cleave_program_prepare (CleaveProgram *program,
                                 const CleaveMaking *making,
                                 const CleaveArena *arena,
                                 GError **error);
/* trace.c: stores the names of all steps, and makes runs record the time of each step. */
void cleave_program_begin_trace (CleaveProgram *program, const CleaveStorage *storage);
/* io-bindings.c: finds the inputs and outputs whose bound tensor can replace the value's memory in
 * the arena. */
void cleave_program_find_bindings (CleaveProgram *program,
                                   const CleaveStorage *storage,
                                   const CleaveGraph *graph,
                                   const gint64 *offsets);
/* If the bound tensor has the strides that the steps expect, makes the steps use its memory
 * directly. Otherwise makes them use the arena's memory. */
void cleave_binding_apply (CleaveBinding *binding);
/* fusion.c: finds fused consumers and the waits of all steps. A step that becomes an epilogue op
 * does not wait for memory: its head's kernel stores the result of the last epilogue op, and no
 * other value. */
void
cleave_program_fuse (CleaveProgram *program, const CleaveMaking *making, const CleaveArena *arena);
/* store-fusion.c: groups STORE steps that run together. */
void cleave_program_group_stores (CleaveProgram *program);
void cleave_program_store_together (const CleaveProgram *program, const CleaveTask *head);
/* footprints.c: finds the memory that each step reads besides values. Call this function after the
 * last change of the steps. */
void cleave_program_find_footprints (CleaveProgram *program);
/* run.c: runs one step. The caller ensures that all steps that must run before have finished. */
void cleave_program_run_step (const CleaveProgram *program, guint step);
