/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the header of a bundle. */

#include "bundle.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

/* Writes a comment on the order of memory, and macros with the sizes of one input or output. */
static void
print_port (const CleaveBundle *bundle,
            const char *name,
            const CleaveBundleValue *value,
            GString *out)
{
  g_autofree char *macro = g_ascii_strup (name, -1);
  const CleaveBundleImage *image = &value->image;
  const CleaveBundleValue *base = cleave_bundle_value (bundle->model, value->base);

  g_string_append_printf (out,
                          "/* %s: %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                          " x %" G_GINT64_FORMAT
                          " (images, rows, columns, channels), channels innermost. */\n",
                          name, image->images, image->rows, image->columns, image->channels);
  g_string_append_printf (out, "#define %s_%s_SIZE %" G_GINT64_FORMAT "u /* bytes */\n",
                          bundle->macro, macro, cleave_bundle_value_bytes (value));
  if (base->place == CLEAVE_BUNDLE_ARENA &&
      !(base->producer != CLEAVE_BUNDLE_NONE &&
        cleave_bundle_step (bundle->model, base->producer)->node == NULL))
    g_string_append_printf (out, "#define %s_%s_OFFSET %" G_GINT64_FORMAT "u /* in the arena */\n",
                            bundle->macro, macro,
                            cleave_bundle_layout_offset (bundle->layout, value->base));
}

static void
print_io (const CleaveBundle *bundle, GString *out)
{
  const CleaveGraph *graph = bundle->model->graph;

  g_string_append_printf (
      out, "\n/* Memory and functions of the caller of %s_run (). */\ntypedef struct\n{\n",
      bundle->name);
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      const char *type = cleave_bundle_element_type (value->result->type.element);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (value->place == CLEAVE_BUNDLE_INPUT)
        g_string_append_printf (out, "  const %s *%s;\n", type, name);
      else if (cleave_bundle_is_by_rows (bundle, i))
        g_string_append_printf (out,
                                "  /* Writes row `row` of input %s, %" G_GINT64_FORMAT
                                " bytes; rows are asked for in order. */\n"
                                "  void (*read_%s) (void *user_data, int32_t row, %s *to);\n",
                                name, cleave_bundle_row_bytes (value), name, type);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_output (bundle, i);
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);

      if (cleave_bundle_value (bundle->model, value->base)->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "  %s *%s;\n",
                                cleave_bundle_element_type (value->result->type.element), name);
    }
  g_string_append_printf (out, "  void *user_data;\n} %sIo;\n", bundle->type);
}

char *
cleave_bundle_make_header (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);
  const CleaveGraph *graph = bundle->model->graph;

  g_string_append_printf (out,
                          "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n"
                          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                          "#define %s_ARENA_SIZE %" G_GINT64_FORMAT
                          "u /* bytes; all of them are used */\n"
                          "#define %s_ARENA_ALIGN %" G_GINT64_FORMAT "u\n\n",
                          bundle->macro, bundle->macro, bundle->macro, bundle->layout->n_bytes,
                          bundle->macro, bundle->align);
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      print_port (bundle, name, cleave_bundle_input (bundle, i), out);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);

      print_port (bundle, name, cleave_bundle_output (bundle, i), out);
    }
  print_io (bundle, out);
  g_string_append_printf (out,
                          "\n/* Computes the outputs. `arena` has %s_ARENA_SIZE bytes, aligned to "
                          "%s_ARENA_ALIGN. Inputs\n"
                          " * in the arena are overwritten. There is no other state, so calls with "
                          "different arenas may\n"
                          " * run at the same time. */\n"
                          "void %s_run (void *arena, const %sIo *io);\n\n"
                          "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                          bundle->macro, bundle->macro, bundle->name, bundle->type);
  return g_string_free (out, FALSE);
}
