/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random models. A trial has values and nodes, which a tape of random choices decides. trial-grow.c
 * makes a trial, trial-write.c writes the trial as an ONNX model, and judge.c computes the model in
 * several ways.
 *
 * Nothing here uses the op records: ops, types and shapes are implemented independently, from the
 * ONNX standard. */

#include <glib.h>

#include "tape.h"

#define TRIAL_MAX_RANK 8
#define TRIAL_MAX_ATTRS 12

/* Element types; the numbers are those of ONNX's TensorProto.DataType. */
enum {
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  BOOL = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
};

#define SET(element) (1u << (element))
#define FLOATS (SET (F32) | SET (F64) | SET (F16) | SET (BF16))
#define NO_BF16 (SET (F32) | SET (F64) | SET (F16))
#define SIGNED (SET (I8) | SET (I16) | SET (I32) | SET (I64))
#define UNSIGNED (SET (U8) | SET (U16) | SET (U32) | SET (U64))
#define WIDE (SET (I32) | SET (I64) | SET (U32) | SET (U64))
#define BYTES (SET (I8) | SET (U8))
#define INDICES (SET (I32) | SET (I64))
#define NUMBERS (FLOATS | SIGNED | UNSIGNED)
#define ALL (NUMBERS | SET (BOOL))

typedef struct
{
  guint element, rank;
  gint64 dim[TRIAL_MAX_RANK];
} TrialType;

typedef enum { TRIAL_INPUT, TRIAL_CONSTANT, TRIAL_RESULT, TRIAL_ABSENT } TrialKind;

typedef struct
{
  TrialKind kind;
  TrialType type;
  gpointer data; /* elements of an input or a constant, set when the trial is complete */
  gsize n_bytes;
  guint seed; /* seed of the elements if `data` is not given */
  int mode;
  gint64 min, max; /* smallest and largest element in the mode MODE_BETWEEN */
  gboolean fixed;  /* the value must be constant, since an op that reads it requires a constant */
  guint n_uses;
} TrialValue;

typedef struct
{
  const char *name;
  char kind; /* type of the attribute: i integer, f float, s string, t tensor; I and F are lists */
  gint64 i;
  double f;
  const char *s;
  gint64 *ints;
  float *floats;
  guint n; /* kinds I and F: number of elements of the list; kind t: index of the value that has the
              elements of the tensor */
} TrialAttr;

typedef struct
{
  const char *op;
  /* indices of values in `values`; index 0 stands for an absent operand or result */
  guint *in, *out;
  guint n_in, n_out;
  TrialAttr attrs[TRIAL_MAX_ATTRS];
  guint n_attrs;
} TrialNode;

typedef struct
{
  Tape *tape;
  GArray *values, *nodes, *outputs; /* arrays of TrialValue, of TrialNode, and of guint: the indices
                                       of the values that are outputs */
  GPtrArray *memory;
  gint64 max_elements, max_work, work;
  guint opset, max_nodes;
  gboolean hostile; /* values may be NaN, infinite, huge or tiny */
  gboolean empty;   /* extents may be 0 */
  gboolean large;   /* the graph has enough work for several threads */
  gboolean deep;    /* the graph is a chain of values of some KiB, and a split into strips reduces
                     * its memory */
  gboolean qdq;     /* float results are quantized and dequantized again */
  gboolean failed;  /* TRUE: the node that is being added is illegal */
  guint tail; /* number of the tail, 1 … TRIAL_N_TAILS; 0: no tail. A tail is a few last nodes whose
                 shapes depend on data */
  guint tail_of; /* index of the float32 value that the nodes of the tail read */
} Trial;

#define TRIAL_N_TAILS 6

/* An op of which a trial can contain nodes. `grow` adds one or more nodes to the trial, or sets
 * `failed`. */
typedef struct
{
  const char *op; /* name of the op in ONNX */
  void (*grow) (Trial *trial, const char *op);
  guint weight;
} TrialOp;

extern const TrialOp *const trial_tables[]; /* a list of tables, which ends with NULL; each table
                                               ends with an entry whose `op` is NULL */

void trial_init (Trial *trial, Tape *tape);
void trial_clear (Trial *trial);
/* Adds random nodes until the trial has enough nodes, and then declares some of the values as
 * outputs. */
void trial_grow (Trial *trial);
char *trial_print (const Trial *trial);
/* Returns the bytes of an ONNX model. If `all_inputs` is TRUE, constants become inputs, except
 * constants whose values an op needs. */
GBytes *trial_write (const Trial *trial, gboolean all_inputs);
gboolean trial_is_input (const TrialValue *value, gboolean all_inputs);

/* The tables of ops call the functions below. */

/* Returns a number from 0 to n - 1; 0 is the simplest choice. */
#define pick(trial, n) tape_draw ((trial)->tape, (guint) (n))
#define chance(trial, percent) tape_chance ((trial)->tape, (percent))
gint64 pick_between (Trial *trial, gint64 min, gint64 max);
gint64 pick_extent (Trial *trial);
guint pick_element (Trial *trial, guint set);
double pick_real (Trial *trial, double min, double max);
TrialType pick_type (Trial *trial, guint set, guint min_rank, guint max_rank);
gint64 maybe_negative (Trial *trial, gint64 axis, guint rank);

gint64 type_n_elements (const TrialType *type);
gboolean type_equal (const TrialType *a, const TrialType *b);
TrialType type_of (const Trial *trial, guint value);
TrialType type_make (guint element,
                     guint rank,
                     ...); /* the arguments after `rank` are the extents, each a gint64 */

void add_image (Trial *trial);
/* Returns a value, existing or new, whose element type is in `set` and whose rank is in the range.
 */
guint use_any (Trial *trial, guint set, guint min_rank, guint max_rank);
/* Returns a value of exactly this type: an existing value, a new input, or a new constant. */
guint use_type (Trial *trial, const TrialType *type);
guint use_new (Trial *trial, const TrialType *type, int mode);
/* Returns a value of integers from min to max, both included. */
guint use_indices (Trial *trial, const TrialType *type, gint64 min, gint64 max);
/* The next six functions return constants, on which the shape of a result may depend. */
guint use_ints (Trial *trial, const gint64 *v, guint n);
guint use_int (Trial *trial, gint64 v);
guint use_floats (Trial *trial, const float *v, guint n);
guint use_float (Trial *trial, float v);
guint use_number (Trial *trial, guint element, gint64 v);
guint use_fixed (Trial *trial, const TrialType *type, int mode);
/* Returns a new scalar: an input or a constant. */
guint use_scalar (Trial *trial, guint element, int mode);

void add_node (Trial *trial, const char *op);
void add_in (Trial *trial, guint value);
guint add_out (Trial *trial, const TrialType *type);
void set_int (Trial *trial, const char *name, gint64 v);
void set_float (Trial *trial, const char *name, double v);
void set_string (Trial *trial, const char *name, const char *v);
void set_ints (Trial *trial, const char *name, const gint64 *v, guint n);
void set_floats (Trial *trial, const char *name, const float *v, guint n);
void set_tensor (Trial *trial, const char *name, guint value);
/* Adds `n` multiplications to the estimated work of the trial. Too much work makes the current node
 * fail. */
void add_work (Trial *trial, gint64 n);
gboolean need (Trial *trial, gboolean what);

/* Modes: the range of the random elements of a value, and whether they include NaN and infinity. */
enum {
  MODE_SMALL,
  MODE_REAL,
  MODE_POSITIVE,
  MODE_WIDE,
  MODE_SPECIALS,
  MODE_ONLY_SPECIALS,
  MODE_BETWEEN,
  MODE_ANY = -1
};
gsize element_size (guint element);
const char *element_name (guint element);
gpointer make_elements (const TrialValue *value);
