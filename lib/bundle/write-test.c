/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a C program that runs a bundle on random inputs and compares the outputs, bit for bit,
 * with those of a program of the graph. */

#include "bundle.h"

#include <cleave/cleave-program.h>
#include <string.h>

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

/* The pattern of the bytes around the arena, which a run must not change. */
#define GUARD_BYTES 64

/* Inputs */

static guint32
draw (guint32 *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void
fill (CleaveTensor *tensor, guint32 *seed)
{
  CleaveElement element = cleave_tensor_get_type (tensor)->element;
  gsize n = (gsize) cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape);
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  for (gsize i = 0; i < n; i++)
    if (element == CLEAVE_FLOAT32)
      ((float *) data)[i] = (float) ((int) (draw (seed) % 2001) - 1000) / 1000;
    else if (element == CLEAVE_FLOAT64)
      ((double *) data)[i] = (double) ((int) (draw (seed) % 2001) - 1000) / 1000;
    else if (element == CLEAVE_BOOL)
      ((guint8 *) data)[i] = draw (seed) & 1;
    else
      for (gsize k = 0; k < cleave_element_size (element); k++)
        ((guint8 *) data)[i * cleave_element_size (element) + k] = (guint8) draw (seed);
}

static CleaveTensor *
add_tensor (GPtrArray *tensors, const CleaveResult *value, GError **error)
{
  CleaveTensor *tensor = cleave_tensor_new (&value->type, error);

  if (tensor != NULL)
    g_ptr_array_add (tensors, tensor);
  return tensor;
}

/* Runs the graph. */
static gboolean
run (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs, GError **error)
{
  g_autoptr (CleaveProgram) program = NULL;
  CleaveProgramOptions options = { .n_threads = 1 };
  guint32 seed = 12345;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      CleaveTensor *tensor = add_tensor (inputs, cleave_graph_get_input (graph, i), error);

      if (tensor == NULL)
        return FALSE;
      fill (tensor, &seed);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    if (add_tensor (outputs, cleave_operand_get_result (cleave_graph_get_output (graph, i)),
                    error) == NULL)
      return FALSE;
  program = cleave_program_new (graph, &options, error);
  if (program == NULL ||
      !cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                            (CleaveTensor *const *) outputs->pdata, outputs->len, error))
    return FALSE;
  cleave_program_run (program);
  return TRUE;
}

/* Order of memory */

/* Copies the elements of a tensor to the order in which a bundle has them: channels innermost. */
static gpointer
copy_in_memory_order (CleaveTensor *tensor, const CleaveResult *value)
{
  CleaveBundleImage image = cleave_bundle_image (value);
  const CleaveShape *shape = &value->type.shape;
  gsize size = cleave_element_size (value->type.element);
  gsize n = (gsize) cleave_shape_n_elements (shape);
  gint last[] = { image.row_dim, image.column_dim, image.channel_dim };
  const gint64 *strides = cleave_tensor_get_strides (tensor);
  const char *from = cleave_tensor_get_data (tensor);
  char *to = g_malloc (MAX (n * size, 1));
  guint order[CLEAVE_MAX_RANK], rank = 0;
  gint64 at[CLEAVE_MAX_RANK] = { 0 };

  for (gint d = 0; d < (gint) shape->rank; d++)
    if (d != last[0] && d != last[1] && d != last[2])
      order[rank++] = (guint) d;
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (last[i] >= 0)
      order[rank++] = (guint) last[i];
  for (gsize i = 0; i < n; i++)
    {
      gint64 offset = 0;

      for (guint d = 0; d < shape->rank; d++)
        offset += at[d] * strides[d];
      memcpy (to + i * size, from + offset * (gint64) size, size);
      for (guint k = rank; k-- > 0;)
        {
          if (++at[order[k]] < shape->dim[order[k]])
            break;
          at[order[k]] = 0;
        }
    }
  return to;
}

static void
print_data (const char *name, CleaveTensor *tensor, const CleaveResult *value, GString *out)
{
  const char *type = cleave_bundle_element_type (value->type.element);
  gsize n = (gsize) cleave_shape_n_elements (&value->type.shape);
  g_autofree gpointer data = copy_in_memory_order (tensor, value);

  g_string_append_printf (out, "static const %s %s[%" G_GSIZE_FORMAT "] = {", type, name, n);
  cleave_bundle_print_elements (out, type, data, n);
  g_string_append (out, "\n};\n\n");
}

/* Program */

static void
print_readers (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      const char *type = cleave_bundle_element_type (value->result->type.element);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (value->producer != CLEAVE_BUNDLE_NONE)
        g_string_append_printf (
            out,
            "static void\nread_%s (void *user_data, int32_t row, %s *to)\n{\n  (void) user_data;\n"
            "  memcpy (to, (const unsigned char *) input_%u + row * %" G_GINT64_FORMAT
            ", %" G_GINT64_FORMAT ");\n}\n\n",
            name, type, i, cleave_bundle_row_bytes (value), cleave_bundle_row_bytes (value));
    }
}

static void
print_set_up (const CleaveBundle *bundle, GString *out)
{
  const CleaveGraph *graph = bundle->model->graph;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);
      g_autofree char *macro = g_ascii_strup (name, -1);

      if (value->producer != CLEAVE_BUNDLE_NONE)
        g_string_append_printf (out, "  io.read_%s = read_%s;\n", name, name);
      else if (value->place == CLEAVE_BUNDLE_INPUT)
        g_string_append_printf (out, "  io.%s = input_%u;\n", name, i);
      else
        g_string_append_printf (out,
                                "  memcpy (arena + %s_%s_OFFSET, input_%u, sizeof input_%u);\n",
                                bundle->macro, macro, i, i);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_output (bundle, i);
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);

      if (cleave_bundle_value (bundle->model, value->base)->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "  io.%s = output_%u;\n", name, i);
    }
}

static void
print_checks (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_graph_get_n_outputs (bundle->model->graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_output (bundle, i);
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);
      g_autofree char *macro = g_ascii_strup (name, -1);

      g_string_append_printf (out, "  if (memcmp (expected_%u, ", i);
      if (cleave_bundle_value (bundle->model, value->base)->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "output_%u", i);
      else
        g_string_append_printf (out, "arena + %s_%s_OFFSET", bundle->macro, macro);
      g_string_append_printf (out, ", sizeof expected_%u) != 0)\n    return 1;\n", i);
    }
}

static void
print_program (const CleaveBundle *bundle, GString *out)
{
  g_string_append_printf (out,
                          "static union\n{\n  unsigned char bytes[%s_ARENA_SIZE + 2 * GUARD];\n"
                          "  double align;\n} memory;\n\n",
                          bundle->macro);
  print_readers (bundle, out);
  g_string_append_printf (
      out,
      "/* Returns 0, 1 if an output differs, or 2 if bytes around the arena were changed. */\n"
      "int\nmain (void)\n{\n"
      "  unsigned char *arena = memory.bytes + GUARD;\n"
      "  %sIo io;\n  unsigned i;\n\n"
      "  memset (&io, 0, sizeof io);\n"
      "  memset (memory.bytes, 0xa5, sizeof memory.bytes);\n",
      bundle->type);
  print_set_up (bundle, out);
  g_string_append_printf (
      out,
      "  %s_run (arena, &io);\n"
      "  for (i = 0; i < GUARD; i++)\n"
      "    if (memory.bytes[i] != 0xa5 || arena[%s_ARENA_SIZE + i] != 0xa5)\n      return 2;\n",
      bundle->name, bundle->macro);
  print_checks (bundle, out);
  g_string_append (out, "  return 0;\n}\n");
}

static void
print_all (const CleaveBundle *bundle, GPtrArray *inputs, GPtrArray *outputs, GString *out)
{
  const CleaveGraph *graph = bundle->model->graph;

  g_string_append_printf (out,
                          "\n#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n"
                          "#define GUARD %du\n\n",
                          bundle->name, GUARD_BYTES);
  for (guint i = 0; i < inputs->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("input_%u", i);

      print_data (name, inputs->pdata[i], cleave_graph_get_input (graph, i), out);
    }
  for (guint i = 0; i < outputs->len; i++)
    {
      const CleaveResult *value = cleave_operand_get_result (cleave_graph_get_output (graph, i));
      g_autofree char *name = g_strdup_printf ("expected_%u", i);
      const CleaveBundleValue *base =
          cleave_bundle_value (bundle->model, cleave_bundle_output (bundle, i)->base);

      print_data (name, outputs->pdata[i], value, out);
      if (base->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "static %s output_%u[%" G_GINT64_FORMAT "];\n\n",
                                cleave_bundle_element_type (value->type.element), i,
                                cleave_shape_n_elements (&value->type.shape));
    }
  print_program (bundle, out);
}

char *
cleave_bundle_make_test (const CleaveBundle *bundle, GError **error)
{
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  GString *out;

  if (!run (bundle->model->graph, inputs, outputs, error))
    return NULL;
  out = g_string_new (LICENSE);
  print_all (bundle, inputs, outputs, out);
  return g_string_free (out, FALSE);
}
