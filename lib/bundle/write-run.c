/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the functions of a bundle: the run, and the reset of states. */

#include <string.h>

#include "bundle.h"

/* Writes the function that calls the callback of each input that is supplied row by row. Returns
 * FALSE if there is no such input. */
static gboolean
print_read_row (const CleaveBundle *bundle, GString *out)
{
  gboolean has_rows = FALSE;

  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    has_rows |= cleave_bundle_is_by_rows (bundle, i);
  if (!has_rows)
    return FALSE;
  g_string_append_printf (
      out,
      "static void\nread_row (void *user_data, int32_t layer, int32_t row, void "
      "*to)\n{\n  const %sIo *io = (const %sIo *) user_data;\n\n",
      bundle->type, bundle->type);
  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    {
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (cleave_bundle_is_by_rows (bundle, i))
        g_string_append_printf (
            out, "  if (layer == %u)\n    io->read_%s (io->user_data, row, (%s *) to);\n",
            cleave_bundle_input (bundle, i)->producer, name,
            cleave_bundle_element_type (cleave_bundle_input (bundle, i)->result->type.element));
    }
  g_string_append (out, "}\n\n");
  return TRUE;
}

/* Returns the C expression of the address of input or output `i`, if it lies outside the arena. The
 * address is a field of `io`, or for an input that is a state, an offset in `state`. Returns "NULL"
 * for all other inputs and outputs. */
static char *
dup_pointer (const CleaveBundle *bundle, gboolean is_input, guint i)
{
  const CleaveBundleValue *value =
      is_input ? cleave_bundle_input (bundle, i)
               : cleave_bundle_value (bundle->model, cleave_bundle_output (bundle, i)->base);
  const CleaveBundleKept *kept = is_input ? cleave_bundle_find_kept (bundle->model, i, TRUE) : NULL;
  g_autofree char *name = is_input ? cleave_bundle_dup_input_name (bundle, i)
                                   : cleave_bundle_dup_output_name (bundle, i);

  if (kept != NULL)
    return g_strdup_printf ("(unsigned char *) state + %" G_GINT64_FORMAT, kept->offset);
  if (value->place != (is_input ? CLEAVE_BUNDLE_INPUT : CLEAVE_BUNDLE_OUTPUT))
    return g_strdup ("NULL");
  return g_strdup_printf ("io->%s", name);
}

/* Writes the array of the addresses of all inputs or outputs. Writes nothing and returns FALSE if
 * all inputs or outputs are in the arena. */
static gboolean
print_pointers (const CleaveBundle *bundle, gboolean is_input, GString *out)
{
  const CleaveGraph *graph = bundle->model->graph;
  guint n = is_input ? cleave_graph_get_n_inputs (graph) : cleave_graph_get_n_outputs (graph);
  g_autoptr (GString) list = g_string_new (NULL);
  gboolean has_pointers = FALSE;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *pointer = dup_pointer (bundle, is_input, i);

      has_pointers |= !g_str_equal (pointer, "NULL");
      g_string_append_printf (list, "%s%s", i == 0 ? "" : ", ", pointer);
    }
  if (has_pointers)
    g_string_append_printf (out, "  %s[] = { %s };\n",
                            is_input ? "const void *const inputs" : "void *const outputs",
                            list->str);
  return has_pointers;
}

void
cleave_bundle_append_parameters (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_bundle_count_memories (bundle); i++)
    {
      g_autofree char *name = cleave_bundle_dup_memory_name (bundle, i);

      g_string_append_printf (out, "void *%s, ", name);
    }
  if (bundle->model->states->len > 0)
    g_string_append (out, "void *state, ");
  g_string_append_printf (out, "const %sIo *io", bundle->type);
}

static void
print_arenas (const CleaveBundle *bundle, GString *out)
{
  g_string_append (out, "  unsigned char *const arenas[] = { ");
  for (guint i = 0; i < cleave_bundle_count_memories (bundle); i++)
    {
      g_autofree char *name = cleave_bundle_dup_memory_name (bundle, i);

      g_string_append_printf (out, "%s(unsigned char *) %s", i == 0 ? "" : ", ", name);
    }
  g_string_append (out, " };\n");
}

static const CleaveBundleKept *
get_state (const CleaveBundle *bundle, guint i)
{
  return &g_array_index (bundle->model->states, CleaveBundleKept, i);
}

static void
print_states_out (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < bundle->model->states->len; i++)
    {
      const CleaveBundleKept *kept = get_state (bundle, i);
      const CleaveBundleBuffer *buffer = cleave_bundle_layout_buffer (
          bundle->layout, cleave_bundle_output (bundle, kept->output)->base);

      g_string_append_printf (out,
                              "  memcpy ((unsigned char *) state + %" G_GINT64_FORMAT
                              ", arenas[%u] + %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ");\n",
                              kept->offset, buffer->memory, buffer->offset, kept->n_bytes);
    }
}

static void
print_reset (const CleaveBundle *bundle, GString *out)
{
  if (bundle->model->states->len == 0)
    return;
  g_string_append_printf (out, "void\n%s_reset (void *state)\n{\n", bundle->name);
  for (guint i = 0; i < bundle->model->states->len; i++)
    g_string_append_printf (out,
                            "  memset ((unsigned char *) state + %" G_GINT64_FORMAT
                            ", %d, %" G_GINT64_FORMAT ");\n",
                            get_state (bundle, i)->offset, (guint8) get_state (bundle, i)->start,
                            get_state (bundle, i)->n_bytes);
  g_string_append (out, "}\n\n");
}

/* Returns the number of layers of the longest segment. */
static guint
find_longest (const CleaveBundle *bundle)
{
  guint longest = 1;

  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g =
          &g_array_index (bundle->plan->segments, CleaveBundleSegment, i);

      longest = MAX (longest, g->end - g->first);
    }
  return longest;
}

void
cleave_bundle_append_run (const CleaveBundle *bundle, gboolean has_columns, GString *out)
{
  gboolean has_rows = print_read_row (bundle, out), has_inputs, has_outputs, reads_io;
  guint longest = find_longest (bundle);
  gsize begin;

  print_reset (bundle, out);
  begin = out->len;
  g_string_append_printf (out, "void\n%s_run (", bundle->name);
  cleave_bundle_append_parameters (bundle, out);
  g_string_append_printf (out,
                          ")\n{\n"
                          "  static const CleaveModel model = { values, layers, segments, %s, "
                          "row_maps, kernels, %u };\n",
                          has_columns ? "columns" : "NULL", bundle->plan->segments->len);
  print_arenas (bundle, out);
  has_inputs = print_pointers (bundle, TRUE, out);
  has_outputs = print_pointers (bundle, FALSE, out);
  reads_io = has_rows || strstr (out->str + begin, "io->") != NULL;
  g_string_append_printf (out,
                          "  uint16_t made[%u];\n  uint8_t readers[%u];\n  CleaveRun run;\n\n%s"
                          "  run.model = &model;\n  run.arenas = arenas;\n"
                          "  run.inputs = %s;\n  run.outputs = %s;\n"
                          "  run.read_row = %s;\n  run.user_data = %s;\n"
                          "  run.made = made;\n  run.readers = readers;\n  cleave_run (&run);\n",
                          longest, longest, reads_io ? "" : "  (void) io;\n",
                          has_inputs ? "inputs" : "NULL", has_outputs ? "outputs" : "NULL",
                          has_rows ? "read_row" : "NULL", has_rows ? "(void *) io" : "NULL");
  print_states_out (bundle, out);
  g_string_append (out, "}\n");
}
