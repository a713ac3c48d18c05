/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The graph in the form that a bundle needs: values that lie in memory as rows of pixels, and steps
 * that compute them row by row. model.c makes it from the prepared graph, the planner (plan.h)
 * groups the steps into segments, and the writers print values and steps.
 *
 * A value may be a view of another value. For example, the result of a Reshape has the bytes of its
 * operand, divided into other rows. A step can read a view only when the base of the view is whole.
 *
 *   Conv [1, 8, 4, 4] -> Flatten -> Gemm     value 0: 4 rows, 4 columns, 8 channels; value 1: a
 * view, 1 row */

#include <cleave/cleave-bundle.h>

#include "layer.h"
#include "op.h"

#define CLEAVE_BUNDLE_MAX_OPERANDS 2
#define CLEAVE_BUNDLE_NONE G_MAXUINT

/* The memory in which a value lies during a run. */
typedef enum {
  CLEAVE_BUNDLE_ARENA,
  CLEAVE_BUNDLE_INPUT,  /* memory of the caller, which the bundle only reads */
  CLEAVE_BUNDLE_OUTPUT, /* memory of the caller, to which the bundle writes */
} CleaveBundlePlace;

typedef struct
{
  const CleaveResult *result;
  CleaveBundleImage image;
  guint base; /* index of the value that owns the bytes: this value or, if it is a view, its base */
  guint producer;    /* step that computes the value; CLEAVE_BUNDLE_NONE: the value is an input of
                      * the graph */
  guint last_reader; /* last step that reads this value or a view of it; for an output in the arena,
                      * the number of steps */
  CleaveBundlePlace place; /* memory in which the base lies */
  guint port; /* index of the input or output, if the value is in the caller's memory */
} CleaveBundleValue;

typedef struct
{
  /* node of the step; NULL: the step reads rows of an input from the caller */
  const CleaveNode *node;
  guint result; /* index of the value that the step computes */
  guint n_operands;
  guint operands[CLEAVE_BUNDLE_MAX_OPERANDS]; /* indices of the values that the step reads */
  guint slots[CLEAVE_BUNDLE_MAX_OPERANDS];    /* indices, among the node's operands, of the variable
                                               * operands */
  CleaveDimMap rows[CLEAVE_BUNDLE_MAX_OPERANDS], columns[CLEAVE_BUNDLE_MAX_OPERANDS];
  CleaveBundleLayer *layer;
  const char *kernel; /* kernel function; NULL: the step reads rows of an input from the caller */
  gboolean is_sum; /* row r of the result is the sum of rows 0 … r of operand 0; the next step reads
                    * only the last row */
  gboolean mixes_images; /* an image of the result needs several images of an operand, so images
                          * cannot run one by one */
  gint64 macs;
} CleaveBundleStep;

/* A use of a value: operand number `operand` of step `step`. */
typedef struct
{
  guint step, operand;
} CleaveBundleReader;

/* A state: an input whose value is an output of the previous run. */
typedef struct
{
  guint input, output;    /* indices of the input and the output */
  gint64 offset, n_bytes; /* offset: begin of the state in the memory of all states; n_bytes: size
                           * of the state, in bytes */
  gint64 start;           /* value of each element before the first run */
} CleaveBundleKept;

/* Quantization of an input or output: an integer stands for the real number (integer - zero) *
 * scale. */
typedef struct
{
  gboolean is_known;
  float scale;
  gint64 zero;
} CleaveBundleQuantization;

typedef struct
{
  CleaveGraph *graph;  /* the prepared graph */
  CleaveGraph *source; /* the graph before it was prepared; the test of the bundle runs it */
  GArray *values;      /* CleaveBundleValue: operands and results of the steps */
  GArray *steps;       /* CleaveBundleStep: the steps in the order in which they run */
  guint *outputs;      /* indices of the values that are outputs of the graph */
  CleaveBundleReader *readers; /* uses of all values, first all uses of value 0, then of value 1, …;
                                * the uses of a value are in the order of the steps */
  guint *first_reader; /* indexed by value: index in `readers` of the value's first use; one more
                        * element is the length of `readers` */
  CleaveBundlePool *pool;
  GArray *states;     /* CleaveBundleKept: the states */
  gint64 state_bytes; /* bytes of the memory of all states */
  /* scale and zero point of each input, and of each output */
  CleaveBundleQuantization *input_scales, *output_scales;
} CleaveBundleModel;

/* Lowers a graph to values and steps. Fails with the name of the first node that a bundle cannot
 * compute. A layer calls CMSIS-NN if the operands, the result and the context buffer of the call
 * have at most `max_call_bytes`. If `max_call_bytes` is negative, no layer calls CMSIS-NN.
 * `by_memory`: order of the steps (cleave_bundle_order_nodes() in model-parts.h). */
CleaveBundleModel *cleave_bundle_model_new (CleaveGraph *graph,
                                            const CleaveBundleOptions *options,
                                            gint64 max_call_bytes,
                                            gboolean by_memory,
                                            GError **error);
void cleave_bundle_model_free (CleaveBundleModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveBundleModel, cleave_bundle_model_free)

static inline CleaveBundleValue *
cleave_bundle_value (const CleaveBundleModel *model, guint i)
{
  return &g_array_index (model->values, CleaveBundleValue, i);
}

static inline CleaveBundleStep *
cleave_bundle_step (const CleaveBundleModel *model, guint i)
{
  return &g_array_index (model->steps, CleaveBundleStep, i);
}

static inline gint64
cleave_bundle_row_bytes (const CleaveBundleValue *value)
{
  return value->image.columns * (gint64) value->image.pixel_bytes;
}

/* Returns the bytes of all images of a value. */
static inline gint64
cleave_bundle_value_bytes (const CleaveBundleValue *value)
{
  return value->image.images * value->image.rows * cleave_bundle_row_bytes (value);
}

/* Returns the MACs of a run without recomputed values. */
static inline gint64
cleave_bundle_count_macs (const CleaveBundleModel *model)
{
  gint64 macs = 0;

  for (guint i = 0; i < model->steps->len; i++)
    macs += cleave_bundle_step (model, i)->macs;
  return macs;
}

/* Name of the kernel of the steps that only reserve a context buffer for a call of CMSIS-NN. */
#define CLEAVE_BUNDLE_CONTEXT "cleave_cmsis_context"

static inline gboolean
cleave_bundle_is_context (const CleaveBundleStep *step)
{
  return g_strcmp0 (step->kernel, CLEAVE_BUNDLE_CONTEXT) == 0;
}

/* Lists the uses of each value of the model: sets `readers` and `first_reader`. */
void cleave_bundle_list_readers (CleaveBundleModel *model);
/* Returns the rows of an operand that row `row` of a step's result needs, clipped to the
 * operand. */
CleaveSpan cleave_bundle_step_rows (const CleaveBundleModel *model,
                                    const CleaveBundleStep *step,
                                    guint operand,
                                    gint64 row);
/* Returns the columns of an operand that `columns` of a step's result need, clipped to the
 * operand. */
CleaveSpan cleave_bundle_step_columns (const CleaveBundleModel *model,
                                       const CleaveBundleStep *step,
                                       guint operand,
                                       CleaveSpan columns);

/* Returns whether a step reads the value, or the value is an output. */
gboolean cleave_bundle_is_read (const CleaveBundleModel *model, guint value);
/* Returns whether result 0 of a node is a view: its bytes in memory are the bytes of operand 0, as
 * in a Reshape. */
gboolean cleave_bundle_is_view (const CleaveNode *node);
/* Returns whether the bytes of a value are in row-major order of its logical shape. Dimensions of
 * extent 1 are ignored. */
gboolean cleave_bundle_is_row_major (const CleaveResult *value);
/* Replaces nodes for which a bundle has no kernel by nodes with kernels that compute the same
 * bits. */
gboolean cleave_bundle_prepare (CleaveGraph *graph, GError **error);
/* Changes the element types of inputs and outputs that are not states, and sets their scales. */
gboolean
cleave_bundle_set_io_type (CleaveBundleModel *model, CleaveBundleIoType type, GError **error);
/* Returns the state whose input (if `is_input`) or output (if not) has the index `port`. Returns
 * NULL if there is none. */
const CleaveBundleKept *
cleave_bundle_find_kept (const CleaveBundleModel *model, guint port, gboolean is_input);
/* Computes all nodes that depend on constants alone, and makes constants dense. */
gboolean cleave_bundle_fold_constants (CleaveGraph *graph, GError **error);
