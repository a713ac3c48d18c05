/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

#include "../memory/buffers.h"
#include "footprints.h"
#include "kernels.h"
#include "plan/record.h"
#include "plan/waits.h"

/* A step made ready to run: all that `run` looks at. */
typedef struct
{
  CleaveStepKind kind;
  char *name;                       /* of the node, input or output */
  guint index;                      /* LOAD, STORE: of the input or output */
  const CleaveKernelFamily *family; /* NULL: the op's compute */
  gpointer state;                   /* the family's */
  CleaveRange *part;                /* LOAD: of it */
  gboolean streams;                 /* COPY, STORE: past the cache */
  gboolean is_fused;                /* it is done part by part along with a step before it */
  const guint *together;            /* STORE: steps that are done at once, this one first */
  guint n_together;
  CleaveKernelInstance instance; /* operand 0 and result 0 of anything that copies */
} CleaveTask;

/* What a step does: the op of the node that it computes, or its kind. */
static inline const char *
cleave_step_kind_name (CleaveStepKind kind, const CleaveOp *op)
{
  static const char *const names[] = { [CLEAVE_STEP_LOAD] = "load",
                                       [CLEAVE_STEP_COPY] = "copy",
                                       [CLEAVE_STEP_JOIN] = "join",
                                       [CLEAVE_STEP_STORE] = "store" };

  return kind == CLEAVE_STEP_COMPUTE ? op->name : names[kind];
}

/* Where a view of a step points to, and where to in the program's own memory. */
typedef struct
{
  gpointer *data;
  char *own;
} CleavePatch;

typedef struct
{
  char *name;
  CleaveTensorType type;
  CleaveTensor *tensor; /* what is bound, or NULL */
  CleaveView view;      /* of the tensor */
  GArray *patches;      /* CleavePatch: all that touch its memory; NULL: that is not its alone */
  char *memory;         /* where it lies in the arena, and how */
  gint64 stride[CLEAVE_MAX_RANK];
  gboolean direct; /* the steps work on the tensor itself */
} CleaveBinding;

/* How many steps of a sequence are done, and whether a thread is at it; each on a cache line of its
 * own. */
typedef struct
{
  _Alignas(64) _Atomic guint n_done;
  _Atomic gboolean taken;
} CleaveProgress;

/* When a step ran, and who ran it. */
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

  guint n_tasks; /* with the joins, at which one only waits */
  CleaveTask *tasks;
  CleaveFusedConsumer *fused; /* of all tasks */
  CleaveSchedule *schedule;
  CleaveWaits waits; /* for values, and for memory that is used again */
  CleaveFootprints footprints;
  CleaveProgress *progress; /* of each thread */

  CleaveWeights *weights;
  GPtrArray *constants; /* CleaveTensor that steps read as they are */
  GBytes *bytes;        /* in which packed weights lie, if not in memory of their own */
  char *arena;
  int arena_fd;   /* of memory that is shared; else -1 */
  char **scratch; /* of each thread */

  CleaveTraceEvent *events; /* of each task; NULL: nobody asked for them */
  char **names;             /* of each task, with the events */
};

/* Of what a program is made in place of searching and packing, or what was found by that, for the
 * next time. */
typedef struct
{
  gboolean is_known; /* FALSE: the others are found, and told here */
  CleaveRecord record;
  GArray *packed; /* CleavePackedWeight; found ones belong to the program */
} CleaveRecipe;

void cleave_recipe_clear (CleaveRecipe *recipe);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRecipe, cleave_recipe_clear)

/* As cleave_program_new(), with as many threads as the options say or the recipe is for.  `bytes`,
 * unless NULL, is held as long as the program is there. */
CleaveProgram *cleave_program_new_by (const CleaveGraph *graph,
                                      const CleaveProgramOptions *options,
                                      CleaveRecipe *recipe,
                                      GBytes *bytes,
                                      GError **error);

/* What a program is made of. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveStorage *storage;
  gboolean reference;   /* reference kernels only */
  gboolean given;       /* the graph goes with this */
  CleaveRecipe *recipe; /* NULL: nobody wants to know */
} CleaveMaking;

/* prepare.c: what each step works on, and the kernels that do it. */
gboolean cleave_program_prepare (CleaveProgram *program,
                                 const CleaveMaking *making,
                                 const CleaveArena *arena,
                                 GError **error);
/* trace.c: names the steps, whose times are then kept. */
void cleave_program_begin_trace (CleaveProgram *program, const CleaveStorage *storage);
/* I/O bindings.c: which tensors may take the place of the program's own memory. */
void cleave_program_find_bindings (CleaveProgram *program,
                                   const CleaveStorage *storage,
                                   const CleaveGraph *graph,
                                   const gint64 *offsets);
/* Lets the steps work on the tensor that is bound, if it lies as they expect it. */
void cleave_binding_apply (CleaveBinding *binding);
/* fusion.c: which steps are done part by part along with the ones before them, and what steps wait
 * for: those that are done in registers, for no memory. */
void
cleave_program_fuse (CleaveProgram *program, const CleaveMaking *making, const CleaveArena *arena);
/* stores.c: which stores are done together. */
void cleave_program_group_stores (CleaveProgram *program);
void cleave_program_store_together (const CleaveProgram *program, const CleaveTask *head);
/* footprints.c: what each step reads besides values, when all of them are as they will be run. */
void cleave_program_find_footprints (CleaveProgram *program);
/* run.c: one step, which nothing that it waits for is behind. */
void cleave_program_run_step (const CleaveProgram *program, guint step);
void cleave_task_clear (CleaveTask *task);
