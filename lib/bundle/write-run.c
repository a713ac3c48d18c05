/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the functions of a bundle: the run, and the reset of states. */

#include <string.h>

#include "bundle.h"

char *
cleave_bundle_dup_row_reader (const CleaveBundle *bundle, guint step)
{
  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    if (cleave_bundle_input (bundle, i)->producer == step)
      {
        g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

        return g_strconcat ("read_", name, NULL);
      }
  g_assert_not_reached ();
}

void
cleave_bundle_append_row_readers (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (cleave_bundle_is_by_rows (bundle, i))
        g_string_append_printf (
            out,
            "static void\nread_%s (const CleaveCall *call)\n{\n"
            "  const %sIo *io = (const %sIo *) call->io;\n\n"
            "  io->read_%s (io->user_data, call->row + call->image * %" G_GINT64_FORMAT
            ", (%s *) (void *) call->y);\n}\n\n",
            name, bundle->type, bundle->type, name, value->image.rows,
            cleave_bundle_element_type (value->result->type.element));
    }
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
  g_string_append_printf (out, "%s };\n",
                          bundle->model->states->len > 0 ? ", (unsigned char *) state" : "");
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
  print_reset (bundle, out);
  g_string_append_printf (out, "void\n%s_run (", bundle->name);
  cleave_bundle_append_parameters (bundle, out);
  g_string_append_printf (out,
                          ")\n{\n"
                          "  static const CleaveModel model = { values, layers, segments, %s, "
                          "row_maps, kernels };\n",
                          has_columns ? "columns" : "NULL");
  print_arenas (bundle, out);
  g_string_append_printf (out,
                          "  CleaveExtent made[%u];\n  CleaveRun run;\n\n"
                          "  run.call.io = io;\n  run.model = &model;\n  run.arenas = arenas;\n"
                          "  run.made = made;\n  cleave_run (&run);\n",
                          find_longest (bundle));
  print_states_out (bundle, out);
  g_string_append (out, "}\n");
}
