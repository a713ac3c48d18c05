/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

#include "../memory/buffers.h"
#include "footprints.h"
#include "kernels.h"
#include "plan/record.h"
#include "plan/waits.h"

/* The parts of a program, and the functions that make and run it. Making a program takes these
 * steps: memory plan (plan/memory-plan.h), tasks and kernels (lower.c), fusion (plan/fusion.c),
 * footprints, bindings. run.c runs it. */

/* A task: a step prepared to run, with all that running it needs. */
typedef struct
{
  CleaveStepKind kind;
  char *name;                       /* name of the node, input or output */
  guint index;                      /* LOAD, STORE: index of the input or output */
  const CleaveKernelFamily *family; /* NULL: the op's reference kernel */
  gpointer state;                   /* state of the kernel family */
  CleaveRange *part;                /* LOAD: the part of the input */
  gboolean streams;                 /* COPY, STORE: with stores that bypass the cache */
  gboolean is_fused;                /* the task runs range by range with an earlier step */
  const guint *together;            /* STORE: steps that run together, this one first */
  guint n_together;
  CleaveKernelInstance instance; /* operand 0 and result 0 of a task that copies */
} CleaveTask;

/* Returns the name of a step: the op of its node, or its kind. */
static inline const char *
cleave_step_kind_name (CleaveStepKind kind, const CleaveOp *op)
{
  static const char *const names[] = { [CLEAVE_STEP_LOAD] = "load",
                                       [CLEAVE_STEP_COPY] = "copy",
                                       [CLEAVE_STEP_JOIN] = "join",
                                       [CLEAVE_STEP_STORE] = "store" };

  return kind == CLEAVE_STEP_COMPUTE ? op->name : names[kind];
}

/* The pointer of a view in a step, and its value in the program's own memory. */
typedef struct
{
  gpointer *data;
  char *own;
} CleavePatch;

typedef struct
{
  char *name;
  CleaveTensorType type;
  CleaveTensor *tensor; /* the bound tensor, or NULL */
  CleaveView view;      /* view of the bound tensor */
  GArray *patches; /* CleavePatch: all pointers to the memory of the value; NULL: the value shares
                      memory with other values */
  char *memory;    /* address in the arena, and strides there */
  gint64 stride[CLEAVE_MAX_RANK];
  gboolean direct; /* steps use the tensor's memory directly */
} CleaveBinding;

/* How many steps of a sequence are done, and whether a thread runs it. Each is on a cache line of
 * its own. */
typedef struct
{
  _Alignas(64) _Atomic guint n_done;
  _Atomic gboolean taken;
} CleaveProgress;

/* When a step ran, and on which thread. */
typedef struct
{
  gint64 begin, end; /* nanoseconds; 0: not yet */
  guint thread;
} CleaveTraceEvent;

struct _CleaveProgram
{
  CleaveProgramStats stats;
  guint n_inputs, n_outputs;
  CleaveBinding *inputs, *outputs;
  gboolean bound;

  guint n_tasks; /* number of tasks, including joins, which only wait */
  CleaveTask *tasks;
  CleaveFusedConsumer *fused; /* indexed by task */
  CleaveSchedule *schedule;
  CleaveWaits waits; /* waits of each step for values, and for memory that is reused */
  CleaveFootprints footprints;
  CleaveProgress *progress; /* indexed by thread */

  CleaveWeights *weights;
  GPtrArray *constants; /* CleaveTensor: read unpacked by steps */
  GBytes *bytes;        /* holds the packed weights, or NULL if they have memory of their own */
  char *arena;
  int arena_fd;   /* file descriptor of a shared arena; -1: the arena is not shared */
  char **scratch; /* indexed by thread */

  CleaveTraceEvent *events; /* indexed by task; NULL: no trace was requested */
  char **names;             /* indexed by task, if there are events */
};

/* The results of searching and packing: an input if they are known from a saved program, else an
 * output for saving. */
typedef struct
{
  gboolean is_known; /* FALSE: the other fields are outputs */
  CleaveRecord record;
  GArray *packed; /* CleavePackedWeight; as an output, owned by the program */
} CleaveRecipe;

void cleave_recipe_clear (CleaveRecipe *recipe);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRecipe, cleave_recipe_clear)

/* Makes a program as cleave_program_new() does, with the number of threads of the options or of the
 * recipe. The program holds `bytes`, unless NULL, as long as it exists. */
CleaveProgram *cleave_program_new_by (const CleaveGraph *graph,
                                      const CleaveProgramOptions *options,
                                      CleaveRecipe *recipe,
                                      GBytes *bytes,
                                      GError **error);

/* The inputs for making a program. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveStorage *storage;
  gboolean reference;   /* use reference kernels only */
  gboolean given;       /* the graph is not needed any more afterwards */
  CleaveRecipe *recipe; /* receives the results of searching and packing; NULL: not wanted */
} CleaveMaking;

/* lower.c: makes the tasks of all steps and chooses their kernels. */
gboolean cleave_program_prepare (CleaveProgram *program,
                                 const CleaveMaking *making,
                                 const CleaveArena *arena,
                                 GError **error);
/* trace.c: names the steps, and makes runs record their times. */
void cleave_program_begin_trace (CleaveProgram *program, const CleaveStorage *storage);
/* io-bindings.c: finds the tensors that may replace the program's own memory. */
void cleave_program_find_bindings (CleaveProgram *program,
                                   const CleaveStorage *storage,
                                   const CleaveGraph *graph,
                                   const gint64 *offsets);
/* Makes the steps use the bound tensor directly, if it has the layout that they expect. */
void cleave_binding_apply (CleaveBinding *binding);
/* fusion.c: finds fused consumers and all waits. Epilogue ops, applied in registers, do not wait
 * for memory. */
void
cleave_program_fuse (CleaveProgram *program, const CleaveMaking *making, const CleaveArena *arena);
/* store-fusion.c: finds the stores that run together. */
void cleave_program_group_stores (CleaveProgram *program);
void cleave_program_store_together (const CleaveProgram *program, const CleaveTask *head);
/* footprints.c: finds the memory that each step reads besides values. Call it once all steps are
 * final. */
void cleave_program_find_footprints (CleaveProgram *program);
/* run.c: runs one step, whose waits have all ended. */
void cleave_program_run_step (const CleaveProgram *program, guint step);
void cleave_task_clear (CleaveTask *task);
