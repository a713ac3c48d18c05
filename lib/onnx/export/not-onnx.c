/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sets the error of a node whose op has no form in ONNX. */

#include "export.h"

/* The ops that the pass tflite-to-qdq does not replace. */
static const char *const without_qdq[] = { "TfliteDetections",     "TfliteL2Normalize",
                                           "TfliteLogSoftmax",     "TfliteLstm",
                                           "TfliteResizeBilinear", NULL };

gboolean
cleave_onnx_export_refuse (const CleaveNode *node, GError **error)
{
  const char *help = g_strv_contains (without_qdq, node->op->name)
                         ? ", and no pass replaces it: write a .cleave file"
                         : ": write a .cleave file, or run cleave opt --passes tflite-to-qdq "
                           "before, which replaces most ops and loses bits";

  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s' has no form in ONNX%s", node->op->name,
                      node->name, help);
}
