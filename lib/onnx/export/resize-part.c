/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a piece of a Resize that scales by a fractional factor. For each resized dimension, adds a
 * product with a matrix of weights, or a Gather if the mode is nearest. If the operand depends
 * on constants alone, writes the value of the piece instead. */

#include "export.h"

#include <string.h>

#include "../../ir/defaults.h"
#include "../../ir/evaluate.h"
#include "../../ir/graph-private.h"
#include "../../ops/move.h"
#include "../../ops/resize-taps.h"
#include "../resize-part.h"

typedef struct
{
  CleaveOnnxExport *export;
  const CleaveNode *node;
  guint rank, d;
  const CleaveResizeAxis *axis;
  const CleaveResizeTaps *taps; /* indexed by result element: the operand's elements from which it
                                 * is computed, and their weights */
} Part;

static Onnx__NodeProto *
add_op (const Part *part, const char *op, const char *a, const char *b, const char *to)
{
  const char *operands[] = { a, b };
  const char *name = to;

  if (to == cleave_onnx_result_name (part->export, &part->node->results[0]))
    name = part->node->name;
  return cleave_onnx_add_node (part->export, op, name, operands, 2, &to, 1);
}

static void
add_gather (const Part *part, const char *x, const char *to)
{
  g_autofree gint64 *indices = g_new (gint64, (gsize) part->axis->to);

  for (gint64 i = 0; i < part->axis->to; i++)
    indices[i] = part->taps[i].at[0];
  cleave_onnx_add_int (
      add_op (part, "Gather", x,
              cleave_onnx_add_list (part->export, "indices", indices, (guint) part->axis->to), to),
      "axis", part->d);
}

/* Adds the matrix of weights and returns its name. The matrix has a row for each result element. If
 * `is_transposed`, the matrix has a column for each result element, and is the right factor of a
 * product. */
static const char *
add_weights (const Part *part, gboolean is_transposed)
{
  CleaveElement element = part->node->results[0].type.element;
  gint64 n_from = part->axis->from, n_to = part->axis->to;
  CleaveTensorType type = { .element = element,
                            .shape = is_transposed ? CLEAVE_SHAPE (n_from, n_to)
                                                   : CLEAVE_SHAPE (n_to, n_from) };
  gsize size = cleave_element_size (element);
  g_autofree double *sums = g_new0 (double, (gsize) (n_from * n_to));
  g_autofree char *bytes = g_malloc ((gsize) (n_from * n_to) * size);
  guint64 one;

  for (gint64 i = 0; i < n_to; i++)
    for (guint t = 0; t < part->taps[i].n; t++)
      sums[is_transposed ? part->taps[i].at[t] * n_to + i : i * n_from + part->taps[i].at[t]] +=
          part->taps[i].weight[t];
  for (gint64 i = 0; i < n_from * n_to; i++)
    {
      cleave_move_from_double (element, sums[i], &one);
      memcpy (bytes + (gsize) i * size, &one, size);
    }
  return cleave_onnx_add_small (part->export, "weights",
                                cleave_tensor_new_copy (&type, bytes, NULL));
}

/* Returns the equation of the Einsum that multiplies along one dimension, for example
 * "abcd,zb->azcd". */
static char *
dup_equation (const Part *part)
{
  GString *text = g_string_new (NULL);

  for (guint d = 0; d < part->rank; d++)
    g_string_append_c (text, (char) ('a' + d));
  g_string_append_printf (text, ",z%c->", (char) ('a' + part->d));
  for (guint d = 0; d < part->rank; d++)
    g_string_append_c (text, d == part->d ? 'z' : (char) ('a' + d));
  return g_string_free (text, FALSE);
}

static void
add_product (const Part *part, const char *x, const char *to)
{
  if (part->d + 1 == part->rank)
    add_op (part, "MatMul", x, add_weights (part, TRUE), to);
  else if (part->d + 2 == part->rank)
    add_op (part, "MatMul", add_weights (part, FALSE), x, to);
  else
    {
      g_autofree char *equation = dup_equation (part);

      cleave_onnx_add_string (add_op (part, "Einsum", x, add_weights (part, FALSE), to), "equation",
                              equation);
    }
}

static gboolean
is_resized (const CleaveResizeAxis *axis, guint d)
{
  return axis->factor != 1 || cleave_ints_at (&axis->attrs->phase, d, 0) != 0 ||
         axis->from != axis->to;
}

/* If `node` depends on constants alone, writes its value as a constant and returns TRUE. The caller
 * otherwise writes the Resize as matrix products or Gathers, with a doc string that describes the
 * Resize. For constants, an importer would compute these products before it reads the doc string,
 * and the last bits of the value could differ. Returns FALSE if cleave_evaluate_fixed() finds no
 * value. */
static gboolean
add_value (CleaveOnnxExport *export, const CleaveNode *node)
{
  CleaveTensor *tensor = cleave_evaluate_fixed (&node->results[0]);
  const char *to = cleave_onnx_result_name (export, &node->results[0]), *value;

  if (tensor == NULL)
    return FALSE;
  value = cleave_onnx_add_small (export, node->name, tensor);
  cleave_onnx_add_node (export, "Identity", node->name, &value, 1, &to, 1);
  return TRUE;
}

void
cleave_onnx_export_resize_part (CleaveOnnxExport *export, const CleaveNode *node)
{
  const CleaveResizeAttrs *attrs = node->attrs;
  const CleaveShape *x = &node->operands[0].result->type.shape, *y = &node->results[0].type.shape;
  const char *from = cleave_onnx_result_name (export, node->operands[0].result);
  g_autofree char *inner = g_strconcat (node->name, CLEAVE_ONNX_PART, NULL), *doc = NULL;
  guint n = 0;

  if (add_value (export, node))
    return;
  for (guint d = 0; d < x->rank; d++)
    {
      CleaveResizeAxis axis = cleave_resize_axis (attrs, d, x->dim[d], y->dim[d]);

      n += is_resized (&axis, d) ? 1 : 0;
    }
  for (guint d = x->rank; d-- > 0;)
    {
      CleaveResizeAxis axis = cleave_resize_axis (attrs, d, x->dim[d], y->dim[d]);
      g_autofree CleaveResizeTaps *taps = NULL;
      Part part = { export, node, x->rank, d, &axis, NULL };
      const char *to;

      if (!is_resized (&axis, d))
        continue;
      part.taps = taps = cleave_resize_new_taps (&axis);
      to = --n == 0 ? cleave_onnx_result_name (export, &node->results[0])
                    : cleave_onnx_name_value (export, inner);
      (attrs->mode == CLEAVE_RESIZE_NEAREST ? add_gather : add_product) (&part, from, to);
      from = to;
    }
  doc = cleave_onnx_dup_doc_with_resize (
      attrs, export->scope->node[export->scope->n_node - 1]->doc_string);
  export->scope->node[export->scope->n_node - 1]->doc_string =
      cleave_pool_strdup (export->pool, doc);
}
