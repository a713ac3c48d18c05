/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Options of bundles: files, kernels, types of inputs and outputs, several memories. */

#include "networks.h"
#include "test.h"

#include <string.h>

#include "../../lib/bundle/bundle.h"

static CleaveBundle *
make (const CleaveGraph *graph, const char *const *options)
{
  g_autoptr (GError) error = NULL;
  CleaveBundle *bundle = cleave_bundle_new_from_texts (graph, options, &error);

  cleave_assert_no_error (error);
  return bundle;
}

/* Asserts that making a bundle of the graph with these options fails. Returns the error message. */
static char *
refuse (const CleaveGraph *graph, const char *const *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveBundle) bundle = cleave_bundle_new_from_texts (graph, options, &error);

  ck_assert_msg (bundle == NULL, "%s is accepted", options[0]);
  return g_strdup (error->message);
}

static GHashTable *
list_files (const CleaveBundle *bundle)
{
  g_autoptr (GError) error = NULL;
  GHashTable *files = cleave_bundle_dup_files (bundle, &error);

  cleave_assert_no_error (error);
  return files;
}

static gboolean
some_file_has (GHashTable *files, const char *text)
{
  GHashTableIter iter;
  gpointer contents;

  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, NULL, &contents))
    if (strstr (contents, text) != NULL)
      return TRUE;
  return FALSE;
}

/* The tests below check the files of a bundle. */

START_TEST (a_single_file_has_the_bits_and_no_other_names)
{
  static const char *const options[] = { "single-file", NULL };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (6); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      g_autoptr (CleaveBundle) bundle = make (graph, options);
      g_autoptr (GHashTable) files = list_files (bundle);

      ck_assert_uint_eq (g_hash_table_size (files), 4);
      ck_assert_int_eq (network_check (bundle, "-O1 -fsanitize=undefined -fno-sanitize-recover"),
                        0);
    }
}
END_TEST

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

/* Two models that are linked into one program must not define the same symbol. */
START_TEST (single_files_of_two_models_link_into_one_program)
{
  static const char *const first[] = { "single-file", "name=first", NULL };
  static const char *const second[] = { "single-file", "name=second", NULL };
  g_autoptr (CleaveGraph) graph = network_random (3);
  g_autofree char *folder = g_dir_make_tmp ("cleave-bundle-XXXXXX", NULL);
  g_autofree char *command =
      g_strdup_printf ("sh -c 'cd \"%s\" && cc -std=c99 -r -nostdlib -o both.o first.c second.c && "
                       "nm -g --defined-only both.o; rm -r \"%s\"'",
                       folder, folder);
  g_autoptr (CleaveBundle) a = make (graph, first), b = make (graph, second);
  g_autofree char *symbols = NULL;

  ck_assert (cleave_bundle_write (a, folder, NULL) && cleave_bundle_write (b, folder, NULL));
  ck_assert (g_spawn_command_line_sync (command, &symbols, NULL, NULL, NULL));
  ck_assert_msg (strstr (symbols, " T first_run\n") != NULL, "%s", symbols);
  ck_assert_msg (strstr (symbols, " T second_run\n") != NULL, "%s", symbols);
  ck_assert_msg (strchr (strchr (symbols, '\n') + 1, '\n')[1] == '\0', "more symbols:\n%s",
                 symbols);
}
END_TEST

START_TEST (weights_for_the_assembler_have_the_bits)
{
  static const char *const options[] = { "weights=object", NULL };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (6); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      g_autoptr (CleaveBundle) bundle = make (graph, options);
      g_autoptr (GHashTable) files = list_files (bundle);
      g_autofree char *name = g_strconcat (bundle->name, "-weights.S", NULL);

      ck_assert (g_hash_table_contains (files, name));
      ck_assert_int_eq (network_check (bundle, "-O1"), 0);
    }
}
END_TEST

/* The tests below check the option for the kernels of a bundle. */

START_TEST (kernels_in_c_have_no_instructions_of_arm)
{
  static const char *const c[] = { "kernels=c", NULL }, *const any[] = { NULL };
  g_autoptr (CleaveGraph) graph = network_random (3);
  g_autoptr (CleaveBundle) plain = make (graph, c), all = make (graph, any);
  g_autoptr (GHashTable) plain_files = list_files (plain), all_files = list_files (all);

  ck_assert (some_file_has (all_files, "__smlad"));
  ck_assert (!some_file_has (plain_files, "__smlad"));
  ck_assert (!some_file_has (plain_files, "__ARM_FEATURE_DSP"));
  ck_assert_int_eq (network_check (plain, "-O1"), 0);
}
END_TEST

START_TEST (kernels_with_dsp_instructions_stop_other_compilers)
{
  static const char *const dsp[] = { "kernels=dsp", NULL };
  g_autoptr (CleaveGraph) graph = network_random (3);
  g_autoptr (CleaveBundle) bundle = make (graph, dsp);
  g_autoptr (GHashTable) files = list_files (bundle);

  ck_assert (some_file_has (files, "#error These kernels need the DSP extension of ARM"));
  ck_assert (some_file_has (files, "__smlad"));
  ck_assert (!some_file_has (files, "CLEAVE_PLAIN_C"));
}
END_TEST

/* The tests below check the option for the types of inputs and outputs. */

static const char quantized[] =
    "graph q\n"
    "%x = Input : float32 1x2x6x6  # x\n"
    "%s = Constant value=0.05 : float32 scalar  # s\n"
    "%z = Constant value=3 : int8 scalar  # z\n"
    "%w = Constant seed=1 : int8 4x2x3x3  # w\n"
    "%v = Constant value=0.01 : float32 scalar  # v\n"
    "%n = Constant value=0 : int8 scalar  # n\n"
    "%a = QuantizeLinear %x, %s, %z  # a\n"
    "%b = QLinearConv %a, %s, %z, %w, %v, %n, %s, %z pads=1,1,1,1  # b\n"
    "%y = DequantizeLinear %b, %s, %z  # y\n"
    "output %y  # y\n";

static CleaveElement
element_of (const CleaveBundle *bundle, gboolean is_input)
{
  const CleaveBundleValue *value =
      is_input ? cleave_bundle_input (bundle, 0) : cleave_bundle_output (bundle, 0);

  return value->result->type.element;
}

START_TEST (conversions_at_the_ends_are_removed_and_added)
{
  static const char *const int8[] = { "io-type=int8", NULL }, *const floats[] = { "io-type=float",
                                                                                  NULL };
  g_autoptr (CleaveGraph) graph = parse (quantized);
  g_autoptr (CleaveBundle) bytes = make (graph, int8), same = make (graph, floats), back = NULL;
  g_autofree char *header = cleave_bundle_make_header (bytes);

  ck_assert_int_eq (element_of (bytes, TRUE), CLEAVE_INT8);
  ck_assert_int_eq (element_of (bytes, FALSE), CLEAVE_INT8);
  ck_assert_int_eq (element_of (same, TRUE), CLEAVE_FLOAT32);
  ck_assert_uint_eq (bytes->stats.n_layers, 1);
  ck_assert_uint_eq (same->stats.n_layers, 3);
  ck_assert_ptr_nonnull (strstr (header, "#define Q_X_ZERO 3\n"));
  ck_assert_ptr_nonnull (strstr (header, "#define Q_Y_SCALE 0x1.99999ap-5f"));
  ck_assert_int_eq (network_check (bytes, "-O1"), 0);
  ck_assert_int_eq (network_check (same, "-O1"), 0);
  back = make (bytes->model->graph, floats);
  ck_assert_int_eq (element_of (back, FALSE), CLEAVE_FLOAT32);
  ck_assert_uint_eq (back->stats.n_layers, 3);
  ck_assert_int_eq (network_check (back, "-O1"), 0);
}
END_TEST

START_TEST (types_that_the_model_has_no_scale_for_are_refused)
{
  static const char *const int8[] = { "io-type=int8", NULL };
  static const char *const floats[] = { "io-type=float", NULL };
  g_autoptr (CleaveGraph) real = parse ("%x = Input : float32 1x2x4x4  # x\n%y = Relu %x\n"
                                        "output %y  # y\n");
  g_autoptr (CleaveGraph) bytes = parse ("%x = Input : int8 1x2x4x4  # x\n"
                                         "%y = MaxPool %x kernel_shape=2,2\noutput %y  # y\n");
  g_autofree char *no_bytes = refuse (real, int8), *no_floats = refuse (bytes, floats);

  ck_assert_msg (strstr (no_bytes, "output 'y'") != NULL || strstr (no_bytes, "input 'x'") != NULL,
                 "%s", no_bytes);
  ck_assert_msg (strstr (no_floats, "input 'x' has no scale") != NULL, "%s", no_floats);
}
END_TEST

/* The tests below check zero points of weights. */

/* A weight minus its zero point has 9 bits, and the bundle stores this difference. */
START_TEST (zero_points_of_weights_are_subtracted)
{
  static const char *const any[] = { NULL };
  g_autoptr (CleaveGraph) graph =
      parse ("graph z\n"
             "%x = Input : int8 1x6x6x3  # x\n"
             "%zero = Constant value=-5 : int8 scalar  # zero\n"
             "%w = Constant seed=1 : int8 4x3x3x3  # w\n"
             "%wz = Constant value=100 : int8 4  # wz\n"
             "%m = Constant value=1518500250 : int32 4  # m\n"
             "%shift = Constant value=-8 : int32 4  # shift\n"
             "%b = Constant value=10 : int32 4  # b\n"
             "%y = TfliteConv %x, %zero, %w, %m, %shift, %zero, %b, %wz layout=NHWC pads=1,1,1,1 "
             "min=-128 max=127\n"
             "output %y  # y\n");
  g_autoptr (CleaveBundle) bundle = make (graph, any);

  ck_assert_int_eq (network_check (bundle, "-O1"), 0);
}
END_TEST

/* The tests below check bundles with several memories. */

/* Returns options with two memories, of `fast` and `slow` bytes. */
static GStrv
memory_options (gint64 fast, gint64 slow)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *first = g_strdup_printf ("memory=fast=%" G_GINT64_FORMAT, fast);
  g_autofree char *second = g_strdup_printf ("memory=slow=%" G_GINT64_FORMAT, slow);

  g_strv_builder_add_many (builder, first, second, "input=apart", NULL);
  return g_strv_builder_end (builder);
}

START_TEST (two_memories_have_the_bits_of_one)
{
  static const char *const one[] = { "input=apart", NULL };
  guint both = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (10); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      g_autoptr (CleaveBundle) single = make (graph, one);
      gint64 fast = single->stats.arena_bytes / 3, slow = single->stats.arena_bytes;
      g_auto (GStrv) options = memory_options (fast, slow);
      g_autoptr (CleaveBundle) bundle = make (graph, (const char *const *) options);
      gint64 in_fast = cleave_bundle_get_memory_bytes (bundle, "fast");
      gint64 in_slow = cleave_bundle_get_memory_bytes (bundle, "slow");

      ck_assert_int_le (in_fast, fast);
      ck_assert_int_le (in_slow, slow);
      ck_assert_int_eq (in_fast + in_slow, bundle->stats.arena_bytes);
      both += in_fast > 0 && in_slow > 0;
      ck_assert_int_eq (network_check (bundle, "-O1 -fsanitize=undefined -fno-sanitize-recover"),
                        0);
    }
  ck_assert_uint_gt (both, 0);
}
END_TEST

START_TEST (one_memory_has_the_bytes_of_an_arena_with_its_limit)
{
  static const char *const one[] = { "max-memory=1MiB", "input=apart", NULL };
  static const char *const large[] = { "memory=all=1MiB", "input=apart", NULL };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      g_autoptr (CleaveBundle) arena = make (graph, one), memory = make (graph, large);

      ck_assert_int_eq (memory->stats.arena_bytes, arena->stats.arena_bytes);
    }
}
END_TEST

START_TEST (memories_that_are_too_small_name_the_least)
{
  static const char *const one[] = { "input=apart", NULL };
  g_autoptr (CleaveGraph) graph = network_random (3);
  g_autoptr (CleaveBundle) single = make (graph, one);
  g_auto (GStrv) options = memory_options (4, single->stats.arena_bytes - 16);
  g_autofree char *least = g_strdup_printf (
      "the smallest arena found has %" G_GINT64_FORMAT " bytes", single->stats.arena_bytes);
  g_autofree char *message = refuse (graph, (const char *const *) options);

  ck_assert_int_eq (cleave_bundle_get_memory_bytes (single, "fast"), -1);
  ck_assert_msg (strstr (message, least) != NULL, "%s", message);
}
END_TEST

/* The test below checks the error for refused nodes. */

START_TEST (nine_of_twelve_refused_nodes_are_named)
{
  static const char *const any[] = { NULL };
  g_autoptr (GString) text = g_string_new ("%x0 = Input : float32 1x8  # x0\n");
  g_autoptr (CleaveGraph) graph = NULL;
  g_autofree char *message = NULL;

  for (guint i = 0; i < 12; i++)
    g_string_append_printf (text, "%%x%u = CumSum %%x%u axis=1  # x%u\n", i + 1, i, i + 1);
  g_string_append (text, "output %x12  # y\n");
  graph = parse (text->str);
  message = refuse (graph, any);
  ck_assert_msg (strstr (message, "CumSum 'x1'") != NULL, "%s", message);
  ck_assert_msg (strstr (message, "; 11 other nodes are also refused: CumSum 'x2'") != NULL, "%s",
                 message);
  ck_assert_msg (g_str_has_suffix (message, "CumSum 'x9' and 3 more"), "%s", message);
}
END_TEST

/* The tests below check mistakes in options. */

START_TEST (wrong_texts_are_refused_by_name)
{
  static const struct
  {
    const char *options[3], *message;
  } cases[] = {
    { { "kernels=neon" }, "--kernels expects any, c, dsp or cmsis-nn, not 'neon'" },
    { { "io-type=int4" }, "--io-type expects model, int8 or float, not 'int4'" },
    { { "weights=binary" }, "--weights expects source or object, not 'binary'" },
    { { "input=a=inside" }, "--input expects arena, apart or rows, not 'inside'" },
    { { "memory=64KiB" }, "--memory expects NAME=SIZE, not '64KiB'" },
    { { "memory=fast=much" }, "much" },
    { { "memory=a=1KiB", "memory=a=2KiB" }, "a memory is named 'a'" },
    { { "memory=state=1KiB" }, "a memory is named 'state'" },
    { { "memory=a=1KiB", "max-memory=1KiB" }, "max_memory limits one arena" },
    { { "memory=a=0" }, "--memory must be more than 0" },
    { { "single-file", "weights=object" }, "a single file has its weights as C" },
    { { "align=5" }, "--align expects 4, 8 or 16, not '5'" },
    { { "speed=9" }, "a bundle has no option 'speed'" },
    { { "single" }, "expected NAME=VALUE or single-file, found 'single'" },
  };
  g_autoptr (CleaveGraph) graph = network_random (3);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *message = refuse (graph, cases[i].options);

      ck_assert_msg (strstr (message, cases[i].message) != NULL, "%u: %s", i, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "files", a_single_file_has_the_bits_and_no_other_names,
                   single_files_of_two_models_link_into_one_program,
                   weights_for_the_assembler_have_the_bits, NULL);
  cleave_add_case (suite, "kernels", kernels_in_c_have_no_instructions_of_arm,
                   kernels_with_dsp_instructions_stop_other_compilers, NULL);
  cleave_add_case (suite, "types", conversions_at_the_ends_are_removed_and_added,
                   types_that_the_model_has_no_scale_for_are_refused, NULL);
  cleave_add_case (suite, "zeros", zero_points_of_weights_are_subtracted, NULL);
  cleave_add_case (suite, "memories", two_memories_have_the_bits_of_one,
                   one_memory_has_the_bytes_of_an_arena_with_its_limit,
                   memories_that_are_too_small_name_the_least, NULL);
  cleave_add_case (suite, "refusals", nine_of_twelve_refused_nodes_are_named, NULL);
  cleave_add_case (suite, "mistakes", wrong_texts_are_refused_by_name, NULL);
}

CLEAVE_TEST_SUITE ("options", add_tests)
