/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "footprints.h"
#include "packed-weights.h"

#define CLEAVE_ALONG_NONE CLEAVE_MAX_RANK
#define CLEAVE_SMALL_STATE 128

typedef struct _CleaveKernelInstance CleaveKernelInstance;
typedef struct _CleaveKernelFamily CleaveKernelFamily;
typedef struct _CleaveFusedConsumer CleaveFusedConsumer;

/* Interface between the runtime and its kernels: families of fast code, kernel instances (one for
 * each step), fused consumers and epilogue ops. lower.c finds the family of each step and prepares
 * an instance; run.c runs it. The families are defined in lib/runtime/kernels.
 *
 * This enum lists the kinds of epilogue ops. An epilogue op changes the value v in a register. Its
 * second operand w, if there is one, is the element at the same position of another value, or a
 * scalar. */
typedef enum {
  CLEAVE_EPILOGUE_NONE,
  CLEAVE_EPILOGUE_RELU,
  CLEAVE_EPILOGUE_CLIP,
  CLEAVE_EPILOGUE_ADD,
  CLEAVE_EPILOGUE_SUB,
  CLEAVE_EPILOGUE_MUL,
  CLEAVE_EPILOGUE_DIV,
  CLEAVE_EPILOGUE_FUNCTION, /* computes a function of v; scalar operands of the op are in the
                               `state` of the fused consumer */
  CLEAVE_EPILOGUE_NORMALIZE /* fma (v - mean, factor, b), with a mean, a factor and an addend b for
                               each channel */
} CleaveEpilogueKind;

/* An epilogue op: a fused consumer that is cheap enough for the head's kernel to apply in registers
 * before it stores. The result of an epilogue op overwrites the head's result, or is an
 * intermediate value of an expression pattern, which is never stored. Example: the head computes x;
 * the pattern x * clip (x + 3) is two intermediate values and a product, which overwrites x. */
typedef struct
{
  CleaveEpilogueKind op;
  float least, most; /* CLEAVE_EPILOGUE_CLIP: v is clamped to [least, most] */
  /* CLEAVE_EPILOGUE_NORMALIZE: arrays with one number per channel */
  const float *mean, *factor, *b;
  guint c;      /* dimension of the channels; channels are contiguous */
  gint64 pixel; /* distance in memory between two pixels that follow each other, in elements */
  guint v, w;   /* operands of the fused consumer's call, by index: v is the value in a register, w
                   is the second operand */
  gboolean w_is_one;
  /* begins_pattern: the op is the first op of an expression pattern; w_is_before: w is the value
   * that the first op of the pattern reads */
  gboolean begins_pattern, w_is_before;
  void (*function) (const CleaveFusedConsumer *self,
                    float *v,
                    gint64 n); /* CLEAVE_EPILOGUE_FUNCTION: applies the function to n values */
  void (*gate) (float *v, gint64 n); /* CLEAVE_EPILOGUE_FUNCTION f: computes v * f (v) for n values;
                                        NULL: there is no code for this product */
} CleaveEpilogueOp;

/* A fused consumer: a step that runs range by range with the step before it. Each range of that
 * step's result is still in the cache when the consumer reads it. */
struct _CleaveFusedConsumer
{
  const CleaveKernelFamily *family;
  gconstpointer state;
  const CleaveKernelInstance *instance;
  CleaveEpilogueOp epilogue_op;
};

/* A kernel instance: the data that the kernel of one step needs. The views contain final addresses,
 * since a program allocates its arena before it prepares instances. */
struct _CleaveKernelInstance
{
  CleaveCall call;
  CleaveView *operands, *results;
  CleaveTensor **constants; /* indexed by operand: the constant, or NULL if the operand is not
                               constant; set during `prepare` only */
  guint n_fused;
  const CleaveFusedConsumer *fused; /* fused consumers in the order of their steps; all their
                                       results have the strides of result 0 */
  guint n_epilogue_ops; /* number of fused consumers, from the first on, that the kernel applies in
                           registers */
};

/* A family of fast kernels. If the family does not serve an instance, the op's reference kernel
 * computes the result, with the same bits. */
struct _CleaveKernelFamily
{
  /* Prepares an instance and sets its `state`. Returns FALSE if the family does not serve the
   * instance. Everything that may fail or allocate happens here. Sets `n_scratch` to the bytes of
   * scratch memory that a run needs. */
  gboolean (*prepare) (const CleaveKernelInstance *instance,
                       CleaveWeights *weights,
                       gpointer *state,
                       gsize *n_scratch);
  void (*run) (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch);
  void (*free) (gpointer state);
  /* Computes the elements [begin, end) of the result, numbered by their order in memory from the
   * result's first element. The field `run_part` is NULL if the family needs scratch or cannot
   * compute a part of the result; steps of the family then cannot be fused consumers. */
  void (*run_part) (gconstpointer state,
                    const CleaveKernelInstance *instance,
                    gint64 begin,
                    gint64 end);
  /* TRUE: `run` reads element i of an operand before it writes element i of the result, if the
   * operand and the result have the same strides. All families with `run_part` read in this
   * order. */
  gboolean by_elements;
  /* Returns whether `run` calls cleave_kernel_range_done() for each range of the result. If the
   * field `reports_progress` is NULL, `run` never calls cleave_kernel_range_done(). */
  gboolean (*reports_progress) (gconstpointer state);
  /* Fills `epilogue_op` if the instance can be an epilogue op of a kernel that has operand `v` in a
   * register. Returns the kind of op, or CLEAVE_EPILOGUE_NONE if the instance cannot be an epilogue
   * op. If the field `epilogue_op` is NULL, no instance can be an epilogue op. */
  CleaveEpilogueKind (*epilogue_op) (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     guint v,
                                     CleaveEpilogueOp *epilogue_op);
  /* Returns whether `run` applies the epilogue ops of the instance. Sets `along` to the only
   * dimension of the result that may contain the channels of a NORMALIZE op, or to
   * CLEAVE_ALONG_NONE if `run` applies no NORMALIZE op. If the field `does_epilogue` is NULL, `run`
   * never applies epilogue ops. */
  gboolean (*does_epilogue) (gconstpointer state,
                             const CleaveKernelInstance *instance,
                             guint *along);
  /* Index of the operand that `prepare` packs if it is constant; `run` then reads only the packed
   * copy. The operand may hold 16-bit floats instead of floats. 0: no operand. */
  guint packs;
  /* Returns whether `run` reads this operand's own memory, not a packed copy. If the field `reads`
   * is NULL, `run` reads the memory of all operands. */
  gboolean (*reads) (gconstpointer state, guint operand);
  /* Size of the state in bytes. A family may leave `n_state` 0 if the state has at most
   * CLEAVE_SMALL_STATE bytes. */
  gsize n_state;
  /* Appends to `lines` (CleaveMemoryLines) the cache lines that `run` reads through pointers in the
   * state. NULL: the state contains no pointers to such memory. */
  void (*add_memory) (gconstpointer state, GArray *lines);
};

/* Appends to `lines` (CleaveMemoryLines) the cache lines of a kernel's state, and the cache lines
 * that `run` reads through pointers in the state. */
static inline void
cleave_kernel_add_memory (const CleaveKernelFamily *family, gconstpointer state, GArray *lines)
{
  if (family == NULL || state == NULL)
    return;
  cleave_memory_lines_add (lines, state, MAX (family->n_state, CLEAVE_SMALL_STATE));
  if (family->add_memory != NULL)
    family->add_memory (state, lines);
}

/* Runs fused consumers for the elements [begin, end) of the kernel's result: all consumers except
 * the epilogue ops, which the kernel has already applied. A kernel calls this function once for
 * each range of its result. It has then stored all elements of the range and will not read them
 * again. */
static inline void
cleave_kernel_range_done (const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  for (guint i = instance->n_epilogue_ops; i < instance->n_fused; i++)
    {
      const CleaveFusedConsumer *consumer = &instance->fused[i];

      consumer->family->run_part (consumer->state, consumer->instance, begin, end);
    }
}

/* Returns the family that serves a call on this processor. NULL: use the reference kernel. */
const CleaveKernelFamily *cleave_kernel_find (const CleaveCall *call);
/* Returns a text that names the layout of packed weights: the name of the level in use, and " with
 * vnni" if the processor has AVX-512 VNNI. */
char *cleave_kernel_dup_level (void);
/* For tests. cleave_kernel_level_runs() returns whether the level `level` ("v1", "v3", "v4" on
 * x86-64) runs on this processor. cleave_kernel_find_at() returns the family of this level for a
 * call, or NULL. */
gboolean cleave_kernel_level_runs (const char *level);
const CleaveKernelFamily *cleave_kernel_find_at (const CleaveCall *call, const char *level);
