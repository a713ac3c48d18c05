/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parses the options of a bundle from text: cleave_bundle_new_from_texts() makes
 * CleaveBundleOptions. */

#include <cleave/cleave-bundle.h>
#include <cleave/cleave-split.h>
#include <cleave/cleave-text.h>
#include <string.h>

#include "../ir/error.h"

/* The options of a bundle, and the arrays to which the options point. */
typedef struct
{
  CleaveBundleOptions options;
  GArray *inputs, *outputs; /* CleaveBundleIo: memory of inputs and outputs */
  GArray *memories;         /* CleaveBundleMemory: memories of the device */
  GArray *states;           /* CleaveBundleState: pairs of an input and an output */
  /* strings to which the elements of `inputs`, `outputs`, `memories` and `states` point */
  GPtrArray *names;
} Texts;

static void
texts_clear (Texts *t)
{
  g_array_unref (t->inputs);
  g_array_unref (t->outputs);
  g_array_unref (t->memories);
  g_array_unref (t->states);
  g_ptr_array_unref (t->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

/* Sets `index` to the position of a text in the list `words`, which ends with NULL. Fails if the
 * text is not in the list. */
static gboolean
choose (
    const char *option, const char *text, const char *const *words, guint *index, GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (strcmp (words[i], text) == 0)
        {
          *index = i;
          return TRUE;
        }
      g_string_append_printf (all, "%s%s",
                              i == 0                 ? ""
                              : words[i + 1] == NULL ? " or "
                                                     : ", ",
                              words[i]);
    }
  return cleave_fail (error, CLEAVE_ERROR_OPTION, "--%s expects %s, not '%s'", option, all->str,
                      text);
}

/* Splits [NAME=]VALUE at the last '='. Returns the name, which `t` owns, and sets `value`. */
static const char *
split_pair (Texts *t, const char *text, const char **value)
{
  const char *sign = strrchr (text, '=');
  char *name = sign == NULL ? NULL : g_strndup (text, (gsize) (sign - text));

  *value = sign == NULL ? text : sign + 1;
  if (name != NULL)
    g_ptr_array_add (t->names, name);
  return name;
}

static gboolean
parse_place (Texts *t, const char *option, const char *text, GArray *places, GError **error)
{
  static const char *const words[] = { "arena", "apart", "rows", NULL };
  const char *word;
  CleaveBundleIo io = { split_pair (t, text, &word), CLEAVE_BUNDLE_IN_ARENA };
  guint index;

  if (!choose (option, word, words, &index, error))
    return FALSE;
  io.where = (CleaveBundleWhere) index;
  g_array_append_val (places, io);
  return TRUE;
}

static gboolean
parse_memory (Texts *t, const char *text, GError **error)
{
  const char *size;
  CleaveBundleMemory memory = { split_pair (t, text, &size), 0 };

  if (memory.name == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "--memory expects NAME=SIZE, not '%s'", text);
  if (!cleave_text_to_size ("--memory", size, &memory.n_bytes, error))
    return FALSE;
  g_array_append_val (t->memories, memory);
  return TRUE;
}

/* Parses the option "state", with INPUT=OUTPUT, INPUT or "all". */
static void
parse_state (Texts *t, const char *text)
{
  CleaveBundleState state = { 0 };
  const char *output;
  const char *input = split_pair (t, text, &output);

  g_ptr_array_add (t->names, g_strdup (output));
  if (input != NULL)
    state = (CleaveBundleState){ input, g_ptr_array_index (t->names, t->names->len - 1) };
  else if (strcmp (text, "all") != 0)
    state.input = g_ptr_array_index (t->names, t->names->len - 1);
  g_array_append_val (t->states, state);
}

static gboolean
parse_choice (CleaveBundleOptions *o, const char *option, const char *text, GError **error)
{
  static const char *const kernels[] = { "any", "c", "dsp", "cmsis-nn", NULL };
  static const char *const types[] = { "model", "int8", "float", NULL };
  static const char *const weights[] = { "source", "object", NULL };
  guint index = 0;

  if (g_str_equal (option, "kernels"))
    {
      if (!choose (option, text, kernels, &index, error))
        return FALSE;
      o->kernels = (CleaveBundleKernels) index;
    }
  else if (g_str_equal (option, "io-type"))
    {
      if (!choose (option, text, types, &index, error))
        return FALSE;
      o->io_type = (CleaveBundleIoType) index;
    }
  else
    {
      if (!choose (option, text, weights, &index, error))
        return FALSE;
      o->has_object_weights = index == 1;
    }
  return TRUE;
}

static gboolean
parse_number (CleaveBundleOptions *o, const char *option, const char *text, GError **error)
{
  gint64 align;

  if (g_str_equal (option, "max-memory"))
    return cleave_text_to_size ("--max-memory", text, &o->max_memory, error);
  if (g_str_equal (option, "max-added-macs"))
    return cleave_text_to_max_added ("--max-added-macs", text, &o->max_added_macs, error);
  if (!cleave_text_to_int ("--align", text, 4, 16, &align, NULL) || (align & (align - 1)) != 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "--align expects 4, 8 or 16, not '%s'", text);
  o->align = (guint) align;
  return TRUE;
}

static gboolean
is_one_of (const char *text, const char *const *words)
{
  return g_strv_contains (words, text);
}

/* Parses one option, which is NAME=VALUE, or NAME for an option without a value. */
static gboolean
parse_option (Texts *t, const char *text, GError **error)
{
  static const char *const choices[] = { "kernels", "io-type", "weights", NULL };
  static const char *const numbers[] = { "max-memory", "max-added-macs", "align", NULL };
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  const char *option = parts[0] == NULL ? "" : parts[0];
  const char *value = parts[0] == NULL ? NULL : parts[1];

  if (value == NULL && g_str_equal (option, "single-file"))
    {
      t->options.is_single_file = TRUE;
      return TRUE;
    }
  if (value == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "expected NAME=VALUE or single-file, found '%s'", text);
  if (g_str_equal (option, "name"))
    {
      g_ptr_array_add (t->names, g_strdup (value));
      t->options.name = g_ptr_array_index (t->names, t->names->len - 1);
      return TRUE;
    }
  if (g_str_equal (option, "input") || g_str_equal (option, "output"))
    return parse_place (t, option, value, option[0] == 'i' ? t->inputs : t->outputs, error);
  if (g_str_equal (option, "memory"))
    return parse_memory (t, value, error);
  if (g_str_equal (option, "state"))
    {
      parse_state (t, value);
      return TRUE;
    }
  if (is_one_of (option, choices))
    return parse_choice (&t->options, option, value, error);
  if (is_one_of (option, numbers))
    return parse_number (&t->options, option, value, error);
  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "a bundle has no option '%s'; `cleave bundle --help` lists them", option);
}

/**
 * cleave_bundle_new_from_texts:
 * @graph: a graph
 * @options: (array zero-terminated=1): the options of `cleave bundle`, without "--"
 * @error: return location for a [struct@GLib.Error]
 *
 * Plans a bundle as [ctor@Cleave.Bundle.new] does. The options are texts such as
 * "max-memory=14KiB", "input=x=rows", "memory=fast=64KiB" and "single-file". The options of inputs,
 * outputs, memories and states may be repeated. Without options, the plan has the least memory,
 * without added MACs.
 *
 * Fails as [ctor@Cleave.Bundle.new] does, and with %CLEAVE_ERROR_OPTION if a text is wrong.
 *
 * Returns: (transfer full) (nullable): the bundle
 *
 * Since: 0.2
 */
CleaveBundle *
cleave_bundle_new_from_texts (const CleaveGraph *graph, const char *const *options, GError **error)
{
  g_auto (Texts) t = { .options = { .max_added_macs = CLEAVE_NOTHING_ADDED },
                       .inputs = g_array_new (FALSE, FALSE, sizeof (CleaveBundleIo)),
                       .outputs = g_array_new (FALSE, FALSE, sizeof (CleaveBundleIo)),
                       .memories = g_array_new (FALSE, FALSE, sizeof (CleaveBundleMemory)),
                       .states = g_array_new (FALSE, FALSE, sizeof (CleaveBundleState)),
                       .names = g_ptr_array_new_with_free_func (g_free) };
  CleaveBundleOptions *o = &t.options;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  for (guint i = 0; options[i] != NULL; i++)
    if (!parse_option (&t, options[i], error))
      return NULL;
  o->inputs = (const CleaveBundleIo *) (gpointer) t.inputs->data;
  o->n_inputs = t.inputs->len;
  o->outputs = (const CleaveBundleIo *) (gpointer) t.outputs->data;
  o->n_outputs = t.outputs->len;
  o->memories = (const CleaveBundleMemory *) (gpointer) t.memories->data;
  o->n_memories = t.memories->len;
  o->states = (const CleaveBundleState *) (gpointer) t.states->data;
  o->n_states = t.states->len;
  return cleave_bundle_new (graph, o, error);
}
