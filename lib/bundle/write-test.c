/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a C program that runs a bundle on random inputs. It compares the outputs bit for bit with
 * the outputs of a program of the graph. It runs a bundle with states several times. If the macro
 * MEASURE_STACK is defined, the program also prints the bytes of stack that a run needs. */

#include "test-runs.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"

/* bytes of a pattern before and after the arena; a run must not change them */
#define GUARD_BYTES 64

/* The functions below write the arrays of inputs and outputs. */

/* Appends an array with the values of an input or output in all runs. */
static void
print_data (const CleaveBundleRuns *r,
            const char *name,
            GByteArray *bytes,
            const CleaveResult *value,
            GString *out)
{
  const char *type = cleave_bundle_element_type (value->type.element);
  gsize n = bytes->len / cleave_element_size (value->type.element) / r->n_runs;

  g_string_append_printf (out, "static const %s %s[RUNS][%" G_GSIZE_FORMAT "] = {", type, name, n);
  for (guint i = 0; i < r->n_runs; i++)
    {
      g_string_append (out, " {");
      cleave_bundle_print_elements (out, type, bytes->data + i * (bytes->len / r->n_runs), n);
      g_string_append (out, "\n},");
    }
  g_string_append (out, "\n};\n\n");
}

/* Returns whether the caller supplies the values of input `i` in each run: TRUE for all inputs that
 * are not states. */
static gboolean
is_given (const CleaveBundle *bundle, guint i)
{
  return cleave_bundle_find_kept (bundle->model, i, TRUE) == NULL;
}

static void
print_arrays (const CleaveBundleRuns *r, GString *out)
{
  const CleaveBundle *bundle = r->bundle;

  for (guint i = 0; i < r->inputs->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("input_%u", i);

      if (is_given (bundle, i))
        print_data (r, name, r->input_bytes->pdata[i],
                    cleave_graph_get_input (bundle->model->graph, i), out);
    }
  for (guint i = 0; i < r->outputs->len; i++)
    {
      const CleaveResult *value =
          cleave_operand_get_result (cleave_graph_get_output (bundle->model->graph, i));
      g_autofree char *name = g_strdup_printf ("expected_%u", i);
      const CleaveBundleValue *base =
          cleave_bundle_value (bundle->model, cleave_bundle_output (bundle, i)->base);

      print_data (r, name, r->output_bytes->pdata[i], value, out);
      if (base->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "static %s output_%u[%" G_GINT64_FORMAT "];\n\n",
                                cleave_bundle_element_type (value->type.element), i,
                                cleave_shape_n_elements (&value->type.shape));
    }
}

/* The functions below write the program. */

static void
print_readers (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_graph_get_n_inputs (bundle->model->graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      const char *type = cleave_bundle_element_type (value->result->type.element);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);

      if (value->producer != CLEAVE_BUNDLE_NONE)
        g_string_append_printf (out,
                                "static void\nread_%s (void *user_data, int32_t row, %s *to)\n{\n"
                                "  const unsigned run = *(const unsigned *) user_data;\n\n"
                                "  memcpy (to, (const unsigned char *) input_%u[run] + row "
                                "* %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ");\n}\n\n",
                                name, type, i, cleave_bundle_row_bytes (value),
                                cleave_bundle_row_bytes (value));
    }
}

/* Writes the lines that set the inputs before a run. */
static void
print_set_up (const CleaveBundle *bundle, GString *out)
{
  const CleaveGraph *graph = bundle->model->graph;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_input (bundle, i);
      g_autofree char *name = cleave_bundle_dup_input_name (bundle, i);
      g_autofree char *macro = g_ascii_strup (name, -1);

      if (!is_given (bundle, i))
        continue;
      if (value->producer != CLEAVE_BUNDLE_NONE)
        g_string_append_printf (out, "      io.read_%s = read_%s;\n", name, name);
      else if (value->place == CLEAVE_BUNDLE_INPUT)
        g_string_append_printf (out, "      io.%s = input_%u[run];\n", name, i);
      else
        {
          g_autofree char *memory = cleave_bundle_dup_memory_name (
              bundle, cleave_bundle_layout_buffer (bundle->layout, i)->memory);

          g_string_append_printf (
              out, "      memcpy (%s + %s_%s_OFFSET, input_%u[run], sizeof input_%u[run]);\n",
              memory, bundle->macro, macro, i, i);
        }
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveBundleValue *value = cleave_bundle_output (bundle, i);
      g_autofree char *name = cleave_bundle_dup_output_name (bundle, i);

      if (cleave_bundle_value (bundle->model, value->base)->place == CLEAVE_BUNDLE_OUTPUT)
        g_string_append_printf (out, "      io.%s = output_%u;\n", name, i);
    }
}

/* Appends the address of output `i` as C text. Returns FALSE if the output is a state in its own
 * memory, which the caller does not see. */
static gboolean
print_output (const CleaveBundle *bundle, guint i, GString *out)
{
  guint index = cleave_bundle_output (bundle, i)->base;
  const CleaveBundleValue *base = cleave_bundle_value (bundle->model, index);
  const CleaveBundleBuffer *buffer = NULL;
  g_autofree char *memory = NULL;

  if (base->place == CLEAVE_BUNDLE_INPUT)
    return FALSE;
  if (base->place == CLEAVE_BUNDLE_OUTPUT)
    {
      g_string_append_printf (out, "output_%u", base->port);
      return TRUE;
    }
  buffer = cleave_bundle_layout_buffer (bundle->layout, index);
  memory = cleave_bundle_dup_memory_name (bundle, buffer->memory);
  g_string_append_printf (out, "%s + %" G_GINT64_FORMAT, memory, buffer->offset);
  return TRUE;
}

static gboolean
is_float (const CleaveBundle *bundle, guint output)
{
  return cleave_bundle_output (bundle, output)->result->type.element == CLEAVE_FLOAT32;
}

/* Writes the function that compares floats, if the bundle has an output of floats. Processors make
 * NaNs of different signs, so any two NaNs are equal. */
static void
print_float_check (const CleaveBundle *bundle, GString *out)
{
  guint n = cleave_graph_get_n_outputs (bundle->model->graph), i = 0;

  while (i < n && !is_float (bundle, i))
    i++;
  if (i == n)
    return;
  g_string_append (
      out, "/* Returns 0 if two arrays of floats have the same bits. Any two NaNs are equal. */\n"
           "static int\ncompare_floats (const void *a, const void *b, unsigned long n_bytes)\n{\n"
           "  unsigned long at;\n  float x, y;\n\n"
           "  for (at = 0; at < n_bytes; at += sizeof x)\n    {\n"
           "      memcpy (&x, (const unsigned char *) a + at, sizeof x);\n"
           "      memcpy (&y, (const unsigned char *) b + at, sizeof y);\n"
           "      if (memcmp (&x, &y, sizeof x) != 0 && !(isnan (x) && isnan (y)))\n"
           "        return 1;\n    }\n  return 0;\n}\n\n");
}

static void
print_checks (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < cleave_graph_get_n_outputs (bundle->model->graph); i++)
    {
      g_autoptr (GString) output = g_string_new (NULL);

      if (print_output (bundle, i, output))
        g_string_append_printf (out,
                                "      if (%s (expected_%u[run], %s, sizeof expected_%u[run]) "
                                "!= 0)\n        return 1;\n",
                                is_float (bundle, i) ? "compare_floats" : "memcmp", i, output->str,
                                i);
    }
}

/* Returns the names of the memory arrays of the program (char *): the arenas and the states. */
static GPtrArray *
list_memories (const CleaveBundle *bundle)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < cleave_bundle_count_memories (bundle); i++)
    g_ptr_array_add (names, cleave_bundle_dup_memory_name (bundle, i));
  if (bundle->model->states->len > 0)
    g_ptr_array_add (names, g_strdup ("state"));
  return names;
}

/* Appends a text for each memory array. Replaces {name} in the text by the array's name, and {size}
 * by the macro of its size. */
static void
print_each (const CleaveBundle *bundle, const char *text, GString *out)
{
  g_autoptr (GPtrArray) names = list_memories (bundle);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *macro = g_ascii_strup (names->pdata[i], -1);
      g_autofree char *size = g_strdup_printf ("%s_%s_SIZE", bundle->macro, macro);
      g_autoptr (GString) line = g_string_new (text);

      g_string_replace (line, "{name}", names->pdata[i], 0);
      g_string_replace (line, "{size}", size, 0);
      g_string_append (out, line->str);
    }
}

/* Writes the function that measures the stack of a run. */
static void
print_paint (GString *out)
{
  g_string_append (
      out,
      "#ifdef MEASURE_STACK\n#include <stdint.h>\n#include <stdio.h>\n\n"
      "#define STACK_MARGIN 256u\n\n"
      "/* If is_begin is 1, fills MEASURE_STACK bytes of the stack below this call with a "
      "pattern.\n"
      " * If is_begin is 0, returns the bytes of stack that the code after the call with 1 used:\n"
      " * the distance from this call down to the lowest byte that has changed. */\n"
      "#ifdef __GNUC__\n__attribute__ ((noinline))\n#endif\n"
      "static unsigned long\npaint_stack (int is_begin)\n{\n"
      "  volatile unsigned char mark = 0x5a;\n"
      "  const uintptr_t top = (uintptr_t) &mark - STACK_MARGIN, begin = top - MEASURE_STACK;\n"
      "  uintptr_t at;\n\n"
      "  for (at = begin; at < top; at++)\n"
      "    if (is_begin)\n      *(volatile unsigned char *) at = mark;\n"
      "    else if (*(volatile unsigned char *) at != mark)\n      break;\n"
      "  return top + STACK_MARGIN - at;\n}\n#endif\n\n");
}

/* Writes the lines that call the run function. */
static void
print_call (const CleaveBundle *bundle, GString *out)
{
  g_string_append (out, "#ifdef MEASURE_STACK\n      paint_stack (1);\n#endif\n");
  g_string_append_printf (out, "      %s_run (", bundle->name);
  print_each (bundle, "{name}, ", out);
  g_string_append (out, "&io);\n"
                        "#ifdef MEASURE_STACK\n      printf (\"stack %lu\\n\", paint_stack (0));\n"
                        "#endif\n");
}

static void
print_program (const CleaveBundle *bundle, GString *out)
{
  print_each (bundle,
              "static union\n{\n  unsigned char bytes[{size} + 2 * GUARD];\n"
              "  double align;\n} {name}_memory;\n\n",
              out);
  print_readers (bundle, out);
  print_paint (out);
  print_float_check (bundle, out);
  g_string_append (out,
                   "/* Returns 0 if all outputs are right, 1 if an output differs, or 2 if bytes "
                   "around the memory of a run were changed. */\nint\nmain (void)\n{\n");
  print_each (bundle, "  unsigned char *{name} = {name}_memory.bytes + GUARD;\n", out);
  g_string_append_printf (out,
                          "  %sIo io;\n  unsigned run, i;\n\n"
                          "  memset (&io, 0, sizeof io);\n  io.user_data = &run;\n",
                          bundle->type);
  print_each (bundle, "  memset ({name}_memory.bytes, 0xa5, sizeof {name}_memory.bytes);\n", out);
  if (bundle->model->states->len > 0)
    g_string_append_printf (out, "  %s_reset (state);\n", bundle->name);
  g_string_append (out, "  for (run = 0; run < RUNS; run++)\n    {\n");
  print_set_up (bundle, out);
  print_call (bundle, out);
  g_string_append (out, "      for (i = 0; i < GUARD; i++)\n        if (");
  print_each (bundle,
              "{name}_memory.bytes[i] != 0xa5 || {name}[{size} + i] != 0xa5\n            || ", out);
  g_string_append (out, "0)\n          return 2;\n");
  print_checks (bundle, out);
  g_string_append (out, "    }\n  return 0;\n}\n");
}

char *
cleave_bundle_make_test (const CleaveBundle *bundle, GError **error)
{
  g_auto (CleaveBundleRuns) r = { 0 };
  GString *out;

  if (!cleave_bundle_runs_init (&r, bundle, error))
    return NULL;
  out = g_string_new (LICENSE);
  g_string_append_printf (out,
                          "\n#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n"
                          "#define GUARD %du\n#define RUNS %uu\n\n",
                          bundle->name, GUARD_BYTES, r.n_runs);
  print_arrays (&r, out);
  print_program (bundle, out);
  return g_string_free (out, FALSE);
}
