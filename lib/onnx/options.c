/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Import options on the heap that own their names and values. Language bindings use them, since
 * bindings cannot make arrays of structs. */

#include <cleave/cleave-onnx.h>

#include "../ir/boxed.h"

static gpointer
grow (gconstpointer list, guint n, gsize size)
{
  return g_realloc_n ((gpointer) list, n + 1, size);
}

/**
 * cleave_onnx_options_new:
 *
 * Makes empty import options. This function is for bindings of other languages. In C, initialize
 * the struct.
 *
 * Returns: (transfer full): empty options
 *
 * Since: 0.1
 */
CleaveOnnxOptions *
cleave_onnx_options_new (void)
{
  return g_new0 (CleaveOnnxOptions, 1);
}

/**
 * cleave_onnx_options_add_shape:
 * @options: options that [ctor@Cleave.OnnxOptions.new] made
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @extents: (array length=n_extents) (nullable): extents of the input, outermost first
 * @n_extents: rank of the input, at most %CLEAVE_MAX_RANK
 *
 * Gives an input its shape.
 *
 * Since: 0.1
 */
void
cleave_onnx_options_add_shape (CleaveOnnxOptions *options,
                               const char *name,
                               const gint64 *extents,
                               guint n_extents)
{
  CleaveOnnxShape *shapes;

  g_return_if_fail (options != NULL && n_extents <= CLEAVE_MAX_RANK);
  g_return_if_fail (extents != NULL || n_extents == 0);
  shapes = grow (options->shapes, options->n_shapes, sizeof *shapes);
  shapes[options->n_shapes] =
      (CleaveOnnxShape){ .name = g_strdup (name), .shape = { .rank = n_extents } };
  for (guint d = 0; d < n_extents; d++)
    shapes[options->n_shapes].shape.dim[d] = extents[d];
  options->shapes = shapes;
  options->n_shapes++;
}

/**
 * cleave_onnx_options_set_dynamic:
 * @options: options that [ctor@Cleave.OnnxOptions.new] made
 * @dynamic: whether nodes whose shapes depend on data form a dynamic part
 *
 * Sets whether the import keeps nodes whose shapes depend on data. If %FALSE, these nodes are
 * errors. See [func@Cleave.onnx_get_dynamic].
 *
 * Since: 0.2
 */
void
cleave_onnx_options_set_dynamic (CleaveOnnxOptions *options, gboolean dynamic)
{
  g_return_if_fail (options != NULL);
  options->dynamic = dynamic;
}

/**
 * cleave_onnx_options_add_value:
 * @options: options that [ctor@Cleave.OnnxOptions.new] made
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @value: (transfer none): the value of the input
 *
 * Gives an input its value. The input becomes a constant of the graph.
 *
 * Since: 0.1
 */
void
cleave_onnx_options_add_value (CleaveOnnxOptions *options, const char *name, CleaveTensor *value)
{
  CleaveOnnxGiven *values;

  g_return_if_fail (options != NULL && value != NULL);
  values = grow (options->values, options->n_values, sizeof *values);
  values[options->n_values++] = (CleaveOnnxGiven){ g_strdup (name), cleave_tensor_ref (value) };
  options->values = values;
}

/**
 * cleave_onnx_options_add_dim:
 * @options: options that [ctor@Cleave.OnnxOptions.new] made
 * @name: the name of a free dimension in the model, such as `batch`
 * @extent: the extent of the dimension
 *
 * Gives a free dimension its extent in every input whose shape names the dimension.
 *
 * Since: 0.1
 */
void
cleave_onnx_options_add_dim (CleaveOnnxOptions *options, const char *name, gint64 extent)
{
  CleaveOnnxDim *dims;

  g_return_if_fail (options != NULL && name != NULL);
  dims = grow (options->dims, options->n_dims, sizeof *dims);
  dims[options->n_dims++] = (CleaveOnnxDim){ g_strdup (name), extent };
  options->dims = dims;
}

/**
 * cleave_onnx_options_copy:
 * @options: options
 *
 * Returns: (transfer full): a copy on the heap
 *
 * Since: 0.1
 */
CleaveOnnxOptions *
cleave_onnx_options_copy (const CleaveOnnxOptions *options)
{
  CleaveOnnxOptions *copy = cleave_onnx_options_new ();

  g_return_val_if_fail (options != NULL, copy);
  for (guint i = 0; i < options->n_shapes; i++)
    cleave_onnx_options_add_shape (copy, options->shapes[i].name, options->shapes[i].shape.dim,
                                   options->shapes[i].shape.rank);
  for (guint i = 0; i < options->n_values; i++)
    cleave_onnx_options_add_value (copy, options->values[i].name, options->values[i].value);
  for (guint i = 0; i < options->n_dims; i++)
    cleave_onnx_options_add_dim (copy, options->dims[i].name, options->dims[i].extent);
  copy->dynamic = options->dynamic;
  copy->mapped = options->mapped;
  return copy;
}

/**
 * cleave_onnx_options_free:
 * @options: (nullable) (transfer full): options that [ctor@Cleave.OnnxOptions.new] made
 *
 * Frees options and drops their references to tensors.
 *
 * Since: 0.1
 */
void
cleave_onnx_options_free (CleaveOnnxOptions *options)
{
  for (guint i = 0; options != NULL && i < options->n_shapes; i++)
    g_free ((char *) options->shapes[i].name);
  for (guint i = 0; options != NULL && i < options->n_dims; i++)
    g_free ((char *) options->dims[i].name);
  for (guint i = 0; options != NULL && i < options->n_values; i++)
    {
      g_free ((char *) options->values[i].name);
      cleave_tensor_unref (options->values[i].value);
    }
  if (options == NULL)
    return;
  g_free ((gpointer) options->shapes);
  g_free ((gpointer) options->values);
  g_free ((gpointer) options->dims);
  g_free (options);
}

CLEAVE_DEFINE_BOXED (CleaveOnnxOptions,
                     onnx_options,
                     cleave_onnx_options_copy,
                     cleave_onnx_options_free)
