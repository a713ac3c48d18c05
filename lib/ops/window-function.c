/* SPDX-License-Identifier: GPL-2.0-or-later */

/* HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix, of opset 17: tables for signal
 * processing, computed from attributes alone. Elements are computed in double and rounded once. */

#include <math.h>

#include "move.h"

#define MAKES_NUMBERS                                                                              \
  (CLEAVE_ELEMENTS_FLOAT | CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_INT16) |  \
   CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64) |                         \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16) |                        \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT32) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT64))

static gboolean
check_output (CleaveElement element, GError **error)
{
  if ((CLEAVE_ELEMENT_BIT (element) & MAKES_NUMBERS) != 0)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "output_datatype cannot be %s",
                      cleave_element_get_name (element));
}

static void
store (const CleaveView *y, gint64 offset, double value)
{
  CleaveView one = { .type = { .element = y->type.element } };
  guint64 bytes;

  one.data = &bytes;
  cleave_move_from_double (one.type.element, value, &bytes);
  cleave_move_element (y, offset, &one, 0);
}

/* The code below defines the ops HannWindow, HammingWindow and BlackmanWindow. */

static const CleaveAttr window_attrs[] = {
  { "size", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveWindowFunctionAttrs, size), .fallback = -1,
    CLEAVE_AT_LEAST (0), .flags = CLEAVE_ATTR_OPERAND_0 | CLEAVE_ATTR_SCALAR },
  { "periodic", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveWindowFunctionAttrs, periodic),
    .fallback = 1 },
  { "output_datatype", CLEAVE_ATTR_ELEMENT,
    CLEAVE_FIELD (CleaveWindowFunctionAttrs, output_datatype), .fallback = CLEAVE_FLOAT32 },
  { 0 },
};

static gboolean
infer_window (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveWindowFunctionAttrs *a = call->attrs;

  results[0] = CLEAVE_TYPE (a->output_datatype, a->size);
  return check_output (a->output_datatype, error);
}

/* Computes a window: element i is first - second * cos (2 pi i / n) + third * cos (4 pi i / n). n
 * is the size of a periodic window, or the size of a symmetric window minus 1. */
static void
compute_window (
    const CleaveCall *call, const CleaveView *y, double first, double second, double third)
{
  const CleaveWindowFunctionAttrs *a = call->attrs;
  gint64 n = a->periodic ? a->size : MAX (a->size - 1, 1);

  for (gint64 i = 0; i < a->size; i++)
    {
      double angle = 2 * G_PI * (double) i / (double) n;

      store (y, i * y->stride[0], first - second * cos (angle) + third * cos (2 * angle));
    }
}

static void
compute_hann (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  compute_window (call, &results[0], 0.5, 0.5, 0);
}

static void
compute_hamming (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  compute_window (call, &results[0], 25. / 46, 21. / 46, 0);
}

static void
compute_blackman (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  compute_window (call, &results[0], 0.42, 0.5, 0.08);
}

#define WINDOW(word, onnx_name)                                                                    \
  const CleaveOp cleave_op_##word##_window = {                                                     \
    .name = onnx_name,                                                                             \
    .operands = (const char *const[]){ NULL },                                                     \
    .results = (const char *const[]){ "output", NULL },                                            \
    .attrs_size = sizeof (CleaveWindowFunctionAttrs),                                              \
    .attrs = window_attrs,                                                                         \
    .infer = infer_window,                                                                         \
    .work = cleave_work_once,                                                                      \
    .compute = compute_##word,                                                                     \
  };

WINDOW (hann, "HannWindow")
WINDOW (hamming, "HammingWindow")
WINDOW (blackman, "BlackmanWindow")

/* The code below defines the op MelWeightMatrix. */

static const CleaveAttr mel_attrs[] = {
  { "num_mel_bins", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveMelAttrs, num_mel_bins), .fallback = -1,
    CLEAVE_AT_LEAST (0), .flags = CLEAVE_ATTR_OPERAND_0 | CLEAVE_ATTR_SCALAR },
  { "dft_length", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveMelAttrs, dft_length), .fallback = -1,
    CLEAVE_AT_LEAST (0), .onnx_operand = 1, .flags = CLEAVE_ATTR_SCALAR },
  { "sample_rate", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveMelAttrs, sample_rate), .fallback = -1,
    CLEAVE_AT_LEAST (1), .onnx_operand = 2, .flags = CLEAVE_ATTR_SCALAR },
  { "lower_edge_hertz", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveMelAttrs, lower_edge_hertz),
    .fallback = -1, .onnx_operand = 3 },
  { "upper_edge_hertz", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveMelAttrs, upper_edge_hertz),
    .fallback = -1, .onnx_operand = 4 },
  { "output_datatype", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveMelAttrs, output_datatype),
    .fallback = CLEAVE_FLOAT32 },
  { 0 },
};

static gboolean
infer_mel (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveMelAttrs *a = call->attrs;

  if (!(a->lower_edge_hertz >= 0 && a->lower_edge_hertz < a->upper_edge_hertz))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "lower_edge_hertz must be at least 0 and below upper_edge_hertz, "
                        "but they are %g and %g",
                        a->lower_edge_hertz, a->upper_edge_hertz);
  results[0] = CLEAVE_TYPE (a->output_datatype, a->dft_length / 2 + 1, a->num_mel_bins);
  return check_output (a->output_datatype, error);
}

/* Returns the bin of the spectrum at which triangle i begins. On the mel scale, these bins are
 * equally far apart. */
static gint64
find_edge (const CleaveMelAttrs *a, gint64 i)
{
  double low = 2595 * log10 (1 + a->lower_edge_hertz / 700);
  double high = 2595 * log10 (1 + a->upper_edge_hertz / 700);
  double mel = low + (high - low) / (double) (a->num_mel_bins + 2) * (double) i;
  double hertz = 700 * (pow (10, mel / 2595) - 1);

  return (gint64) floor ((double) (a->dft_length + 1) * hertz / (double) a->sample_rate);
}

/* Returns the weight of a bin in a triangle: 1 at the center, falling to 0 at `begin` and `end`. */
static double
weigh (gint64 bin, gint64 begin, gint64 center, gint64 end)
{
  if (bin < begin || bin > center)
    return bin > center && bin < end ? (double) (end - bin) / (double) (end - center) : 0;
  return center == begin ? 1 : (double) (bin - begin) / (double) (center - begin);
}

static void
compute_mel (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveMelAttrs *a = call->attrs;
  const CleaveView *y = &results[0];

  for (gint64 j = 0; j < y->type.shape.dim[1]; j++)
    {
      gint64 begin = find_edge (a, j), center = find_edge (a, j + 1), end = find_edge (a, j + 2);

      for (gint64 i = 0; i < y->type.shape.dim[0]; i++)
        store (y, i * y->stride[0] + j * y->stride[1], weigh (i, begin, center, end));
    }
}

const CleaveOp cleave_op_mel_weight_matrix = {
  .name = "MelWeightMatrix",
  .operands = (const char *const[]){ NULL },
  .results = (const char *const[]){ "output", NULL },
  .attrs_size = sizeof (CleaveMelAttrs),
  .attrs = mel_attrs,
  .infer = infer_mel,
  .work = cleave_work_once,
  .compute = compute_mel,
};
