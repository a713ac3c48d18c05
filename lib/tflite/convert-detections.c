/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts the custom operator TFLite_Detection_PostProcess. The operator becomes a
 * TfliteDetections, after a DequantizeLinear for each quantized input. Its options are a map in the
 * format FlexBuffers (flex.h). */

#include <math.h>

#include "convert.h"
#include "flex.h"

enum {
  MAX_DETECTIONS,
  MAX_CLASSES,
  PER_CLASS,
  N_CLASSES,
  REGULAR,
  SCORE,
  IOU,
  SCALES,
  N_OPTIONS = SCALES + 4
};

#define INTEGER 1, G_MAXINT32
#define ANY -G_MAXFLOAT, G_MAXFLOAT

static const struct
{
  const char *key;
  double fallback; /* value of the option if the file lacks it; NAN: the file must have it */
  double least, most;
} options[N_OPTIONS] = {
  [MAX_DETECTIONS] = { "max_detections", NAN, INTEGER },
  [MAX_CLASSES] = { "max_classes_per_detection", NAN, INTEGER },
  [PER_CLASS] = { "detections_per_class", 100, INTEGER },
  [N_CLASSES] = { "num_classes", NAN, INTEGER },
  [REGULAR] = { "use_regular_nms", 0, ANY },
  [SCORE] = { "nms_score_threshold", NAN, ANY },
  [IOU] = { "nms_iou_threshold", NAN, 0, 1 },
  [SCALES] = { "y_scale", NAN, ANY },
  [SCALES + 1] = { "x_scale", NAN, ANY },
  [SCALES + 2] = { "h_scale", NAN, ANY },
  [SCALES + 3] = { "w_scale", NAN, ANY },
};

static gboolean
read_option (const CleaveTfliteImport *import, guint i, double *value, GError **error)
{
  *value = options[i].fallback;
  if (!cleave_flex_get_number (&import->op->custom_options, options[i].key, value, error))
    return FALSE;
  if (isnan (*value))
    return cleave_tflite_refuse (error, "its options have no number '%s'", options[i].key);
  if (*value < options[i].least || *value > options[i].most ||
      (options[i].most == G_MAXINT32 && *value != trunc (*value)))
    return cleave_tflite_refuse (error, "option '%s' is %g, but must be %s from %g to %g",
                                 options[i].key, *value,
                                 options[i].most == G_MAXINT32 ? "an integer" : "a number",
                                 options[i].least, options[i].most);
  *value = options[i].most == G_MAXINT32 ? *value : (double) (float) *value;
  return TRUE;
}

static gboolean
read_attrs (const CleaveTfliteImport *import, CleaveTfliteDetectionsAttrs *attrs, GError **error)
{
  double v[N_OPTIONS];

  for (guint i = 0; i < N_OPTIONS; i++)
    if (!read_option (import, i, &v[i], error))
      return FALSE;
  *attrs = (CleaveTfliteDetectionsAttrs){
    .max_detections = (gint64) v[MAX_DETECTIONS],
    .max_classes_per_detection = (gint64) v[MAX_CLASSES],
    .detections_per_class = (gint64) v[PER_CLASS],
    .num_classes = (gint64) v[N_CLASSES],
    .use_regular_nms = v[REGULAR] != 0,
    .nms_score_threshold = v[SCORE],
    .nms_iou_threshold = v[IOU],
    .scales = { 4, { v[SCALES], v[SCALES + 1], v[SCALES + 2], v[SCALES + 3] } }
  };
  return TRUE;
}

/* Sets `x` to input `i` as floats: dequantizes integers. */
static gboolean
find_floats (CleaveTfliteImport *import, guint i, CleaveResult **x, GError **error)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, i);
  CleaveAxisAttrs axis = { 0 };
  CleaveTfliteScale scale;

  if (!cleave_tflite_find_result (import, i, x, error))
    return FALSE;
  if (!cleave_tflite_is_quantized (tensor))
    return TRUE;
  if (!cleave_tflite_read_scale (tensor, &scale, error))
    return FALSE;
  *x = cleave_tflite_add (
      import, "DequantizeLinear",
      (CleaveResult *[]){ *x, cleave_tflite_add_float (import, scale.scale),
                          cleave_tflite_add_integer (import, tensor->type.element, scale.zero) },
      3, &axis, error);
  return *x != NULL;
}

/* Uses result `i` of the node as the value of output `i` of the operator. Gives the output the
 * shape of the result, which the options determine, and ignores the shape in the file: old files
 * have none. */
static gboolean
set_output (CleaveTfliteImport *import, CleaveNode *node, guint i, GError **error)
{
  CleaveResult *result = cleave_node_get_result (node, i);
  gint64 tensor = cleave_flat_integer (&import->op->outputs, 4, i);

  import->subgraph->tensors[tensor].type.shape = cleave_result_get_type (result)->shape;
  return cleave_tflite_set (import, i, result, error);
}

gboolean
cleave_tflite_convert_detections (CleaveTfliteImport *import, GError **error)
{
  const CleaveFlatVector *outputs = &import->op->outputs;
  CleaveTfliteDetectionsAttrs attrs;
  CleaveResult *operands[3];
  CleaveNode *node;

  if (outputs->n != CLEAVE_TFLITE_N_DETECTION_OUTPUTS)
    return cleave_tflite_refuse (error, "it has %u outputs, but must have %d", outputs->n,
                                 CLEAVE_TFLITE_N_DETECTION_OUTPUTS);
  if (!read_attrs (import, &attrs, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
    if (!find_floats (import, i, &operands[i], error))
      return FALSE;
  node = cleave_graph_add (import->graph, cleave_op_lookup ("TfliteDetections"),
                           import->names[cleave_flat_integer (outputs, 4, 0)], operands,
                           G_N_ELEMENTS (operands), 7, &attrs, error);
  for (guint i = 0; node != NULL && i < outputs->n; i++)
    if (!set_output (import, node, i, error))
      return FALSE;
  return node != NULL;
}
