/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements cleave_program_bind(): checks the tensors that a caller binds. Then
 * cleave_binding_apply() sets the addresses that the tasks of the program use. */

#include "program-private.h"

static gboolean
check_tensor (const CleaveBinding *binding, const char *what, CleaveTensor *tensor, GError **error)
{
  g_autofree char *want = cleave_tensor_type_to_string (&binding->type);
  g_autofree char *got = NULL;

  if (tensor == NULL)
    return cleave_fail (error, CLEAVE_ERROR_BINDING, "%s '%s' is missing: %s", what, binding->name,
                        want);
  if (cleave_tensor_type_equal (cleave_tensor_get_type (tensor), &binding->type))
    return TRUE;
  got = cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));
  return cleave_fail (error, CLEAVE_ERROR_BINDING, "%s '%s' must be %s, not %s", what,
                      binding->name, want, got);
}

static gboolean
check_tensors (const CleaveBinding *bindings,
               guint n_bindings,
               const char *what,
               CleaveTensor *const *tensors,
               guint n_tensors,
               GError **error)
{
  for (guint i = 0; i < n_bindings; i++)
    if (!check_tensor (&bindings[i], what, i < n_tensors ? tensors[i] : NULL, error))
      return FALSE;
  return n_tensors <= n_bindings ||
         cleave_fail (error, CLEAVE_ERROR_BINDING, "the program has %u %s%s, not %u", n_bindings,
                      what, n_bindings == 1 ? "" : "s", n_tensors);
}

static void
take_tensors (CleaveBinding *bindings, guint n_bindings, CleaveTensor *const *tensors)
{
  for (guint i = 0; i < n_bindings; i++)
    {
      CleaveTensor *old = g_steal_pointer (&bindings[i].tensor);

      bindings[i].tensor = cleave_tensor_ref (tensors[i]);
      bindings[i].view = cleave_view_tensor (tensors[i]);
      cleave_binding_apply (&bindings[i]);
      g_clear_pointer (&old, cleave_tensor_unref);
    }
}

/**
 * cleave_program_bind:
 * @program: a program
 * @inputs: (array length=n_inputs): a tensor for each input of the graph, in its order
 * @n_inputs: number of @inputs
 * @outputs: (array length=n_outputs): a tensor for each output, in the graph's order
 * @n_outputs: number of @outputs
 * @error: return location for a [struct@GLib.Error]
 *
 * Binds tensors to the inputs and outputs of the following runs.
 *
 * The program keeps the tensors until other tensors are bound. The tensors may be slices with any
 * strides, but an output must not overlap an input or another output. If a tensor has the strides
 * that the program uses for the value, a run reads or writes it directly. Other tensors are copied
 * at the beginning or the end of each run.
 *
 * Fails with %CLEAVE_ERROR_BINDING if there are too few or too many tensors, or if the type of a
 * tensor differs from the type in the graph. After an error, earlier bindings stay.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_program_bind (CleaveProgram *program,
                     CleaveTensor *const *inputs,
                     guint n_inputs,
                     CleaveTensor *const *outputs,
                     guint n_outputs,
                     GError **error)
{
  g_return_val_if_fail ((inputs != NULL || n_inputs == 0) && (outputs != NULL || n_outputs == 0),
                        FALSE);
  g_return_val_if_fail (program != NULL, FALSE);
  if (!check_tensors (program->inputs, program->n_inputs, "input", inputs, n_inputs, error) ||
      !check_tensors (program->outputs, program->n_outputs, "output", outputs, n_outputs, error))
    return FALSE;
  take_tensors (program->inputs, program->n_inputs, inputs);
  take_tensors (program->outputs, program->n_outputs, outputs);
  program->bound = TRUE;
  return TRUE;
}
