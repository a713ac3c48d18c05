/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Unrolls the body of a Loop or a Scan (iterations.h): reads its nodes once for each iteration. */

#include "iterations.h"
#include "dynamic.h"
#include "node.h"

#include <gio/gio.h>

#include "../../ir/graph-private.h"
#include "../external-file.h"

void
cleave_onnx_iterations_clear (CleaveOnnxIterations *iterations)
{
  g_clear_pointer (&iterations->states, g_ptr_array_unref);
  g_clear_pointer (&iterations->stacked, g_ptr_array_unref);
  g_clear_pointer (&iterations->is_own, g_free);
  g_clear_pointer (&iterations->empty, g_array_unref);
}

static gboolean
check_body (const CleaveOnnxIterations *iterations,
            const Onnx__NodeProto *proto,
            guint n_inputs,
            GError **error)
{
  const Onnx__GraphProto *body = iterations->body;

  if (body == NULL)
    return cleave_onnx_node_fail (iterations->node, error, "it has no body");
  if (body->n_input != n_inputs)
    return cleave_onnx_node_fail (iterations->node, error,
                                  "its body has %" G_GSIZE_FORMAT " inputs, not %u",
                                  (gsize) body->n_input, n_inputs);
  if (body->n_output < iterations->n_first + iterations->n_states ||
      proto->n_output > body->n_output - iterations->n_first ||
      proto->n_output < iterations->n_states)
    return cleave_onnx_node_fail (
        iterations->node, error,
        "it has %" G_GSIZE_FORMAT " results, but its body has %" G_GSIZE_FORMAT
        " outputs for %u loop-carried values",
        (gsize) proto->n_output, (gsize) body->n_output, iterations->n_states);
  for (size_t i = 0; i < body->n_input; i++)
    if (!cleave_onnx_check_name (body->input[i]->name, "an input of a body", error))
      return FALSE;
  return TRUE;
}

gboolean
cleave_onnx_iterations_init (CleaveOnnxIterations *iterations,
                             const Onnx__NodeProto *proto,
                             guint n_inputs,
                             guint first,
                             GError **error)
{
  if (!check_body (iterations, proto, n_inputs, error))
    return FALSE;
  iterations->states = g_ptr_array_new ();
  iterations->stacked = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  iterations->is_own = g_new0 (gboolean, iterations->n_states + 1);
  for (guint i = 0; i < iterations->n_states; i++)
    {
      if (cleave_onnx_node_operand (iterations->node, first + i) == NULL)
        return cleave_onnx_node_fail (iterations->node, error, "operand %u is missing", first + i);
      g_ptr_array_add (iterations->states, cleave_onnx_node_operand (iterations->node, first + i));
    }
  for (size_t i = iterations->n_first + iterations->n_states; i < iterations->body->n_output; i++)
    g_ptr_array_add (iterations->stacked, g_ptr_array_new ());
  return TRUE;
}

/* The functions below read the nodes of an iteration. */

static CleaveOnnxValue *
find_output (const CleaveOnnxIterations *iterations, guint index, GError **error)
{
  const char *name = iterations->body->output[index]->name;
  CleaveOnnxValue *value =
      name == NULL ? NULL : cleave_onnx_lookup (iterations->node->import, name);
  g_autofree char *text = value != NULL ? NULL : g_utf8_make_valid (name == NULL ? "" : name, -1);

  if (value == NULL)
    cleave_onnx_node_fail (iterations->node, error, "'%s' is not defined in its body", text);
  else if (value->items != NULL && index >= iterations->n_first + iterations->n_states)
    return cleave_onnx_node_fail_null (iterations->node, error,
                                       "'%s' is a sequence, which cannot be a scan output", name);
  return value;
}

static gboolean
take_outputs (CleaveOnnxIterations *iterations, gboolean *goes_on, GError **error)
{
  for (guint i = 0; i < iterations->body->n_output; i++)
    {
      CleaveOnnxValue *value = find_output (iterations, i, error);
      guint at = i - iterations->n_first;

      if (value == NULL)
        return FALSE;
      if (i < iterations->n_first)
        {
          if (i == 0 && iterations->judge != NULL &&
              !iterations->judge (iterations, value, goes_on, error))
            return FALSE;
        }
      else if (at >= iterations->n_states)
        g_ptr_array_add (iterations->stacked->pdata[at - iterations->n_states], value);
      else
        {
          iterations->states->pdata[at] = value;
          iterations->is_own[at] = g_hash_table_contains (iterations->node->import->values,
                                                          iterations->body->output[i]->name);
        }
    }
  return TRUE;
}

/* Sets or clears `is_live` of the values that must outlive an iteration: states and scan outputs.
 * cleave_onnx_release() does not free live values. */
static void
set_live (const CleaveOnnxIterations *iterations, gboolean is_live)
{
  for (guint i = 0; i < iterations->states->len; i++)
    ((CleaveOnnxValue *) iterations->states->pdata[i])->is_live = is_live;
  for (guint i = 0; i < iterations->stacked->len; i++)
    {
      const GPtrArray *values = iterations->stacked->pdata[i];

      if (values->len > 0)
        ((CleaveOnnxValue *) values->pdata[values->len - 1])->is_live = is_live;
    }
}

/* Frees the values that this iteration made, from index `first` of `all_values` on, except the live
 * values. Then frees `before`, the states that an earlier iteration made for this iteration. */
static void
release_iteration (const CleaveOnnxIterations *iterations, guint first, const GPtrArray *before)
{
  CleaveOnnxImport *import = iterations->node->import;

  set_live (iterations, TRUE);
  cleave_onnx_recycle (import, first);
  for (guint i = 0; i < before->len; i++)
    if (((CleaveOnnxValue *) before->pdata[i])->is_carried)
      cleave_onnx_release_value (import, before->pdata[i]);
  set_live (iterations, FALSE);
  for (guint i = first; i < import->all_values->len; i++)
    ((CleaveOnnxValue *) import->all_values->pdata[i])->is_carried = TRUE;
}

/* Reads one iteration, and sets `goes_on` to whether another iteration follows. The inputs of the
 * body have a scope of their own around the scope of its nodes. So a state that is an input of the
 * body can be distinguished from a state that a node of the body computed. */
static gboolean
take_iteration (CleaveOnnxIterations *iterations,
                gint64 iteration,
                gboolean *goes_on,
                GError **error)
{
  CleaveOnnxImport *import = iterations->node->import;
  g_autoptr (GPtrArray) before =
      import->interprets ? g_ptr_array_copy (iterations->states, NULL, NULL) : NULL;
  guint first = import->all_values->len;
  gboolean good;

  cleave_onnx_begin_scope (import);
  good = cleave_onnx_unroll (iterations->node,
                             iterations->body->n_node + iterations->body->n_output, error) &&
         iterations->bind (iterations, iteration, error);
  cleave_onnx_begin_scope (import);
  good = good && cleave_onnx_read_nodes (import, iterations->body, error) &&
         take_outputs (iterations, goes_on, error);
  cleave_onnx_end_scope (import);
  cleave_onnx_end_scope (import);
  if (good && import->interprets)
    release_iteration (iterations, first, before);
  return good;
}

/* The functions below are for a loop without iterations. */

/* Reads one iteration to learn the types of the scan outputs, then removes its nodes. */
static gboolean
try_iteration (CleaveOnnxIterations *iterations, GError **error)
{
  CleaveOnnxImport *import = iterations->node->import;
  const CleaveNode *last = import->graph->last;
  g_autoptr (GPtrArray) states = g_ptr_array_copy (iterations->states, NULL, NULL);
  __typeof__ (iterations->judge) judge = iterations->judge;
  gboolean goes_on, good;

  iterations->judge = NULL; /* do not read the condition, which may depend on unknown values */
  good = take_iteration (iterations, 0, &goes_on, error);
  iterations->judge = judge;
  for (guint i = 0; good && i < iterations->stacked->len; i++)
    {
      GPtrArray *values = iterations->stacked->pdata[i];

      g_array_append_val (iterations->empty, *cleave_onnx_value_type (values->pdata[0]));
    }
  for (guint i = 0; i < iterations->stacked->len; i++)
    g_ptr_array_set_size (iterations->stacked->pdata[i], 0);
  for (guint i = 0; i < iterations->n_states; i++)
    {
      iterations->states->pdata[i] = states->pdata[i];
      iterations->is_own[i] = FALSE;
    }
  cleave_onnx_remove_since (import, last);
  return good;
}

/* Finds the types of scan outputs for a loop without iterations. Takes the declared types. If a
 * type is not declared, takes the types of the results of the body's nodes. */
static gboolean
find_empty (CleaveOnnxIterations *iterations, GError **error)
{
  guint first = iterations->n_first + iterations->n_states;
  CleaveTensorType type;

  iterations->empty = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));
  for (guint i = 0; i < iterations->stacked->len; i++)
    if (cleave_onnx_value_info_type (iterations->node->import, iterations->body->output[first + i],
                                     &type, NULL))
      g_array_append_val (iterations->empty, type);
  if (iterations->empty->len == iterations->stacked->len)
    return TRUE;
  g_array_set_size (iterations->empty, 0);
  return try_iteration (iterations, error);
}

/* A value takes about this many bytes besides the elements of its tensor. */
#define VALUE_BYTES 256

/* In a run of the dynamic part: fails if the current GCancellable of the thread is cancelled, or if
 * all values take more than half of the machine's memory. */
static gboolean
check_running (const CleaveOnnxNode *node, gint64 n_iterations, GError **error)
{
  const CleaveOnnxImport *import = node->import;
  const gint64 n_bytes = import->live_bytes + (gint64) import->all_values->len * VALUE_BYTES;
  g_autofree char *text = NULL;

  if (!import->interprets)
    return TRUE;
  if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
    {
      g_prefix_error (error, "%s '%s', after %" G_GINT64_FORMAT " iterations: ", node->op,
                      node->name, n_iterations);
      return FALSE;
    }
  if (n_bytes <= cleave_external_file_get_budget ())
    return TRUE;
  text = g_format_size_full ((guint64) n_bytes, G_FORMAT_SIZE_IEC_UNITS);
  return cleave_onnx_node_fail (node, error,
                                "after %" G_GINT64_FORMAT " iterations, its values take %s, more "
                                "than half of the memory: limit its trip count, or check its "
                                "condition",
                                n_iterations, text);
}

gboolean
cleave_onnx_take_iterations (CleaveOnnxIterations *iterations, gint64 n_iterations, GError **error)
{
  gboolean good, goes_on = TRUE;

  cleave_onnx_begin_scope (iterations->node->import);
  good = cleave_onnx_read_initializers (iterations->node->import, iterations->body, error);
  for (gint64 iteration = 0; good && goes_on && iteration < n_iterations; iteration++)
    good = check_running (iterations->node, iteration, error) &&
           take_iteration (iterations, iteration, &goes_on, error);
  if (good && n_iterations <= 0 && iterations->node->n_results > iterations->n_states)
    good = find_empty (iterations, error);
  cleave_onnx_end_scope (iterations->node->import);
  return good;
}

/* The functions below make the results: final states and scan outputs. */

/* Returns a value of a scan output with one more dimension: adds a dimension of extent 1 at `axis`,
 * for the iterations. Returns NULL on error. */
static CleaveOnnxValue *
add_dimension (CleaveOnnxNode *node, CleaveOnnxValue *value, gint64 axis, GError **error)
{
  const CleaveShape *shape = cleave_onnx_value_shape (value);
  CleaveShape row = { .rank = shape->rank + 1 };

  if (row.rank > CLEAVE_MAX_RANK)
    return cleave_onnx_node_fail_null (node, error, "its scan output has more than %d dimensions",
                                       CLEAVE_MAX_RANK - 1);
  axis += axis < 0 ? row.rank : 0;
  if (axis < 0 || axis >= row.rank)
    return cleave_onnx_node_fail_null (
        node, error, "its scan output has rank %u, which has no axis %" G_GINT64_FORMAT,
        shape->rank, axis);
  for (guint d = 0; d < row.rank; d++)
    row.dim[d] = d == axis ? 1 : shape->dim[d < axis ? d : d - 1];
  return cleave_onnx_node_reshape (node, value, &row, ".iteration", error);
}

/* Returns the scan output of a loop without iterations: a constant with extent 0 along the axis. */
static CleaveOnnxValue *
make_empty (CleaveOnnxNode *node, const CleaveTensorType *iteration, gint64 axis, GError **error)
{
  CleaveTensorType type = { iteration->element, { .rank = iteration->shape.rank + 1 } };

  axis += axis < 0 ? type.shape.rank : 0;
  if (type.shape.rank > CLEAVE_MAX_RANK || axis < 0 || axis >= type.shape.rank)
    return cleave_onnx_node_fail_null (
        node, error, "its scan output has rank %u, which has no axis %" G_GINT64_FORMAT,
        iteration->shape.rank, axis);
  for (guint d = 0; d < type.shape.rank; d++)
    type.shape.dim[d] = d == axis ? 0 : iteration->shape.dim[d < axis ? d : d - 1];
  return cleave_onnx_value_new_constant (node->import, NULL, cleave_tensor_new (&type, NULL));
}

/* Returns the values that a scan output has in all iterations, concatenated along the axis. Returns
 * NULL on error. */
static CleaveOnnxValue *
stack (const CleaveOnnxIterations *iterations,
       guint index,
       gint64 axis,
       gboolean backwards,
       GError **error)
{
  CleaveOnnxNode *node = iterations->node;
  const GPtrArray *values = iterations->stacked->pdata[index];
  g_autofree CleaveOnnxValue **rows = g_new0 (CleaveOnnxValue *, values->len);

  if (values->len == 0)
    return make_empty (node, &g_array_index (iterations->empty, CleaveTensorType, index), axis,
                       error);
  for (guint i = 0; i < values->len; i++)
    {
      guint at = backwards ? values->len - 1 - i : i;

      rows[at] = add_dimension (node, values->pdata[i], axis, error);
      if (rows[at] == NULL)
        return NULL;
    }
  return cleave_onnx_step (node, "Concat", ".iterations", rows, values->len,
                           cleave_onnx_attr_new_int ("axis", axis), error);
}

gboolean
cleave_onnx_give_iterations (const CleaveOnnxIterations *iterations,
                             const gint64 *axes,
                             const gint64 *backwards,
                             GError **error)
{
  CleaveOnnxNode *node = iterations->node;

  node->values = g_ptr_array_new ();
  for (guint i = 0; i < node->n_results; i++)
    {
      guint at = i - iterations->n_states;
      CleaveOnnxValue *value = i < iterations->n_states
                                   ? iterations->states->pdata[i]
                                   : stack (iterations, at, axes == NULL ? 0 : axes[at],
                                            backwards != NULL && backwards[at] != 0, error);

      if (i < iterations->n_states && !iterations->is_own[i] && value->items == NULL)
        value = cleave_onnx_pass_on (node, value, error);
      if (value == NULL)
        return FALSE;
      g_ptr_array_add (node->values, value);
    }
  return TRUE;
}
