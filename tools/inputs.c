/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads the files of --input, checks the types of their tensors, and fills all other inputs with
 * random numbers. An option names its input, as in NAME=FILE, unless the model has only one input.
 */

#include "inputs.h"

#include "arguments.h"
#include "dynamic.h"
#include "image.h"
#include "list-inputs.h"
#include "npy.h"
#include "npz.h"
#include "outputs.h"
#include "sizes.h"
#include "standard.h"
#include "texts.h"

#include <string.h>

const CleaveArgumentNeed cleave_input_needs[] = {
  { "mean", { "input" } },
  { "scale", { "input" } },
  { 0 },
};

/* The functions below find the names of inputs. */

/* A message lists at most this many names. */
#define MAX_LISTED 8

/* Returns whether `name` is an input with a default value. The value of an input of this kind was
 * set when the model was loaded. */
static gboolean
is_default (const CleaveGraph *graph, const char *name)
{
  g_auto (GStrv) defaults = cleave_onnx_list_defaults (graph, FALSE);

  return name != NULL && g_strv_contains ((const char *const *) defaults, name);
}

char **
cleave_input_list_names (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char **defaults = cleave_onnx_list_defaults (graph, FALSE);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const char *const *lists = dynamic == NULL ? NULL : cleave_onnx_dynamic_get_inputs (dynamic);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
  for (; lists != NULL && *lists != NULL; lists++)
    g_ptr_array_add (names, g_strdup (*lists));
  for (guint i = 0; defaults[i] != NULL; i++)
    g_ptr_array_add (names, defaults[i]);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_steal (names, NULL);
}

static char **
list_names (const CleaveGraph *graph)
{
  guint n = cleave_graph_get_n_inputs (graph);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = cleave_result_dup_name (cleave_graph_get_input (graph, i));
  return names;
}

char *
cleave_input_dup_hint (const char *name, char *const *names)
{
  g_autofree char *hint = cleave_argument_dup_hint (name, (const char *const *) names);
  guint n = g_strv_length ((char **) names);
  g_autofree char *list = NULL;

  if (*hint != '\0' || n == 0 || n > MAX_LISTED)
    return g_steal_pointer (&hint);
  list = g_strjoinv ("', '", (char **) names);
  return g_strdup_printf ("; it has '%s'", list);
}

/* Sets `index` to the index of the input with this name, or of the only input if `name` is NULL. */
static gboolean
find_input (char **names, const char *name, const char *path, guint *index, GError **error)
{
  g_autofree char *hint = NULL;

  *index = 0;
  if (name == NULL && g_strv_length (names) == 1)
    return TRUE;
  if (name == NULL)
    return cleave_argument_fail (error,
                                 "the model has %u inputs: give --input NAME=FILE, as in %s=%s",
                                 g_strv_length (names), names[0] == NULL ? "x" : names[0], path);
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_equal (names[i], name))
      {
        *index = i;
        return TRUE;
      }
  hint = cleave_input_dup_hint (name, names);
  return cleave_argument_fail (error, "--input: the model has no input '%s'%s", name, hint);
}

/* The functions below load the tensors of files. */

/* Returns the end of an error message: the numpy call that converts an array of type `got` to type
 * `want`. Returns "" unless only the element type differs, or only a first dimension of 1 is
 * missing. */
static const char *
find_hint (const CleaveTensorType *want, const CleaveTensorType *got)
{
  CleaveTensorType same = *got, larger = *got;

  same.element = want->element;
  if (cleave_tensor_type_equal (want, &same))
    return "; in numpy, array.astype() changes the element type";
  if (got->shape.rank < CLEAVE_MAX_RANK)
    {
      larger.shape.rank++;
      larger.shape.dim[0] = 1;
      memcpy (larger.shape.dim + 1, got->shape.dim, got->shape.rank * sizeof (gint64));
    }
  return cleave_tensor_type_equal (want, &larger)
             ? "; in numpy, array[None] adds the first dimension"
             : "";
}

/* Copies strings into longer strings, and fills the remaining bytes with zeros. Fails if a string
 * is too long for the new length. */
static gboolean
copy_strings (CleaveTensor *to, CleaveTensor *from, const char *name, GError **error)
{
  const CleaveShape *shape = &cleave_tensor_get_type (from)->shape;
  const gsize n_from = (gsize) shape->dim[shape->rank - 1],
              n_to = (gsize) cleave_tensor_get_type (to)->shape.dim[shape->rank - 1];
  const gint64 n = n_from == 0 ? 0 : cleave_shape_n_elements (shape) / (gint64) n_from;

  for (gint64 i = 0; i < n; i++)
    {
      const char *text = (const char *) cleave_tensor_get_data (from) + (gsize) i * n_from;
      const gsize length = strnlen (text, n_from);

      if (length > n_to)
        return cleave_argument_fail (error,
                                     "--input '%s': a string has %" G_GSIZE_FORMAT
                                     " bytes, more than %" G_GSIZE_FORMAT
                                     ": give the bytes as the last extent of --shape",
                                     name, length, n_to);
      memcpy ((char *) cleave_tensor_get_mutable_data (to) + (gsize) i * n_to, text, length);
    }
  return TRUE;
}

/* Returns a copy of the strings of `tensor` with zeros after each string, so that the copy has the
 * input's type. Returns NULL on error. */
static CleaveTensor *
pad_strings (const CleaveTensorType *want, CleaveTensor *tensor, const char *name, GError **error)
{
  const guint last = want->shape.rank - 1;
  CleaveTensorType longer = *cleave_tensor_get_type (tensor);
  g_autoptr (CleaveTensor) padded = NULL;

  longer.shape.dim[last] = want->shape.dim[last];
  if (!cleave_tensor_type_equal (want, &longer))
    return cleave_argument_fail (
               error, "--input '%s' has strings: give an array of strings, with %u dimension%s",
               name, last, CLEAVE_PLURAL (last)),
           NULL;
  padded = cleave_tensor_new (want, error);
  if (padded == NULL)
    return NULL;
  memset (cleave_tensor_get_mutable_data (padded), 0, (gsize) cleave_tensor_type_n_bytes (want));
  return copy_strings (padded, tensor, name, error) ? g_steal_pointer (&padded) : NULL;
}

static gboolean
place (const CleaveGraph *graph, GPtrArray *tensors, guint i, CleaveTensor *tensor, GError **error)
{
  CleaveResult *input = cleave_graph_get_input (graph, i);
  const CleaveTensorType *want = cleave_result_get_type (input);
  g_autofree char *name = cleave_result_dup_name (input), *want_text = NULL, *got_text = NULL;

  if (tensors->pdata[i] != NULL)
    return cleave_argument_fail (error, "--input '%s' is given twice", name);
  if (cleave_dynamic_has_strings (graph, name))
    {
      tensors->pdata[i] = pad_strings (want, tensor, name, error);
      return tensors->pdata[i] != NULL;
    }
  if (cleave_tensor_type_equal (want, cleave_tensor_get_type (tensor)))
    {
      tensors->pdata[i] = cleave_tensor_ref (tensor);
      return TRUE;
    }
  want_text = cleave_tensor_type_to_string (want);
  got_text = cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));
  return cleave_argument_fail (error, "--input '%s' must be %s, not %s%s", name, want_text,
                               got_text, find_hint (want, cleave_tensor_get_type (tensor)));
}

/* Loads tensors from an archive. With a `name`, the input gets the entry of that name or the only
 * entry. Without a name, each input gets the entry of its name. */
static gboolean
load_npz (const CleaveGraph *graph,
          char **names,
          const char *name,
          const char *path,
          GPtrArray *tensors,
          GError **error)
{
  g_autoptr (GArray) entries = cleave_npz_load (path, error);
  gboolean is_only = entries != NULL && entries->len == 1 && (name != NULL || names[1] == NULL);
  guint n_placed = 0, index;

  if (entries == NULL || (name != NULL && !find_input (names, name, path, &index, error)))
    return FALSE;
  for (guint i = 0; i < entries->len; i++)
    {
      const CleaveNpzEntry *entry = &g_array_index (entries, CleaveNpzEntry, i);

      if (name != NULL && !is_only && !g_str_equal (entry->name, name))
        continue;
      n_placed++;
      if (name == NULL && !is_only && is_default (graph, entry->name))
        continue;
      if (!find_input (names, is_only ? name : entry->name, path, &index, error) ||
          !place (graph, tensors, index, entry->tensor, error))
        {
          g_prefix_error (error, "'%s': ", path);
          return FALSE;
        }
    }
  if (n_placed == 0)
    return cleave_argument_fail (error, "'%s' has no entry '%s'", path,
                                 name != NULL ? name : names[0]);
  return TRUE;
}

static gboolean
load_input (const CleaveGraph *graph,
            char **names,
            const char *text,
            const CleaveInputOptions *options,
            GPtrArray *tensors,
            GArray *lists,
            GError **error)
{
  g_autofree char *name = NULL;
  const char *path;
  const CleaveImageOptions of_image = { options->mean, options->scale };
  g_auto (GStrv) known = cleave_input_list_names (graph);
  g_autoptr (CleaveTensor) tensor = NULL;
  CleaveListInput *list;
  guint i;

  if (known[0] == NULL)
    return cleave_argument_fail (error, "--input: the model has no inputs");
  cleave_argument_file (text, known, &name, &path);
  if (is_default (graph, name))
    return TRUE;
  cleave_outputs_protect (path);
  list = cleave_list_inputs_find (lists, graph, name);
  if (list != NULL)
    return cleave_list_input_load (list, path, error);
  if (g_str_has_suffix (path, ".npz"))
    return load_npz (graph, names, name, path, tensors, error);
  if (!find_input (names, name, path, &i, error))
    return FALSE;
  tensor =
      cleave_image_is_name (path)
          ? cleave_image_load (path, cleave_result_get_type (cleave_graph_get_input (graph, i)),
                               &of_image, error)
          : cleave_tensor_load (path, ".npy, .npz, .pb, .png or .jpg", error);
  return tensor != NULL && place (graph, tensors, i, tensor, error);
}

/* The functions below make the tensors of all inputs. */

static gboolean
check_pictures (const CleaveInputOptions *options, GError **error)
{
  for (guint i = 0; options->files != NULL && options->files[i] != NULL; i++)
    if (cleave_image_is_name (options->files[i]))
      return TRUE;
  if (options->mean == NULL && options->scale == NULL)
    return TRUE;
  return cleave_argument_fail (error, "--mean and --scale are for an --input from a picture");
}

static CleaveTensor *
make_random (const CleaveGraph *graph, guint i, const char *name, gint64 seed, GError **error)
{
  const CleaveResult *input = cleave_graph_get_input (graph, i);
  CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (input), error);

  if (tensor != NULL)
    cleave_tensor_fill_random (tensor, name, (guint64) seed);
  if (tensor != NULL && cleave_dynamic_has_strings (graph, name))
    cleave_texts_make_letters (tensor);
  return tensor;
}

static void
unref_tensor (gpointer tensor)
{
  if (tensor != NULL)
    cleave_tensor_unref (tensor);
}

GPtrArray *
cleave_make_inputs (const CleaveGraph *graph, const CleaveInputOptions *options, GError **error)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func (unref_tensor);
  g_auto (GStrv) names = list_names (graph);
  g_autoptr (GArray) lists = cleave_list_inputs_new (graph);
  const CleaveInputOptions none = { 0 };
  gint64 seed = 0;

  options = options == NULL ? &none : options;
  if (options->seed != NULL &&
      !cleave_text_to_int ("--seed", options->seed, 0, G_MAXINT64, &seed, error))
    return NULL;
  if (!check_pictures (options, error))
    return NULL;
  g_ptr_array_set_size (tensors, (gint) g_strv_length (names));
  for (guint i = 0; options->files != NULL && options->files[i] != NULL; i++)
    if (!load_input (graph, names, options->files[i], options, tensors, lists, error))
      return NULL;
  for (guint i = 0; i < tensors->len; i++)
    if (tensors->pdata[i] == NULL)
      {
        tensors->pdata[i] = make_random (graph, i, names[i], seed, error);
        if (tensors->pdata[i] == NULL)
          return NULL;
      }
  if (!cleave_list_inputs_append (lists, seed, tensors, error))
    return NULL;
  return g_steal_pointer (&tensors);
}
