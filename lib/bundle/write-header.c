/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the text of the header of a bundle: sizes, types and the functions. */

#include "bundle.h"
#include "op-help.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

/* Writes, for one input or output, a comment with its memory order and macros with its sizes. */
static void
print_port (const CleaveBundle *bundle,
            const char *name,
            const CleaveBundleValue *value,
            const CleaveBundleQuantization *scale,
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
    {
      const CleaveBundleBuffer *buffer = cleave_bundle_layout_buffer (bundle->layout, value->base);
      g_autofree char *memory = cleave_bundle_dup_memory_name (bundle, buffer->memory);

      g_string_append_printf (out, "#define %s_%s_OFFSET %" G_GINT64_FORMAT "u /* in %s%s */\n",
                              bundle->macro, macro, buffer->offset,
                              bundle->n_memories == 0 ? "the " : "memory ", memory);
    }
  if (scale->is_known)
    {
      g_string_append_printf (out, "#define %s_%s_SCALE ", bundle->macro, macro);
      cleave_bundle_print_float (scale->scale, out);
      g_string_append_printf (
          out, " /* the real number of x is (x - ZERO) * SCALE */\n#define %s_%s_ZERO %d\n",
          bundle->macro, macro, (gint) scale->zero);
    }
}

/* Writes the sizes of the arena, or of each memory, and of the states. */
static void
print_sizes (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_bundle_count_memories (bundle); i++)
    {
      g_autofree char *name = cleave_bundle_dup_memory_name (bundle, i);
      g_autofree char *macro = g_ascii_strup (name, -1);

      g_string_append_printf (out,
                              "#define %s_%s_SIZE %" G_GINT64_FORMAT
                              "u /* bytes that a run may overwrite */\n"
                              "#define %s_%s_ALIGN %" G_GINT64_FORMAT "u\n",
                              bundle->macro, macro, bundle->layout->memory_bytes[i], bundle->macro,
                              macro, bundle->align);
    }
  if (bundle->model->states->len > 0)
    g_string_append_printf (out,
                            "#define %s_STATE_SIZE %" G_GINT64_FORMAT
                            "u /* bytes that are kept from run to run */\n"
                            "#define %s_STATE_ALIGN 8u\n",
                            bundle->macro, bundle->model->state_bytes, bundle->macro);
  g_string_append (out, "\n");
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

      if (cleave_bundle_find_kept (bundle->model, i, TRUE) != NULL)
        continue;
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

/* Writes the sizes and offsets of the inputs and outputs that are not states. */
static void
print_ports (const CleaveBundle *bundle, GString *out)
{
  const CleaveBundleModel *model = bundle->model;

  for (guint i = 0; i < cleave_graph_get_n_inputs (model->graph); i++)
    {
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (cleave_bundle_find_kept (model, i, TRUE) == NULL)
        print_port (bundle, name, cleave_bundle_input (bundle, i), &model->input_scales[i], out);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (model->graph); i++)
    {
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);

      if (cleave_bundle_find_kept (model, i, FALSE) == NULL)
        print_port (bundle, name, cleave_bundle_output (bundle, i), &model->output_scales[i], out);
    }
}

static void
print_functions (const CleaveBundle *bundle, GString *out)
{
  const char *name = bundle->name, *macro = bundle->macro;

  if (bundle->model->states->len > 0)
    g_string_append_printf (out,
                            "\n/* Sets the state before the first run. `state` has %s_STATE_SIZE "
                            "bytes, aligned to\n * %s_STATE_ALIGN. */\n"
                            "void %s_reset (void *state);\n",
                            macro, macro, name);
  g_string_append (out, "\n/* Computes the outputs.");
  for (guint i = 0; i < cleave_bundle_count_memories (bundle); i++)
    {
      g_autofree char *memory = cleave_bundle_dup_memory_name (bundle, i);
      g_autofree char *size = g_ascii_strup (memory, -1);

      g_string_append_printf (out, " `%s` has %s_%s_SIZE bytes, aligned to\n * %s_%s_ALIGN.",
                              memory, macro, size, macro, size);
    }
  g_string_append (out, " Inputs in %s are overwritten. There is no other\n * state, so calls with "
                        "different memory may run at the same time. */\n");
  g_string_replace (
      out, "%s are overwritten",
      bundle->n_memories == 0 ? "the arena are overwritten" : "these memories are overwritten", 1);
  g_string_append_printf (out, "void %s_run (", name);
  cleave_bundle_append_parameters (bundle, out);
  g_string_append (out, ");\n");
}

char *
cleave_bundle_make_header (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  g_string_append_printf (out,
                          "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n"
                          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                          bundle->macro, bundle->macro);
  cleave_bundle_append_libc (bundle, out);
  print_sizes (bundle, out);
  print_ports (bundle, out);
  print_io (bundle, out);
  print_functions (bundle, out);
  g_string_append (out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return g_string_free (out, FALSE);
}
