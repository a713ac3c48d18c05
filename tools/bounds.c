/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads the model several times, with smaller and smaller extents in place of the ranges of --shape
 * (bounds.h). Each time, prints the MACs and the peak of the model as text or as JSON. */

#include "bounds.h"

#include "extents.h"
#include "sizes.h"

#include <stdio.h>

/* The MACs and the peak of the activations of the model with certain extents in place of the
 * ranges. */
typedef struct
{
  char *extents; /* the extents, as a value of the option --shape */
  gint64 macs, peak_bytes;
} Size;

static void
clear_size (gpointer data)
{
  g_free (((Size *) data)->extents);
}

static gboolean
measure (
    const char *path, const CleaveModelOptions *model, char **shapes, Size *size, GError **error)
{
  CleaveModelOptions smaller = *model;
  g_autoptr (CleaveGraph) graph = NULL;

  smaller.shapes = shapes;
  graph = cleave_model_load (path, &smaller, error);
  if (graph == NULL)
    return FALSE;
  *size = (Size){ g_strjoinv (" ", shapes), cleave_graph_get_macs (graph),
                  cleave_graph_get_peak_bytes (graph, error) };
  return size->peak_bytes >= 0;
}

/* Measures the model with smaller extents several times, and returns a Size for each measurement.
 * In the first measurement, each dimension with a range has 1/2 of its largest extent; in the
 * second, 1/4, and so on. In the last measurement, each of these dimensions has its smallest
 * extent. Example: the range 1..512 gives the extents 256, 128, 64, 32, 16 and 1. Returns NULL on
 * error. */
static GArray *
list_sizes (const char *path, const CleaveModelOptions *model, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, TRUE, sizeof (Size));

  g_array_set_clear_func (sizes, clear_size);
  for (guint part = 1; part < CLEAVE_N_EXTENTS; part++)
    {
      guint n_changed;
      g_auto (GStrv) shapes = cleave_extents_resolve (model->shapes, part, &n_changed, error);
      Size size = { 0 };

      if (shapes == NULL)
        return NULL;
      if (n_changed == 0)
        break;
      if (!measure (path, model, shapes, &size, error))
        {
          g_free (size.extents);
          return NULL;
        }
      g_array_append_val (sizes, size);
    }
  return g_steal_pointer (&sizes);
}

gboolean
cleave_bounds_print (const char *path, const CleaveModelOptions *model, GError **error)
{
  g_autoptr (GArray) sizes = list_sizes (path, model, error);

  for (guint i = 0; sizes != NULL && i < sizes->len; i++)
    {
      const Size *size = &g_array_index (sizes, Size, i);
      g_autofree char *macs = cleave_macs_to_string (size->macs);
      g_autofree char *peak = cleave_size_to_print (size->peak_bytes);

      printf ("smaller     %s: %s MACs, peak %s\n", size->extents, macs, peak);
    }
  return sizes != NULL;
}

gboolean
cleave_bounds_add_json (CleaveJson *json,
                        const char *path,
                        const CleaveModelOptions *model,
                        GError **error)
{
  g_autoptr (GArray) sizes = list_sizes (path, model, error);

  if (sizes == NULL || sizes->len == 0)
    return sizes != NULL;
  cleave_json_begin_list (json, "smaller");
  for (guint i = 0; i < sizes->len; i++)
    {
      const Size *size = &g_array_index (sizes, Size, i);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "shape", size->extents);
      cleave_json_int (json, "macs", size->macs);
      cleave_json_int (json, "peak_activation_bytes", size->peak_bytes);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  return TRUE;
}
