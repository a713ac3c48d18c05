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

/* What an epilogue op makes of v, which is there, and w, what lies in the same place of another
 * operand or is one value for all. */
typedef enum {
  CLEAVE_EPILOGUE_NONE,
  CLEAVE_EPILOGUE_RELU,
  CLEAVE_EPILOGUE_CLIP,
  CLEAVE_EPILOGUE_ADD,
  CLEAVE_EPILOGUE_SUB,
  CLEAVE_EPILOGUE_MUL,
  CLEAVE_EPILOGUE_DIV,
  CLEAVE_EPILOGUE_FUNCTION, /* of v, and one value for all, by a loop of the op's own */
  CLEAVE_EPILOGUE_NORMALISE /* fma (v - mean, factor, b), each channel with its own */
} CleaveEpilogueKind;

/* A fused consumer that is so little that the head can do it in registers before it stores.  It
 * overwrites what the head makes, or is on an expression pattern, as from x to x * clip (x + 3):
 * what is made on the way is never stored, and in the end x is overwritten. */
typedef struct
{
  CleaveEpilogueKind op;
  float least, most;              /* CLIP */
  const float *mean, *factor, *b; /* NORMALISE: of each channel */
  guint c;                        /* the dimension of the channels, which lie side by side */
  gint64 pixel;                   /* elements from one to the next */
  guint v, w;                     /* operands */
  gboolean w_is_one;
  gboolean begins_pattern, w_is_before; /* w is the v with which the expression pattern began */
  void (*function) (const CleaveFusedConsumer *self, float *v, gint64 n); /* FUNCTION: of n */
  void (*gate) (float *v, gint64 n); /* FUNCTION: v times it, at once; NULL: there is none */
} CleaveEpilogueOp;

/* A step that is done part by part along with the one before it, as long as what that makes is in
 * the cache. */
struct _CleaveFusedConsumer
{
  const CleaveKernelFamily *family;
  gconstpointer state;
  const CleaveKernelInstance *instance;
  CleaveEpilogueOp epilogue_op;
};

/* One step of a program as a kernel sees it.  The arena lies where it will lie, so the views are
 * final. */
struct _CleaveKernelInstance
{
  CleaveCall call;
  CleaveView *operands, *results;
  CleaveTensor **constants; /* for each operand the constant that it is, or NULL; to prepare only */
  guint n_fused;
  const CleaveFusedConsumer *fused; /* in order; their results lie as this one's does */
  guint n_epilogue_ops;             /* of the first of them, which the kernel does itself */
};

/* A family of fast kernels.  Where it does not serve a kernel instance, the op's own compute runs:
 * the bits are the same. */
struct _CleaveKernelFamily
{
  /* FALSE: not this kernel instance.  All that may fail or allocate happens here; `n_scratch` is in
   * bytes. */
  gboolean (*prepare) (const CleaveKernelInstance *instance,
                       CleaveWeights *weights,
                       gpointer *state,
                       gsize *n_scratch);
  void (*run) (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch);
  void (*free) (gpointer state);
  /* As run, for the elements of the result that lie in [begin, end), counted in elements from its
   * first.  NULL, for a family that cannot or needs scratch: it does not follow. */
  void (*run_part) (gconstpointer state,
                    const CleaveKernelInstance *instance,
                    gint64 begin,
                    gint64 end);
  /* Whether run reads an operand that lies as the result does element by element, each before it
   * writes the element there; so does what has run_part. */
  gboolean by_elements;
  /* Whether run calls cleave_kernel_range_done; NULL: never. */
  gboolean (*reports_progress) (gconstpointer state);
  /* What it is as an epilogue op of the operand `v`; NULL: none. */
  CleaveEpilogueKind (*epilogue_op) (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     guint v,
                                     CleaveEpilogueOp *epilogue_op);
  /* Whether run does the epilogue ops of its kernel instance; NULL: never.  A vector never goes
   * beyond a line of the result's dimension `along`; CLEAVE_ALONG_ALL: it may go along any. */
  gboolean (*does_epilogue) (gconstpointer state,
                             const CleaveKernelInstance *instance,
                             guint *along);
  /* The operand that is packed, and not read, wherever it is a constant; that may hold 16-bit
   * floats in place of floats.  0: there is none. */
  guint packs;
  /* Whether run reads this operand, rather than what was packed of it; NULL: it reads all. */
  gboolean (*reads) (gconstpointer state, guint operand);
  /* Bytes of the state; 0: no more than CLEAVE_SMALL_STATE. */
  gsize n_state;
  /* Adds what run reads of what the state points to, and has for itself; NULL: nothing. */
  void (*add_memory) (gconstpointer state, GArray *lines);
};

/* Adds what run reads of a state. */
static inline void
cleave_kernel_add_memory (const CleaveKernelFamily *family, gconstpointer state, GArray *lines)
{
  if (family == NULL || state == NULL)
    return;
  cleave_memory_lines_add (lines, state, MAX (family->n_state, CLEAVE_SMALL_STATE));
  if (family->add_memory != NULL)
    family->add_memory (state, lines);
}

/* To be called by a kernel once for each part of its result, when all elements in [begin, end) of
 * it are there and not read again. */
static inline void
cleave_kernel_range_done (const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  for (guint i = instance->n_epilogue_ops; i < instance->n_fused; i++)
    {
      const CleaveFusedConsumer *consumer = &instance->fused[i];

      consumer->family->run_part (consumer->state, consumer->instance, begin, end);
    }
}

/* The family that serves a call here, or NULL: its reference kernel. */
const CleaveKernelFamily *cleave_kernel_find (const CleaveCall *call);
/* The level whose kernels run here, and what packed weights besides depend on. */
char *cleave_kernel_dup_level (void);
/* For tests: whether a level of x86-64 ("v1", "v3", "v4") runs here, and its family. */
gboolean cleave_kernel_level_runs (const char *level);
const CleaveKernelFamily *cleave_kernel_find_at (const CleaveCall *call, const char *level);
