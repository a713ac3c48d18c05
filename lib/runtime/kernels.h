/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "footprints.h"
#include "packed-weights.h"

#define CLEAVE_ALONG_ALL CLEAVE_MAX_RANK
#define CLEAVE_SMALL_STATE 128

typedef struct _CleaveKernelInstance CleaveKernelInstance;
typedef struct _CleaveKernelFamily CleaveKernelFamily;
typedef struct _CleaveFusedConsumer CleaveFusedConsumer;

/* Kernels as the runtime sees them: families of fast code, their instances (one for each step),
 * fused consumers and epilogues.
 *
 * The kinds of epilogue ops, on the value v in a register and an operand w (the element at the same
 * position, or a scalar). */
typedef enum {
  CLEAVE_EPILOGUE_NONE,
  CLEAVE_EPILOGUE_RELU,
  CLEAVE_EPILOGUE_CLIP,
  CLEAVE_EPILOGUE_ADD,
  CLEAVE_EPILOGUE_SUB,
  CLEAVE_EPILOGUE_MUL,
  CLEAVE_EPILOGUE_DIV,
  CLEAVE_EPILOGUE_FUNCTION, /* a function of v, and of scalars in the state of the consumer */
  CLEAVE_EPILOGUE_NORMALIZE /* fma (v - mean, factor, b), with numbers for each channel */
} CleaveEpilogueKind;

/* An epilogue op: a fused consumer cheap enough to be applied in registers before the head's kernel
 * stores. Its result overwrites the head's result, or is an intermediate value of an expression
 * pattern. An example is x * clip (x + 3): the kernel stores only the last value, over x. */
typedef struct
{
  CleaveEpilogueKind op;
  float least, most;              /* CLIP */
  const float *mean, *factor, *b; /* NORMALIZE: one number for each channel */
  guint c;                        /* the dimension of the channels, which are contiguous */
  gint64 pixel;                   /* elements from one pixel to the next */
  guint v, w;                     /* indices of the operands */
  gboolean w_is_one;
  gboolean begins_pattern, w_is_before; /* w is the value with which the pattern began */
  void (*function) (const CleaveFusedConsumer *self, float *v, gint64 n); /* of a FUNCTION: applies
                                                                           * it to n values */
  void (*gate) (float *v,
                gint64 n); /* of a FUNCTION: computes v * f (v) in one pass; NULL: no such code */
} CleaveEpilogueOp;

/* A fused consumer: a step that runs range by range with the step before it, whose result is still
 * in the cache. */
struct _CleaveFusedConsumer
{
  const CleaveKernelFamily *family;
  gconstpointer state;
  const CleaveKernelInstance *instance;
  CleaveEpilogueOp epilogue_op;
};

/* A kernel instance: one step of a program as its kernel sees it. The arena has its final address,
 * so the views are final. */
struct _CleaveKernelInstance
{
  CleaveCall call;
  CleaveView *operands, *results;
  CleaveTensor *
      *constants; /* indexed by operand: the constant, or NULL; valid only during prepare */
  guint n_fused;
  const CleaveFusedConsumer
      *fused;           /* fused consumers in order; their results are laid out as this one's */
  guint n_epilogue_ops; /* number of leading consumers that the kernel applies itself */
};

/* A family of fast kernels. If it does not serve an instance, the op's reference kernel computes
 * the same bits. */
struct _CleaveKernelFamily
{
  /* Prepares an instance. Returns FALSE if the family does not serve it. Does all that may fail or
   * allocate. `n_scratch` is in bytes. */
  gboolean (*prepare) (const CleaveKernelInstance *instance,
                       CleaveWeights *weights,
                       gpointer *state,
                       gsize *n_scratch);
  void (*run) (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch);
  void (*free) (gpointer state);
  /* Computes the elements [begin, end) of the result, counted from its first one. NULL if the
   * family needs scratch or cannot compute parts; then it cannot be a fused consumer. */
  void (*run_part) (gconstpointer state,
                    const CleaveKernelInstance *instance,
                    gint64 begin,
                    gint64 end);
  /* Whether `run` reads an element of an operand before it writes the element of the result at that
   * place. The operand has the strides of the result. True for all families with run_part. */
  gboolean by_elements;
  /* Returns whether run calls cleave_kernel_range_done(); NULL: never. */
  gboolean (*reports_progress) (gconstpointer state);
  /* Returns the kind of epilogue op that the instance can be for the kernel that computes operand
   * `v`, which is then in registers. NULL: the family has no epilogue ops. */
  CleaveEpilogueKind (*epilogue_op) (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     guint v,
                                     CleaveEpilogueOp *epilogue_op);
  /* Returns whether run applies the epilogue ops of its instance; NULL: never. Sets `along`: a
   * vector never crosses the end of a line in that dimension of the result. CLEAVE_ALONG_ALL: it
   * may cross any. */
  gboolean (*does_epilogue) (gconstpointer state,
                             const CleaveKernelInstance *instance,
                             guint *along);
  /* The operand that is packed wherever it is constant, and then not read. It may hold 16-bit
   * floats instead of floats. 0: none. */
  guint packs;
  /* Returns whether run reads this operand rather than its packed copy; NULL: it reads all. */
  gboolean (*reads) (gconstpointer state, guint operand);
  /* Bytes of the state; 0: at most CLEAVE_SMALL_STATE. */
  gsize n_state;
  /* Adds the memory behind pointers in the state that run reads; NULL: none. */
  void (*add_memory) (gconstpointer state, GArray *lines);
};

/* Adds the memory that run reads because of its state. */
static inline void
cleave_kernel_add_memory (const CleaveKernelFamily *family, gconstpointer state, GArray *lines)
{
  if (family == NULL || state == NULL)
    return;
  cleave_memory_lines_add (lines, state, MAX (family->n_state, CLEAVE_SMALL_STATE));
  if (family->add_memory != NULL)
    family->add_memory (state, lines);
}

/* Reports that the elements [begin, end) of the result are complete and not read again, and runs
 * the fused consumers on them. A kernel calls it once for each part of its result. */
static inline void
cleave_kernel_range_done (const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  for (guint i = instance->n_epilogue_ops; i < instance->n_fused; i++)
    {
      const CleaveFusedConsumer *consumer = &instance->fused[i];

      consumer->family->run_part (consumer->state, consumer->instance, begin, end);
    }
}

/* Returns the family that serves a call on this processor; NULL: use the reference kernel. */
const CleaveKernelFamily *cleave_kernel_find (const CleaveCall *call);
/* Returns the level whose kernels run here, and everything else that packed weights depend on. */
char *cleave_kernel_dup_level (void);
/* For tests: return whether a level of x86-64 ("v1", "v3", "v4") runs here, and its family. */
gboolean cleave_kernel_level_runs (const char *level);
const CleaveKernelFamily *cleave_kernel_find_at (const CleaveCall *call, const char *level);
