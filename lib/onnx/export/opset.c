/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the opset of the file. The op records follow CLEAVE_ONNX_OPSET; a list states how later
 * opsets express attributes. lib/onnx/upgrade converts in the other direction. ONNX's Changelog.md
 * states the changes of each opset. */

#include "export.h"

#include <string.h>

/* The IR version of a file whose opset is at least `opset`. */
static const struct
{
  guint opset;
  gint64 ir_version;
} versions[] = { { 24, 12 }, { 23, 11 }, { 21, 10 }, { 19, 9 }, { 0, 8 } };

static const CleaveOnnxChange changes[] = {
  { "ReduceL1", "axes", 18, .operand = 1 },
  { "ReduceL2", "axes", 18, .operand = 1 },
  { "ReduceLogSum", "axes", 18, .operand = 1 },
  { "ReduceLogSumExp", "axes", 18, .operand = 1 },
  { "ReduceMax", "axes", 18, .operand = 1 },
  { "ReduceMean", "axes", 18, .operand = 1 },
  { "ReduceMin", "axes", 18, .operand = 1 },
  { "ReduceProd", "axes", 18, .operand = 1 },
  { "ReduceSumSquare", "axes", 18, .operand = 1 },
  { "DFT", "axis", 20, .operand = 2 },
  { "GridSample", "mode", 20,
    .words = (const char *const[]){ "linear", "nearest", "cubic", NULL } },
};

guint
cleave_onnx_find_opset (const CleaveGraph *graph)
{
  guint opset = CLEAVE_ONNX_OPSET;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      g_auto (CleaveNodeCall) call;
      const CleaveCall *made = cleave_node_call_init (&call, node);

      if (node->op->since != NULL)
        opset = MAX (opset, node->op->since (made));
    }
  return opset;
}

gint64
cleave_onnx_ir_version (guint opset)
{
  guint i = 0;

  while (opset < versions[i].opset)
    i++;
  return versions[i].ir_version;
}

const CleaveOnnxChange *
cleave_onnx_find_change (guint opset, const CleaveOp *op, const CleaveAttr *attr)
{
  for (guint i = 0; opset > CLEAVE_ONNX_OPSET && i < G_N_ELEMENTS (changes); i++)
    if (opset >= changes[i].since && strcmp (changes[i].op, op->name) == 0 &&
        strcmp (changes[i].attr, attr->name) == 0)
      return &changes[i];
  return NULL;
}
