/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads Scan by unrolling it: one iteration for each index of the scanned axes, whose extents are
 * known.
 *
 * Before opset 9, all operands have a leading batch dimension, and dimension 1 is the scanned axis.
 * Each batch is then read as a Scan of its own. */

#include "iterations.h"
#include "node.h"

typedef struct
{
  CleaveOnnxIterations iterations; /* must be the first member, since bind_inputs() casts its
                                    * address to a Scan */
  guint n_scanned;
  gint64 extent;
  GArray *axes, *directions;             /* gint64, indexed by scanned operand: its axis, and its
                                          * direction (1: backwards) */
  GArray *given_axes, *given_directions; /* gint64, indexed by scan output: its axis, and its
                                          * direction (1: backwards) */
} Scan;

static void
scan_clear (Scan *scan)
{
  cleave_onnx_iterations_clear (&scan->iterations);
  g_clear_pointer (&scan->axes, g_array_unref);
  g_clear_pointer (&scan->directions, g_array_unref);
  g_clear_pointer (&scan->given_axes, g_array_unref);
  g_clear_pointer (&scan->given_directions, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scan, scan_clear)

/* Reads the attribute `name`, a list of `n` integers. If the attribute is absent, the list has `n`
 * zeros. */
static gboolean
read_list (const Scan *scan,
           const Onnx__NodeProto *proto,
           const char *name,
           guint n,
           GArray **list,
           GError **error)
{
  *list = g_array_new (FALSE, TRUE, sizeof (gint64));
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (g_strcmp0 (proto->attribute[i]->name, name) == 0)
      {
        if (proto->attribute[i]->n_ints != 0 && proto->attribute[i]->n_ints != n)
          return cleave_onnx_node_fail (scan->iterations.node, error,
                                        "%s has %" G_GSIZE_FORMAT " entries, not %u", name,
                                        (gsize) proto->attribute[i]->n_ints, n);
        if (proto->attribute[i]->n_ints != 0)
          g_array_append_vals (*list, proto->attribute[i]->ints, n);
      }
  g_array_set_size (*list, n);
  return TRUE;
}

static gint64
find_number (const Onnx__NodeProto *proto, const char *name)
{
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (g_strcmp0 (proto->attribute[i]->name, name) == 0)
      return proto->attribute[i]->i;
  return 0;
}

/* Checks the scanned operands, and sets their common extent. A negative axis counts from the end;
 * the function replaces it by the index from the begin. */
static gboolean
check_scanned (Scan *scan, GError **error)
{
  CleaveOnnxNode *node = scan->iterations.node;

  for (guint i = 0; i < scan->n_scanned; i++)
    {
      const CleaveShape *shape =
          cleave_onnx_node_operand_shape (node, scan->iterations.n_states + i);
      gint64 *axis = &g_array_index (scan->axes, gint64, i);

      if (shape == NULL)
        return cleave_onnx_node_fail (node, error, "operand %u is missing",
                                      scan->iterations.n_states + i);
      if (*axis < -(gint64) shape->rank || *axis >= shape->rank)
        return cleave_onnx_node_fail (node, error, "axis %" G_GINT64_FORMAT " does not fit rank %u",
                                      *axis, shape->rank);
      *axis += *axis < 0 ? shape->rank : 0;
      if (i > 0 && shape->dim[*axis] != scan->extent)
        return cleave_onnx_node_fail (
            node, error, "it scans %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " elements",
            scan->extent, shape->dim[*axis]);
      scan->extent = shape->dim[*axis];
    }
  return TRUE;
}

/* Returns the slice of a value at index `at` of an axis, without the dimension of the axis. */
static CleaveOnnxValue *
take_index (CleaveOnnxNode *node, CleaveOnnxValue *value, gint64 axis, gint64 at, GError **error)
{
  const CleaveTensorType one = CLEAVE_TYPE (CLEAVE_INT64, 1);
  const CleaveShape *whole = cleave_onnx_value_shape (value);
  CleaveShape shape = { .rank = whole->rank - 1 };
  gint64 end = at + 1;

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = whole->dim[d < axis ? d : d + 1];
  value = CLEAVE_ONNX_STEP ("Slice", ".part", NULL, value, cleave_onnx_constant (node, &one, &at),
                            cleave_onnx_constant (node, &one, &end),
                            cleave_onnx_constant (node, &one, &axis));
  return cleave_onnx_node_reshape (node, value, &shape, ".shaped", error);
}

/* Returns a constant of zeros with the shape of a slice, for a Scan without elements. The body of
 * this Scan is read once to learn the types of its outputs. */
static CleaveOnnxValue *
make_part (CleaveOnnxNode *node, const CleaveOnnxValue *value, gint64 axis, GError **error)
{
  const CleaveTensorType *whole = cleave_onnx_value_type (value);
  CleaveShape shape = { .rank = whole->shape.rank - 1 };
  CleaveTensorType dims = CLEAVE_TYPE (CLEAVE_INT64, shape.rank);

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = whole->shape.dim[d < axis ? d : d + 1];
  return CLEAVE_ONNX_STEP ("Expand", ".part", NULL, cleave_onnx_real (node, whole->element, 0),
                           cleave_onnx_constant (node, &dims, shape.dim));
}

/* Returns the slice of a scanned operand that an iteration reads. */
static CleaveOnnxValue *
take_part (const Scan *scan, guint index, gint64 iteration, GError **error)
{
  CleaveOnnxNode *node = scan->iterations.node;
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, scan->iterations.n_states + index);
  gint64 axis = g_array_index (scan->axes, gint64, index);
  gint64 at = g_array_index (scan->directions, gint64, index) != 0 ? scan->extent - 1 - iteration
                                                                   : iteration;

  return scan->extent == 0 ? make_part (node, value, axis, error)
                           : take_index (node, value, axis, at, error);
}

static gboolean
bind_inputs (const CleaveOnnxIterations *iterations, gint64 iteration, GError **error)
{
  const Scan *scan = (const Scan *) iterations;

  if (!cleave_onnx_unroll (iterations->node, 2 * scan->n_scanned, error))
    return FALSE;
  for (guint i = 0; i < iterations->body->n_input; i++)
    {
      CleaveOnnxValue *value = i < iterations->n_states
                                   ? iterations->states->pdata[i]
                                   : take_part (scan, i - iterations->n_states, iteration, error);

      if (value == NULL || !cleave_onnx_bind_as (iterations->node->import,
                                                 iterations->body->input[i]->name, value, error))
        return FALSE;
    }
  return TRUE;
}

/* Reads the axes and directions of the scanned operands and of the scan outputs. */
static gboolean
read_attrs (Scan *scan, const Onnx__NodeProto *proto, GError **error)
{
  guint n_given = scan->iterations.stacked->len;
  const char *directions =
      scan->iterations.node->import->opset < 9 ? "directions" : "scan_input_directions";

  return read_list (scan, proto, "scan_input_axes", scan->n_scanned, &scan->axes, error) &&
         read_list (scan, proto, directions, scan->n_scanned, &scan->directions, error) &&
         read_list (scan, proto, "scan_output_axes", n_given, &scan->given_axes, error) &&
         read_list (scan, proto, "scan_output_directions", n_given, &scan->given_directions, error);
}

/* Unrolls the Scan. Its operands are the initial states, then the scanned operands. */
static gboolean
scan_operands (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_auto (Scan) scan = { .iterations = { .node = node,
                                         .body = cleave_onnx_find_graph (proto, "body"),
                                         .bind = bind_inputs } };
  gint64 n_scanned = find_number (proto, "num_scan_inputs");

  if (n_scanned < 1 || n_scanned > (gint64) node->operands->len)
    return cleave_onnx_node_fail (node, error,
                                  "num_scan_inputs is %" G_GINT64_FORMAT " for %u operands",
                                  n_scanned, node->operands->len);
  scan.n_scanned = (guint) n_scanned;
  scan.iterations.n_states = node->operands->len - scan.n_scanned;
  return cleave_onnx_iterations_init (&scan.iterations, proto, node->operands->len, 0, error) &&
         read_attrs (&scan, proto, error) && check_scanned (&scan, error) &&
         cleave_onnx_take_iterations (&scan.iterations, scan.extent, error) &&
         cleave_onnx_give_iterations (
             &scan.iterations, (const gint64 *) (gpointer) scan.given_axes->data,
             (const gint64 *) (gpointer) scan.given_directions->data, error);
}

/* The functions below read a Scan of opset 8, whose operands have a batch dimension. */

/* Returns the number of batches; -1 and the error if the operands have different numbers of
 * batches. */
static gint64
count_batches (const CleaveOnnxNode *node, GError **error)
{
  gint64 n = -1;

  for (guint i = 1; i < node->operands->len; i++)
    {
      const CleaveShape *shape = cleave_onnx_node_operand_shape (node, i);

      if (shape == NULL || shape->rank == 0 || (n >= 0 && shape->dim[0] != n))
        {
          cleave_onnx_node_fail (node, error, "operand %u must have the batches of the others", i);
          return -1;
        }
      n = shape->dim[0];
    }
  if (n < 1)
    cleave_onnx_node_fail (node, error, "it has no batch");
  return n < 1 ? -1 : n;
}

/* Stacks the results of all batches along a new first dimension. */
static gboolean
join_batches (CleaveOnnxNode *node, GPtrArray *const *batches, guint n_batches, GError **error)
{
  g_autofree CleaveOnnxValue **rows = g_new0 (CleaveOnnxValue *, n_batches);

  node->values = g_ptr_array_new ();
  for (guint i = 0; i < node->n_results; i++)
    {
      for (guint b = 0; b < n_batches; b++)
        {
          const CleaveShape *shape = cleave_onnx_value_shape (batches[b]->pdata[i]);
          CleaveShape row = { .rank = shape->rank + 1, .dim = { 1 } };

          if (row.rank > CLEAVE_MAX_RANK)
            return cleave_onnx_node_fail (node, error, "a result has more than %d dimensions",
                                          CLEAVE_MAX_RANK);
          for (guint d = 0; d < shape->rank; d++)
            row.dim[d + 1] = shape->dim[d];
          rows[b] = cleave_onnx_node_reshape (node, batches[b]->pdata[i], &row, ".batch", error);
          if (rows[b] == NULL)
            return FALSE;
        }
      g_ptr_array_add (node->values,
                       cleave_onnx_step (node, "Concat", ".batches", rows, n_batches,
                                         cleave_onnx_attr_new_int ("axis", 0), error));
      if (node->values->pdata[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
scan_batch (CleaveOnnxNode *node,
            const Onnx__NodeProto *proto,
            gint64 batch,
            GPtrArray **values,
            GError **error)
{
  g_autoptr (CleaveOnnxNode) made =
      cleave_onnx_node_new (node->import, node->op, node->name, node->n_results);

  if (!cleave_onnx_unroll (node, 2 * node->operands->len, error))
    return FALSE;
  for (guint i = 1; i < node->operands->len; i++)
    {
      CleaveOnnxValue *part =
          take_index (node, cleave_onnx_node_operand (node, i), 0, batch, error);

      if (part == NULL)
        return FALSE;
      g_ptr_array_add (made->operands, part);
    }
  if (!scan_operands (made, proto, error))
    return FALSE;
  *values = g_ptr_array_ref (made->values);
  return TRUE;
}

static gboolean
scan_batches (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_autoptr (GPtrArray) batches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  gint64 n_batches;

  if (cleave_onnx_node_operand (node, 0) != NULL)
    return cleave_onnx_node_fail (node, error, "sequence_lens is not supported");
  n_batches = count_batches (node, error);
  if (n_batches < 0)
    return FALSE;
  for (gint64 batch = 0; batch < n_batches; batch++)
    {
      GPtrArray *values;

      if (!scan_batch (node, proto, batch, &values, error))
        return FALSE;
      g_ptr_array_add (batches, values);
    }
  return join_batches (node, (GPtrArray *const *) batches->pdata, batches->len, error);
}

gboolean
cleave_onnx_read_scan (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  return (node->import->opset < 9 ? scan_batches : scan_operands) (node, proto, error);
}
