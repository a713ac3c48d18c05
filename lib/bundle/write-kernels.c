/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the kernels of a bundle, the single file with everything, and the README. */

#include "bundle.h"

#include <gio/gio.h>
#include <string.h>

#include "bundle-kernels.h"

#define LICENSE "/* SPDX-License-Identifier: 0BSD */\n"
#define KERNELS "/cleave/bundle/"
#define INCLUDE "#include \""

static GBytes *
load_kernel (const char *file, const char *ending)
{
  g_autofree char *path = g_strconcat (KERNELS, file, ending, NULL);
  g_autoptr (GError) error = NULL;
  static gsize once = 0;
  GBytes *bytes;

  if (g_once_init_enter (&once))
    {
      cleave_bundle_kernels_register_resource ();
      g_once_init_leave (&once, 1);
    }
  bytes = g_resource_lookup_data (cleave_bundle_kernels_get_resource (), path,
                                  G_RESOURCE_LOOKUP_FLAGS_NONE, &error);
  if (bytes == NULL)
    g_error ("no kernel file '%s': %s", path, error->message);
  return bytes;
}

/* The functions below select the code for DSP instructions and for Helium. */

/* Returns a text after choosing lines that depend on a macro. `conditions`: beginnings of the lines
 * that test the macro, ending with NULL:
 *
 *   #ifdef MACRO
 *   ...            only these lines are kept if is_defined is TRUE
 *   #else
 *   ...            only these lines are kept if it is FALSE
 *   #endif */
static char *
choose_lines (const char *text, const char *const *conditions, gboolean is_defined)
{
  GString *out = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean is_inside = FALSE, is_kept = TRUE;
  guint depth = 0; /* number of nested #if lines inside the block that have no #endif yet */

  for (guint i = 0; lines[i] != NULL; i++)
    {
      gboolean is_mark = TRUE, is_condition = FALSE;

      for (guint j = 0; conditions[j] != NULL && !is_inside; j++)
        is_condition = is_condition || g_str_has_prefix (lines[i], conditions[j]);
      if (is_condition)
        {
          is_inside = TRUE;
          is_kept = is_defined;
        }
      else if (is_inside && depth == 0 && g_str_has_prefix (lines[i], "#else"))
        is_kept = !is_defined;
      else if (is_inside && depth == 0 && g_str_has_prefix (lines[i], "#endif"))
        {
          is_inside = FALSE;
          is_kept = TRUE;
        }
      else
        {
          is_mark = FALSE;
          depth += is_inside && g_str_has_prefix (lines[i], "#if");
          depth -= is_inside && g_str_has_prefix (lines[i], "#endif");
        }
      if (!is_mark && is_kept)
        g_string_append_printf (out, "%s%s", lines[i], lines[i + 1] == NULL ? "" : "\n");
    }
  return g_string_free (out, FALSE);
}

/* Returns the C text of a kernel for processors with DSP instructions, or, if has_dsp is FALSE, for
 * processors without them: omits the code for other processors. All processors with Helium have DSP
 * instructions, so FALSE also omits the code for Helium. */
static char *
choose_dsp (const char *text, gboolean has_dsp)
{
  static const char *const helium[] = { "#ifdef CLEAVE_MVE", NULL };
  static const char *const dsp[] = { "#ifdef CLEAVE_DSP", "#if defined __ARM_FEATURE_DSP", NULL };
  g_autofree char *rest = has_dsp ? g_strdup (text) : choose_lines (text, helium, FALSE);

  return choose_lines (rest, dsp, has_dsp);
}

/* Returns the text of a kernel file, with the code for the instructions that the options select. */
static char *
dup_kernel (const CleaveBundle *bundle, const char *file, const char *ending)
{
  g_autoptr (GBytes) bytes = load_kernel (file, ending);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  if (bundle->kernels == CLEAVE_BUNDLE_KERNELS_ANY ||
      bundle->kernels == CLEAVE_BUNDLE_KERNELS_CMSIS_NN)
    return g_steal_pointer (&text);
  return choose_dsp (text, bundle->kernels == CLEAVE_BUNDLE_KERNELS_DSP);
}

/* The functions below append the kernels. */

gboolean
cleave_bundle_calls_cmsis (const CleaveBundle *bundle)
{
  return bundle->stats.n_calls > 0;
}

/* Appends a C text. Replaces the first #include line of each header of the kernels by the text of
 * that header, without its license. Omits later #include lines of the same header. The headers with
 * names that begin with "cleave-" are files of the bundle: keeps their #include lines if
 * keeps_includes is TRUE, and omits these lines if not. `seen`: #include lines of the headers so
 * far. */
static void
append_text (const CleaveBundle *bundle,
             GString *out,
             const char *text,
             gboolean keeps_includes,
             GHashTable *seen)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const gboolean is_include = g_str_has_prefix (lines[i], INCLUDE);
      const gboolean is_of_bundle = g_str_has_prefix (lines[i], INCLUDE "cleave-");

      if (!is_include || (is_of_bundle && keeps_includes))
        g_string_append_printf (out, "%s%s", lines[i], lines[i + 1] == NULL ? "" : "\n");
      else if (!is_of_bundle)
        {
          g_auto (GStrv) name = g_strsplit_set (lines[i] + strlen (INCLUDE), ".\"", 2);
          g_autofree char *header = dup_kernel (bundle, name[0], ".h");

          if (g_hash_table_add (seen, g_strdup (lines[i])))
            append_text (bundle, out, strchr (header, '\n') + 1, FALSE, seen);
        }
    }
}

/* Appends the text of a file of kernels without its first line, which is the license. */
static void
append_kernel (const CleaveBundle *bundle, GString *out, const char *file, GHashTable *seen)
{
  g_autofree char *text = dup_kernel (bundle, file, ".c");

  append_text (bundle, out, strchr (text, '\n') + 1, FALSE, seen);
}

/* Appends the loop (cleave-run.c) and the kernels, without the bundle's headers. */
static void
append_kernels (const CleaveBundle *bundle, GString *out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  append_kernel (bundle, out, "cleave-run", seen);
  for (guint i = 0; i < bundle->model->steps->len; i++)
    {
      const char *file = cleave_bundle_step (bundle->model, i)->layer->file;

      if (file != NULL && g_hash_table_add (seen, g_strdup (file)))
        append_kernel (bundle, out, file, seen);
    }
}

/* Appends the lines before the kernels: the macros that the headers of the kernels test, such as
 * CLEAVE_FLOAT_SCALES, and a line that turns a warning of clang off. */
static void
append_settings (const CleaveBundle *bundle, GString *out)
{
  gboolean has_float_scales = FALSE, has_fixed_scales = FALSE, has_separate_weights = FALSE;

  for (guint i = 0; i < bundle->model->steps->len; i++)
    {
      const CleaveBundleLayer *layer = cleave_bundle_step (bundle->model, i)->layer;

      has_float_scales |= layer->has_float_scales;
      has_fixed_scales |= layer->has_fixed_scales;
      has_separate_weights |= layer->has_separate_weights;
    }
  g_string_append (out,
                   "\n/* A header of kernels may have functions that this model does not use. */\n"
                   "#ifdef __clang__\n"
                   "#pragma clang diagnostic ignored \"-Wunused-function\"\n"
                   "#endif\n");
  if (has_float_scales)
    g_string_append (out, "\n#define CLEAVE_FLOAT_SCALES\n");
  if (has_fixed_scales)
    g_string_append (out, "\n#define CLEAVE_FIXED_SCALES\n");
  if (has_separate_weights)
    g_string_append (out, "\n#define CLEAVE_SEPARATE_WEIGHTS\n");
}

/* Returns whether a text calls a function. */
static gboolean
has_call (const char *text, const char *function)
{
  g_autofree char *call = g_strconcat (function, " (", NULL);

  return strstr (text, call) != NULL;
}

/* Appends a comment with the functions of CMSIS-NN that the kernels call. */
static void
append_cmsis (const char *kernels, GString *out)
{
  g_autoptr (GRegex) call = g_regex_new ("\\barm_\\w+(?= \\()", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) list = g_string_new (NULL);

  g_regex_match (call, kernels, 0, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      char *name = g_match_info_fetch (match, 0);

      if (g_hash_table_add (names, name))
        g_string_append_printf (list, "%s%s", list->len == 0 ? "" : ", ", name);
    }
  if (list->len > 0)
    g_string_append_printf (out, "/* The objects also call functions of CMSIS-NN: %s. */\n\n",
                            list->str);
}

void
cleave_bundle_append_libc (const CleaveBundle *bundle, GString *out)
{
  static const char *const math[] = { "ceilf",  "copysignf", "fabs", "fabsf",
                                      "floorf", "rintf",     "sqrt", "sqrtf" };
  g_autoptr (GString) kernels = g_string_new (NULL);

  append_kernels (bundle, kernels);
  g_string_append (out,
                   "/* The objects call only these functions of the C library: memcpy, memset");
  if (has_call (kernels->str, "cleave_fma") || has_call (kernels->str, "cleave_exp_parts"))
    g_string_append (out, ", fmaf");
  for (guint i = 0; i < G_N_ELEMENTS (math); i++)
    if (has_call (kernels->str, math[i]))
      g_string_append_printf (out, ", %s", math[i]);
  g_string_append (out, ". */\n\n");
  append_cmsis (kernels->str, out);
}

char *
cleave_bundle_make_kernels (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);

  append_settings (bundle, out);
  g_string_append (out, "\n#include \"cleave-run.h\"\n");
  append_kernels (bundle, out);
  return g_string_free (out, FALSE);
}

char *
cleave_bundle_make_kernels_header (const CleaveBundle *bundle, const char *file)
{
  g_autofree char *header = dup_kernel (bundle, file, ".h");
  g_autoptr (GString) lines = g_string_new (header);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);

  if (cleave_bundle_calls_cmsis (bundle))
    g_string_replace (lines, INCLUDE "operands.h\"\n",
                      INCLUDE "operands.h\"\n" INCLUDE "cmsis.h\"\n", 1);
  append_text (bundle, text, lines->str, TRUE, seen);
  if (cleave_bundle_is_wide (bundle))
    g_string_replace (text, "#define CLEAVE_KERNELS_H\n",
                      "#define CLEAVE_KERNELS_H\n\n#define CLEAVE_WIDE\n", 1);
  if (cleave_bundle_is_long (bundle))
    g_string_replace (text, "#define CLEAVE_KERNELS_H\n",
                      "#define CLEAVE_KERNELS_H\n\n#define CLEAVE_LONG\n", 1);
  if (bundle->kernels == CLEAVE_BUNDLE_KERNELS_DSP)
    g_string_replace (text, "#define CLEAVE_KERNELS_H\n",
                      "#define CLEAVE_KERNELS_H\n\n"
                      "#ifndef __ARM_FEATURE_DSP\n"
                      "#error These kernels need the DSP extension of ARM. Compile for a processor "
                      "that has it, or write the bundle with --kernels c.\n#endif\n",
                      1);
  return g_string_free (text, FALSE);
}

/* The functions below write one file with everything. */

/* Appends a C text, with `static` before its functions. Omits the declarations of these functions,
 * and the #include lines of other files of the bundle. */
static void
append_static (GString *out, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_equal (lines[i], "void"))
      g_string_append (out, "CLEAVE_STATIC void\n");
    else if (g_str_has_prefix (lines[i], "CLEAVE_DEFINE_"))
      g_string_append_printf (out, "CLEAVE_STATIC %s\n", lines[i]);
    else if (!(g_str_has_prefix (lines[i], "void ") && g_str_has_suffix (lines[i], ";")) &&
             !g_str_has_prefix (lines[i], INCLUDE) &&
             !g_str_has_prefix (lines[i], "/* SPDX-License-Identifier"))
      g_string_append_printf (out, "%s%s", lines[i], lines[i + 1] == NULL ? "" : "\n");
}

char *
cleave_bundle_make_single (const CleaveBundle *bundle)
{
  GString *out = g_string_new (LICENSE);
  g_autoptr (GString) kernels = g_string_new (NULL);
  g_autofree char *header = cleave_bundle_make_kernels_header (bundle, "cleave-kernels");
  g_autofree char *run = cleave_bundle_make_kernels_header (bundle, "cleave-run");

  cleave_bundle_append_plan (bundle, out);
  g_string_append_printf (
      out,
      "\n#include \"%s.h\"\n\n"
      "/* A file of kernels may have functions that this model does not use. */\n"
      "#ifdef __GNUC__\n#define CLEAVE_STATIC static __attribute__ ((unused))\n"
      "#else\n#define CLEAVE_STATIC static\n#endif\n",
      bundle->name);
  append_settings (bundle, out);
  append_static (out, header);
  append_static (out, run);
  append_kernels (bundle, kernels);
  append_static (out, kernels->str);
  cleave_bundle_append_weights (bundle, TRUE, out);
  g_string_append (out, "\n");
  cleave_bundle_append_tables (bundle, out);
  return g_string_free (out, FALSE);
}

/* The functions below write the README. */

/* Returns the names of the source files, except the test, separated by spaces. */
static char *
dup_sources (const CleaveBundle *bundle)
{
  if (bundle->is_single_file)
    return g_strconcat (bundle->name, ".c", NULL);
  return g_strdup_printf ("%s.c %s-weights.%c cleave-kernels.c", bundle->name, bundle->name,
                          bundle->has_object_weights ? 'S' : 'c');
}

static void
append_memories (const CleaveBundle *bundle, GString *out)
{
  for (guint i = 0; i < bundle->n_memories; i++)
    g_string_append_printf (out, "memory   %s: %" G_GINT64_FORMAT " bytes\n", bundle->memories[i],
                            bundle->layout->memory_bytes[i]);
  if (bundle->model->state_bytes > 0)
    g_string_append_printf (out, "state    %" G_GINT64_FORMAT " bytes, kept from run to run\n",
                            bundle->model->state_bytes);
}

char *
cleave_bundle_make_readme (const CleaveBundle *bundle)
{
  const CleaveBundleStats *stats = &bundle->stats;
  GString *out = g_string_new (NULL);
  g_autofree char *sources = dup_sources (bundle);

  g_string_append_printf (out,
                          "%s: a neural network as C99, license 0BSD\n\n"
                          "arena    %" G_GINT64_FORMAT " bytes (%" G_GINT64_FORMAT
                          " if each layer were whole)\n",
                          bundle->name, stats->arena_bytes, stats->unsplit_bytes);
  append_memories (bundle, out);
  g_string_append_printf (out,
                          "weights  %" G_GINT64_FORMAT " bytes, constant\n"
                          "MACs     %" G_GINT64_FORMAT "\n"
                          "layers   %u in %u loops\n\n"
                          "Compile these files into your program, and call %s_run ():\n\n  %s\n\n"
                          "The sizes, offsets and types are in %s.h.\n\n",
                          stats->weight_bytes, stats->macs, stats->n_layers, stats->n_segments,
                          bundle->name, sources, bundle->name);
  if (cleave_bundle_calls_cmsis (bundle))
    g_string_append_printf (out,
                            "%u layers call CMSIS-NN, the library of ARM. Its folder Include has "
                            "arm_nnfunctions.h.\n\n",
                            stats->n_calls);
  g_string_append_printf (
      out,
      "To test on this machine:\n\n"
      "  cc -std=c99 -O2 %s-test.c %s %s-lm -o test && ./test\n",
      bundle->name, sources,
      cleave_bundle_calls_cmsis (bundle) ? "-I CMSIS-NN/Include -L CMSIS-NN -lcmsis-nn " : "");
  return g_string_free (out, FALSE);
}
