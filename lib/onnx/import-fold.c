/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What follows from constants alone is computed at import, as far as that is no work to speak of:
 * shapes and what else must be constant are far below.  What is above stays in the graph. */

#include "import.h"

#include "../ir/evaluate.h"

/* A view may have more. */
#define MAX_FOLDED_BYTES (1 << 20)

void
cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes)
{
  import->fold_budget = CLEAVE_EVALUATE_BUDGET (n_bytes);
}

gboolean
cleave_onnx_spend (CleaveOnnxImport *import, double work)
{
  if (!(work <= import->fold_budget))
    return FALSE;
  import->fold_budget -= work;
  return TRUE;
}

const char *
cleave_onnx_why_unknown (const CleaveOnnxValue *value)
{
  return value->is_costly ? CLEAVE_ONNX_TOO_COSTLY
                          : "is computed, but must be constant: shapes are static";
}

static gboolean
is_constant (const CleaveCall *call, const GPtrArray *operands, gboolean even_costly)
{
  for (guint i = 0; i < operands->len && (call->op->flags & CLEAVE_OP_OF_TYPES) == 0; i++)
    {
      const CleaveOnnxValue *value = operands->pdata[i];

      if (value != NULL && value->constant == NULL && !(even_costly && value->is_costly))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands)
{
  return is_constant (call, operands, FALSE);
}

gboolean
cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands)
{
  return is_constant (call, operands, TRUE);
}

/* Whether a call is small enough, alone and with those before it. */
static gboolean
is_worth (CleaveOnnxImport *import, const CleaveCall *call, CleaveTensor *const *operands)
{
  for (guint i = 0; i < call->n_results; i++)
    if ((call->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) == 0 &&
        cleave_tensor_type_n_bytes (&call->results[i]) > MAX_FOLDED_BYTES)
      return FALSE;
  return cleave_onnx_spend (import, cleave_evaluate_call_work (call, operands));
}

gboolean
cleave_onnx_fold (CleaveOnnxNode *node,
                  const CleaveCall *call,
                  const GPtrArray *operands,
                  GError **error)
{
  g_autofree CleaveTensor **tensors = g_new0 (CleaveTensor *, operands->len + 1);
  g_autoptr (GPtrArray) results = NULL;

  for (guint i = 0; i < operands->len; i++)
    if (operands->pdata[i] != NULL)
      tensors[i] = ((CleaveOnnxValue *) operands->pdata[i])->constant;
  if (!is_worth (node->import, call, tensors))
    return TRUE;
  results = cleave_evaluate_call (call, tensors, error);
  if (results == NULL)
    return FALSE;
  for (guint i = 0; i < results->len; i++)
    g_ptr_array_add (node->values, cleave_onnx_value_new_constant (
                                       node->import, NULL, cleave_tensor_ref (results->pdata[i])));
  return TRUE;
}
