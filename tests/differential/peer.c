/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes random models, their inputs and the results of the reference kernels to files. */

#include "peer.h"

#include <string.h>

#include "compare.h"
#include "judge.h"

static void
add_value (GString *list,
           GByteArray *bytes,
           guint v,
           const TrialType *type,
           gconstpointer data,
           gsize size)
{
  g_string_append_printf (
      list, "%s{\"name\":\"v%u\",\"type\":\"%s\",\"at\":%u,\"size\":%zu,\"dims\":[",
      list->len == 0 ? "" : ",", v, element_name (type->element), bytes->len, size);
  for (guint d = 0; d < type->rank; d++)
    g_string_append_printf (list, "%s%" G_GINT64_FORMAT, d == 0 ? "" : ",", type->dim[d]);
  g_string_append (list, "]}");
  g_byte_array_append (bytes, data, (guint) size);
}

static void
save (const char *folder, guint64 seed, const char *suffix, gconstpointer data, gsize size)
{
  g_autofree char *path = g_strdup_printf ("%s/%" G_GUINT64_FORMAT "%s", folder, seed, suffix);
  g_autoptr (GError) error = NULL;

  if (!g_file_set_contents (path, data, (gssize) size, &error))
    g_error ("%s", error->message);
}

static void
write_case (
    const char *folder, guint64 seed, const Trial *trial, GBytes *model, const GPtrArray *outputs)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GString) in = g_string_new (NULL), out = g_string_new (NULL);
  g_autofree char *text = trial_print (trial), *words = g_strescape (text, NULL), *json = NULL;

  for (guint v = 1; v < trial->values->len; v++)
    {
      const TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      if (trial_is_input (value, FALSE))
        add_value (in, bytes, v, &value->type, value->data, value->n_bytes);
    }
  for (guint i = 0; i < outputs->len; i++)
    {
      guint v = g_array_index (trial->outputs, guint, i);
      const TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      add_value (out, bytes, v, &value->type, cleave_tensor_get_data (outputs->pdata[i]),
                 value->n_bytes);
    }
  json = g_strdup_printf ("{\"text\":\"%s\",\"inputs\":[%s],\"outputs\":[%s]}\n", words, in->str,
                          out->str);
  save (folder, seed, ".onnx", g_bytes_get_data (model, NULL), g_bytes_get_size (model));
  save (folder, seed, ".bin", bytes->data == NULL ? (guint8 *) "" : bytes->data, bytes->len);
  save (folder, seed, ".json", json, strlen (json));
}

static gboolean
write_seed (const char *folder, guint64 seed, guint max_nodes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) model = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GString) what = g_string_new (NULL);
  Tape tape, way;
  Trial trial;

  judge_tapes (seed, 0, &tape, &way);
  trial_init (&trial, &tape);
  trial.max_nodes = max_nodes;
  trial_grow (&trial);
  model = trial_write (&trial, FALSE);
  graph = cleave_onnx_parse (model, NULL, NULL, &error);
  if (graph != NULL)
    outputs = compare_run (&trial, graph, 1, TRUE, 0, what);
  if (outputs != NULL)
    write_case (folder, seed, &trial, model, outputs);
  trial_clear (&trial);
  tape_clear (&tape);
  tape_clear (&way);
  return outputs != NULL;
}

int
peer_write (const char *folder, guint64 first, guint64 n, guint max_nodes)
{
  guint n_failures = 0;

  g_mkdir_with_parents (folder, 0777);
  for (guint64 seed = first; seed < first + n; seed++)
    n_failures += write_seed (folder, seed, max_nodes) ? 0 : 1;
  g_print ("%" G_GUINT64_FORMAT " models, %u not run\n", n, n_failures);
  return n_failures > 0;
}
