/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads the tensors of inputs that are sequences or optional values (lists), and appends them to
 * the inputs of a run. Without files, a sequence gets random tensors. An optional value without a
 * file is absent: its number of tensors is -1. */

#include "list-inputs.h"

#include "arguments.h"
#include "dynamic.h"
#include "npy.h"
#include "npz.h"
#include "texts.h"

#include <string.h>

static void
clear_list (gpointer data)
{
  CleaveListInput *list = data;

  g_clear_pointer (&list->tensors, g_ptr_array_unref);
}

GArray *
cleave_list_inputs_new (const CleaveGraph *graph)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const char *const *name = dynamic == NULL ? NULL : cleave_onnx_dynamic_get_inputs (dynamic);
  GArray *lists = g_array_new (FALSE, FALSE, sizeof (CleaveListInput));

  g_array_set_clear_func (lists, clear_list);
  for (; name != NULL && *name != NULL; name++)
    {
      CleaveListInput list = { .name = *name };

      list.type = cleave_onnx_dynamic_get_list_type (dynamic, *name, &list.tensor);
      list.has_strings = cleave_onnx_dynamic_has_strings (dynamic, *name);
      g_array_append_val (lists, list);
    }
  return lists;
}

CleaveListInput *
cleave_list_inputs_find (GArray *lists, const CleaveGraph *graph, const char *name)
{
  for (guint i = 0; i < lists->len; i++)
    {
      CleaveListInput *list = &g_array_index (lists, CleaveListInput, i);

      if (name == NULL ? lists->len == 1 && cleave_graph_get_n_inputs (graph) == 0
                       : g_str_equal (list->name, name))
        return list;
    }
  return NULL;
}

static gboolean
add (CleaveListInput *list, CleaveTensor *tensor, GError **error)
{
  CleaveElement element = cleave_tensor_get_type (tensor)->element;

  if (element != list->tensor.element)
    return cleave_argument_fail (error, "--input '%s' is %s, and tensor %u of the files has %s",
                                 list->name, list->type, list->tensors->len,
                                 cleave_element_get_name (element));
  if (list->tensors->len == 1 && strstr (list->type, "seq(") == NULL)
    return cleave_argument_fail (error, "--input '%s' is %s: give one tensor", list->name,
                                 list->type);
  g_ptr_array_add (list->tensors, cleave_tensor_ref (tensor));
  return TRUE;
}

gboolean
cleave_list_input_load (CleaveListInput *list, const char *path, GError **error)
{
  g_autoptr (GArray) entries = NULL;
  g_autoptr (CleaveTensor) tensor = NULL;

  if (list->tensors == NULL)
    list->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  if (!g_str_has_suffix (path, ".npz"))
    {
      tensor = cleave_tensor_load (path, ".npy, .npz or .pb", error);
      return tensor != NULL && add (list, tensor, error);
    }
  entries = cleave_npz_load (path, error);
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    if (!add (list, g_array_index (entries, CleaveNpzEntry, i).tensor, error))
      return FALSE;
  return entries != NULL;
}

/* A random sequence has this many tensors. The free dimensions of a random tensor have this
 * extent. */
#define N_RANDOM 2

static gboolean
fill_random (CleaveListInput *list, gint64 seed, GError **error)
{
  CleaveTensorType type = list->tensor;

  list->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  for (guint d = 0; d < type.shape.rank; d++)
    if (type.shape.dim[d] < 0)
      type.shape.dim[d] = N_RANDOM;
  for (guint i = 0; i < N_RANDOM; i++)
    {
      g_autofree char *name = cleave_dynamic_item_name (list->name, i);
      CleaveTensor *tensor = cleave_tensor_new (&type, error);

      if (tensor == NULL)
        return FALSE;
      cleave_tensor_fill_random (tensor, name, (guint64) seed);
      if (list->has_strings)
        cleave_texts_make_letters (tensor);
      g_ptr_array_add (list->tensors, tensor);
    }
  return TRUE;
}

gboolean
cleave_list_inputs_append (GArray *lists, gint64 seed, GPtrArray *tensors, GError **error)
{
  for (guint i = 0; i < lists->len; i++)
    {
      CleaveListInput *list = &g_array_index (lists, CleaveListInput, i);
      gint64 n;

      if (list->tensors == NULL && !g_str_has_prefix (list->type, "optional(") &&
          !fill_random (list, seed, error))
        return FALSE;
      n = list->tensors == NULL ? -1 : (gint64) list->tensors->len;
      g_ptr_array_add (tensors, cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), &n, NULL));
      for (gint64 k = 0; k < n; k++)
        g_ptr_array_add (tensors, cleave_tensor_ref (list->tensors->pdata[k]));
    }
  return TRUE;
}
