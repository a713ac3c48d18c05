/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds nodes and constants for the current operator, and folds values that depend only on
 * constants. */

#include "import.h"

#include "../ir/evaluate.h"
#include "../ir/graph-private.h"

CleaveResult *
cleave_tflite_add (CleaveTfliteImport *import,
                   const char *op,
                   CleaveResult *const *operands,
                   guint n_operands,
                   gconstpointer attrs,
                   GError **error)
{
  const char *name = import->names[cleave_flat_integer (&import->op->outputs, 4, 0)];
  CleaveNode *node = cleave_graph_add (import->graph, cleave_op_lookup (op), name, operands,
                                       n_operands, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

CleaveResult *
cleave_tflite_add_unary (CleaveTfliteImport *import,
                         const char *op,
                         CleaveResult *x,
                         gconstpointer attrs,
                         GError **error)
{
  return x == NULL ? NULL : cleave_tflite_add (import, op, &x, 1, attrs, error);
}

CleaveResult *
cleave_tflite_add_binary (
    CleaveTfliteImport *import, const char *op, CleaveResult *a, CleaveResult *b, GError **error)
{
  if (a == NULL || b == NULL)
    return NULL;
  return cleave_tflite_add (import, op, (CleaveResult *[]){ a, b }, 2, NULL, error);
}

CleaveResult *
cleave_tflite_add_constant (CleaveTfliteImport *import, CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) owned = tensor;

  return cleave_graph_add_constant (import->graph, NULL, owned);
}

CleaveResult *
cleave_tflite_add_data (CleaveTfliteImport *import,
                        CleaveElement element,
                        gint64 n,
                        gconstpointer data)
{
  CleaveTensorType type = { element, { n == 0 ? 0 : 1, { n } } };

  return cleave_tflite_add_constant (import, cleave_tensor_new_copy (&type, data, NULL));
}

CleaveResult *
cleave_tflite_add_float (CleaveTfliteImport *import, float value)
{
  return cleave_tflite_add_data (import, CLEAVE_FLOAT32, 0, &value);
}

CleaveResult *
cleave_tflite_add_integer (CleaveTfliteImport *import, CleaveElement element, gint32 value)
{
  gint8 byte = (gint8) value;
  gint16 word = (gint16) value;

  if (element == CLEAVE_INT8)
    return cleave_tflite_add_data (import, element, 0, &byte);
  if (element == CLEAVE_INT16)
    return cleave_tflite_add_data (import, element, 0, &word);
  return cleave_tflite_add_data (import, CLEAVE_INT32, 0, &value);
}

CleaveResult *
cleave_tflite_add_reshape (CleaveTfliteImport *import,
                           CleaveResult *x,
                           const CleaveShape *shape,
                           GError **error)
{
  CleaveReshapeAttrs attrs = { .shape.n = shape->rank, .allowzero = TRUE };

  if (x == NULL || cleave_shape_equal (&cleave_result_get_type (x)->shape, shape))
    return x;
  for (guint d = 0; d < shape->rank; d++)
    attrs.shape.v[d] = shape->dim[d];
  return cleave_tflite_add_unary (import, "Reshape", x, &attrs, error);
}

CleaveResult *
cleave_tflite_add_transpose (CleaveTfliteImport *import,
                             CleaveResult *x,
                             const CleaveInts *perm,
                             GError **error)
{
  CleaveTransposeAttrs attrs = { *perm };

  return cleave_tflite_add_unary (import, "Transpose", x, &attrs, error);
}

/* Returns whether the import may compute the value of a node, and subtracts the work and the bytes
 * of the value from the limits of the import. Returns FALSE if a limit is exceeded. */
static gboolean
is_foldable (CleaveTfliteImport *import, const CleaveNode *node)
{
  gint64 n_bytes = cleave_tensor_type_n_bytes (&node->results[0].type);
  double work;

  if (node->n_results != 1 || node->n_operands == 0 || !cleave_evaluate_can (node))
    return FALSE;
  work = cleave_evaluate_work (node);
  if (work > import->work || (work > 0 && n_bytes > import->copies))
    return FALSE;
  import->work -= work;
  import->copies -= work > 0 ? n_bytes : 0;
  return TRUE;
}

CleaveResult *
cleave_tflite_fold (CleaveTfliteImport *import, CleaveResult *x, GError **error)
{
  return cleave_tflite_fold_as (import, x, NULL, error);
}

CleaveResult *
cleave_tflite_fold_as (CleaveTfliteImport *import,
                       CleaveResult *x,
                       const char *name,
                       GError **error)
{
  g_autoptr (GPtrArray) values = NULL;
  g_autofree char *own = NULL;

  if (x == NULL || !is_foldable (import, x->node))
    return x;
  values = cleave_evaluate (x->node, error);
  if (values == NULL)
    return NULL;
  own = g_strdup (name != NULL ? name : x->node->operands[0].result->node->name);
  if (!cleave_node_is_used (x->node))
    cleave_graph_remove (import->graph, x->node);
  return cleave_graph_add_constant (import->graph, own, values->pdata[0]);
}

gboolean
cleave_tflite_take_bytes (CleaveTfliteImport *import, gint64 n_bytes, GError **error)
{
  if (n_bytes < 0 || n_bytes > import->copies)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "its constants take too many bytes: %" G_GINT64_FORMAT
                        " more, when %" G_GINT64_FORMAT " are left of the limit of 16 times the "
                        "file",
                        n_bytes, import->copies);
  import->copies -= n_bytes;
  return TRUE;
}
