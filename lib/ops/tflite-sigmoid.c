/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteLogistic and TfliteTanh: LOGISTIC and TANH on int16 (fixed-sigmoid.h). All dimensions can
 * be split anywhere. On int8, both operators become a TfliteLookup. */

#include "fixed-sigmoid.h"
#include "reference.h"
#include "tflite.h"

enum { X };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;

  results[0] = call->operands[X];
  return cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_INT16), error) &&
         cleave_tflite_check ("multiplier", a->multiplier, 0, G_MAXINT16, error) &&
         cleave_tflite_check ("shift", a->shift, 0, 31, error);
}

static void
run (const CleaveCall *call,
     const CleaveView *x,
     const CleaveView *y,
     gint16 (*function) (gint16, gint32, gint))
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    *(gint16 *) cleave_view_at (y, at) = function (*(const gint16 *) cleave_view_at (x, at),
                                                   (gint32) a->multiplier, (gint) a->shift);
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteRescaleAttrs, field)
static const CleaveAttr attrs[] = { INT (multiplier), INT (shift), { 0 } };
#undef INT

/* clang-format off */
#define RECORD(word, op_name)                                                                      \
  static void compute_##word (const CleaveCall *call, const CleaveView *operands,                  \
                              const CleaveView *results)                                           \
  {                                                                                                \
    run (call, &operands[X], &results[0], cleave_fixed_##word##_16);                               \
  }                                                                                                \
  const CleaveOp cleave_op_tflite_##word = {                                                       \
    .name = op_name,                                                                               \
    .operands = (const char *const[]){ "x", NULL },                                                \
    .results = (const char *const[]){ "y", NULL },                                                 \
    .min_operands = 1,                                                                             \
    .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_IN_PLACE,                                              \
    .attrs_size = sizeof (CleaveTfliteRescaleAttrs),                                               \
    .attrs = attrs,                                                                                \
    .infer = infer,                                                                                \
    .maps = cleave_maps_same,                                                                      \
    .compute = compute_##word,                                                                     \
  };
RECORD (logistic, "TfliteLogistic")
RECORD (tanh, "TfliteTanh")
/* clang-format on */
