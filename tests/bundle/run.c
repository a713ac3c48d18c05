/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compiles bundles of random networks with the C compiler, and runs the bundles. The outputs must
 * have the same bits as the outputs of a CleaveProgram. A bundle must write no byte outside of the
 * arena. */

#include "networks.h"
#include "test.h"

#include <string.h>

#include "../../lib/bundle/bundle.h"

#define N_SEEDS CLEAVE_TRIALS (12)

/* The number of plans with each feature, such as a ring buffer. */
typedef struct
{
  guint rings, bands, upward, in_place, rows;
} Seen;

static void
count (const char *plan, Seen *seen)
{
  seen->rings += strstr (plan, "ring of") != NULL;
  seen->bands += strstr (plan, " bands") != NULL;
  seen->upward += strstr (plan, "upward") != NULL;
  seen->in_place += strstr (plan, "in place") != NULL;
  seen->rows += strstr (plan, "rows of the caller") != NULL;
}

/* Makes a bundle, compiles it and runs its test program. Asserts that the program succeeds, and
 * counts the features of the plan in `seen`. */
static CleaveBundleStats
check (const CleaveGraph *graph, guint32 seed, CleaveBundleOptions options, Seen *seen)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveBundle) bundle = cleave_bundle_new (graph, &options, &error);
  g_autofree char *plan = NULL;
  CleaveBundleStats stats;
  int status;

  cleave_assert_no_error (error);
  plan = cleave_bundle_print (bundle);
  count (plan, seen);
  status = network_check (bundle,
                          seed % 2 == 0 ? "-O0 -fsanitize=undefined -fno-sanitize-recover" : "-O1");
  ck_assert_msg (status == 0, "seed %u: status %d\n%s", seed, status, plan);
  cleave_bundle_get_stats (bundle, &stats);
  return stats;
}

START_TEST (bundles_of_random_networks_have_the_bits_of_a_program)
{
  Seen seen = { 0 };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      CleaveBundleIo in = { NULL, (CleaveBundleWhere) (seed % 3) };
      CleaveBundleIo out = { NULL, (CleaveBundleWhere) (seed % 2) };
      CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED,
                                .inputs = &in,
                                .n_inputs = 1,
                                .outputs = &out,
                                .n_outputs = 1 };
      CleaveBundleStats stats;

      stats = check (graph, seed, o, &seen);
      o.max_added_macs = 0;
      stats = check (graph, seed, o, &seen);
      o.max_memory = (stats.arena_bytes + stats.unsplit_bytes) / 2;
      stats = check (graph, seed, o, &seen);
      ck_assert_int_le (stats.arena_bytes, o.max_memory);
    }
  ck_assert_uint_gt (seen.rings, 0);
  ck_assert_uint_gt (seen.bands, 0);
  ck_assert_uint_gt (seen.upward, 0);
  ck_assert_uint_gt (seen.in_place, 0);
  ck_assert_uint_gt (seen.rows, 0);
}
END_TEST

#define BYTE_SCALES                                                                                \
  "%s = Constant value=0.0625 : float32 scalar\n%t = Constant value=1.375 : float32 scalar\n"      \
  "%ua = Constant value=131 : uint8 scalar\n%ub = Constant value=0 : uint8 scalar\n"               \
  "%ib = Constant value=-7 : int8 scalar\n%iy = Constant value=12 : int8 scalar\n"

/* Graphs whose values have other shapes in a bundle than in the graph. Some graphs join or mix the
 * images of a batch, or compute a batch as one image. Other graphs contain sequences, or
 * normalizations along any dimensions. */
static const char *const texts[] = {
  /* A Concat within each of the nine images of a batch. For each image, the parts are in the memory
     of the Concat. */
  "%x = Input : float32 9x1x1x24\n%a = Input : float32 9x1x1x24\n"
  "%y = Concat %x, %a axis=1\noutput %y\n",
  "%x = Input : float32 2x3x4x5\n%p = Transpose %x perm=1,0,3,2\n%y = Softmax %p axis=1\n"
  "output %y\n",
  "%x = Input : float32 1x3x4x5\n%c = GlobalMaxPool %x\n%s = Softmax %x axis=2\n"
  "%y = ReduceMax %s axes=1,3 keepdims=0\noutput %y\noutput %c\n",
  "%x = Input : float32 1x2x4x6\n%b = Input : float32 1x2x6x3\n%c = GlobalMaxPool %x\n"
  "%y = MatMul %x, %b\noutput %y\noutput %c\n",
  /* products of bytes: of matrices, of stacks of matrices, and of a stack and a matrix
   */
  "%a = Input : uint8 5x7\n%b = Input : int8 7x3\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ua, %b, %s, %ib, %t, %iy\noutput %y\n",
  "%a = Input : int8 2x3x5x70\n%b = Input : uint8 3x70x9\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ib, %b, %s, %ua, %t, %ua\noutput %y\n",
  "%a = Input : int8 3x4x6\n%b = Input : int8 6x2\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ib, %b, %s, %iy, %t, %ib\noutput %y\n",
  "%a = Input : int8 1x2x4x6\n%b = Input : int8 1x2x6x3\n%d = Input : int8 1x1x4x6\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ib, %b, %s, %iy, %t, %ib\n"
  "%z = QLinearMatMul %d, %s, %iy, %b, %s, %ib, %t, %ua\noutput %y\noutput %z\n",
  "%a = Input : int8 1x2x4x6\n%b = Input : uint8 1x1x6x3\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ib, %b, %s, %ub, %t, %ib\noutput %y\n",
  "%a = Input : uint8 1x2x4x6\n%b = Input : uint8 1x2x6x3\n%c = MaxPool %a "
  "kernel_shape=2,2\n" BYTE_SCALES
  "%y = QLinearMatMul %a, %s, %ua, %b, %s, %ub, %t, %ub\noutput %y\noutput %c\n",
  "%x = Input : float32 1x3x4x5\n%scale = Constant seed=1 : float32 3\n"
  "%b = Constant seed=2 : float32 3\n%y = InstanceNormalization %x, %scale, %b\noutput %y\n",
  "%x = Input : float32 3x1x4x5\n%a = Constant seed=1 : float32 3x1x1x5\n%y = Add %x, %a\n"
  "output %y\n",
  /* a Where whose two operands are computed; the bundle computes this Where as the sum of two
   * Wheres */
  "%c = Input : bool 1x1x5x4\n%a = Input : float32 1x6x5x4\n%b = Input : float32 1x6x1x4\n"
  "%y = Where %c, %a, %b\noutput %y\n",
  /* each of these ops has kernels with a header of the op's name, such as log-f32.h; other kernels
   * of the bundle include this header, too */
  "%x = Input : float32 1x4x4x5\n%y = Log %x\noutput %y\n",
  "%x = Input : float32 1x4x4x5\n%a = Softmax %x axis=3\n%b = LogSoftmax %x axis=3\n"
  "%c = Log %a\noutput %b\noutput %c\n",
  "%x = Input : float32 6x1x4\n%w = Constant seed=1 : float32 1x12x4\n"
  "%r = Constant seed=2 : float32 1x12x3\n%y, %h, %c = LSTM %x, %w, %r hidden_size=3\n"
  "output %y\noutput %h\noutput %c\n",
  "%x = Input : float32 6x2x4\n%w = Constant seed=1 : float32 2x9x4\n"
  "%r = Constant seed=2 : float32 2x9x3\n%first = Input : float32 2x2x3\n"
  "%y, %h = GRU %x, %w, %r, -, -, %first hidden_size=3 direction=bidirectional\n"
  "output %h\noutput %y\n",
  /* on x86-64, the NaN of infinity - infinity is negative, and the macro NAN is positive */
  "%x = Input : float32 1x4x6\n%i = Constant value=inf : float32 scalar\n%a = Add %x, %i\n"
  "%y = Sub %a, %i\noutput %y\n",
};

START_TEST (bundles_of_batches_and_sequences_have_the_bits_of_a_program)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (texts[_i], "text", &error);
  Seen seen = { 0 };
  CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };

  cleave_assert_no_error (error);
  check (graph, 0, o, &seen);
}
END_TEST

/* Models with a number, such as a dilation of 300, that is too large for the small types of a
 * bundle's tables. */
static const char *const wide[] = {
  "%x = Input : float32 1x2x1400\n%w = Constant seed=1 : float32 3x2x5\n"
  "%y = Conv %x, %w dilations=300\noutput %y\n",
  "%x = Input : float32 1x2x1400\n%y = MaxPool %x kernel_shape=260 strides=270\noutput %y\n",
  "%x = Input : float32 1x3x1x17000\n%y = Neg %x\noutput %y\n",
  "%x = Input : float32 1x1x256x260\n%y = Neg %x\noutput %y\n", /* the arena has over 262,140 bytes
                                                                 */
};

/* Makes a graph that adds up rows 0, 1 ... 259 of an input. The Slice of each row has another
 * dimension map. */
static CleaveGraph *
make_slices (void)
{
  g_autoptr (GString) text = g_string_new ("%x = Input : float32 300x2\n%s0 = Slice %x 0:1,0:2\n");

  for (guint i = 1; i < 260; i++)
    g_string_append_printf (text, "%%r%u = Slice %%x %u:%u,0:2\n%%s%u = Add %%s%u, %%r%u\n", i, i,
                            i + 1, i, i - 1, i);
  g_string_append (text, "output %s259\n");
  return cleave_graph_parse (text->str, "slices", NULL);
}

static gboolean
is_wide (const CleaveGraph *graph)
{
  g_autoptr (CleaveBundle) bundle = cleave_bundle_new (graph, NULL, NULL);

  return cleave_bundle_is_wide (bundle);
}

START_TEST (bundles_with_numbers_over_small_types_have_the_bits_of_a_program)
{
  CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
  Seen seen = { 0 };

  for (guint i = 0; i <= G_N_ELEMENTS (wide); i++)
    {
      g_autoptr (CleaveGraph) graph =
          i < G_N_ELEMENTS (wide) ? cleave_graph_parse (wide[i], "wide", NULL) : make_slices ();

      ck_assert_ptr_nonnull (graph);
      ck_assert_msg (is_wide (graph), "model %u has small numbers only", i);
      check (graph, i, o, &seen);
    }
}
END_TEST

START_TEST (a_bundle_with_over_255_rows_or_columns_has_the_bits_of_a_program)
{
  static const char *const shapes[] = { "1x3x256x2", "1x3x2x256", "256x3x2x2", "1x3x255x255" };
  CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
  Seen seen = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("%%x = Input : float32 %s\n"
                           "%%a = Abs %%x\n"
                           "%%b = AveragePool %%a kernel_shape=2,2 pads=1,1,0,0\n"
                           "%%y = Sub %%b, %%a\n"
                           "output %%y\n",
                           shapes[i]);
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, "long", NULL);
      g_autoptr (CleaveBundle) bundle = cleave_bundle_new (graph, NULL, NULL);

      ck_assert_int_eq (cleave_bundle_is_long (bundle), i < G_N_ELEMENTS (shapes) - 1);
      check (graph, i, o, &seen);
    }
}
END_TEST

START_TEST (each_input_by_rows_has_a_function_of_its_own)
{
  CleaveBundleIo in = { NULL, CLEAVE_BUNDLE_ROWS };
  CleaveBundleOptions o = { .inputs = &in, .n_inputs = 1, .max_added_macs = CLEAVE_NOTHING_ADDED };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%a = Input : float32 1x4x6x5\n"
                                                      "%b = Input : float32 1x4x6x5\n"
                                                      "%c = Input : float32 1x4x6x5\n"
                                                      "%d = Sub %a, %b\n"
                                                      "%y = Sub %d, %c\n"
                                                      "output %y\n",
                                                      "rows", NULL);
  CleaveBundleMemory memories[] = { { "fast", 64 }, { "slow", 65536 } };
  Seen seen = { 0 };

  check (graph, 1, o, &seen);
  o.memories = memories;
  o.n_memories = G_N_ELEMENTS (memories);
  check (graph, 1, o, &seen);
  ck_assert_uint_eq (seen.rows, 2);
}
END_TEST

/* The arena has one row of the input and the sums, not all 16 rows, unless a second node reads the
 * rows again. */
START_TEST (poolings_of_floats_sum_row_by_row)
{
  static const struct
  {
    const char *text; /* nodes that compute %y from %x, which has 16 rows of 512 bytes */
    gint64 most;      /* bytes of the arena */
  } cases[] = {
    { "%y = GlobalAveragePool %x\n", 512 + 8 * 32 + 32 },
    { "%y = AveragePool %x kernel_shape=16,16\n", 512 + 2 * 32 },
    { "%y = AveragePool %x kernel_shape=18,3 pads=1,2,1,2 strides=3,3 dilations=1,2\n",
      512 + 2 * 6 * 32 },
    { "%y = AveragePool %x kernel_shape=17,4 pads=1,0,0,2 strides=1,3 count_include_pad=1\n",
      512 + 2 * 5 * 32 },
    { "%m = GlobalAveragePool %x\n%y = Mul %x, %m\n", 17 * 512 + 32 },
  };
  CleaveBundleIo in = { NULL, CLEAVE_BUNDLE_ROWS };
  CleaveBundleOptions o = { .inputs = &in, .n_inputs = 1, .max_added_macs = CLEAVE_NOTHING_ADDED };
  Seen seen = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("%%x = Input : float32 1x8x16x16\n%soutput %%y\n", cases[i].text);
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, "pool", NULL);

      ck_assert_int_le (check (graph, i, o, &seen).arena_bytes, cases[i].most);
    }
}
END_TEST

/* Without keepdims, the values of the operand have another layout than those of the result. */
START_TEST (an_arg_max_of_channels_without_keepdims_reads_row_by_row)
{
  CleaveBundleIo in = { NULL, CLEAVE_BUNDLE_ROWS };
  CleaveBundleOptions o = { .inputs = &in, .n_inputs = 1, .max_added_macs = CLEAVE_NOTHING_ADDED };
  Seen seen = { 0 };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strdup_printf ("%%x = Input : float32 1x8x20x16\n"
                                               "%%w = Constant seed=1 : float32 8x8x3x3\n"
                                               "%%c = Conv %%x, %%w pads=1,1,1,1\n"
                                               "%%y = %s %%c axis=1 keepdims=0\n"
                                               "output %%y\n",
                                               i == 0 ? "ArgMax" : "ArgMin");
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, "arg", NULL);

      /* 20 rows of the result, 3 of the input and 1 of the Conv */
      ck_assert_int_le (check (graph, i, o, &seen).arena_bytes, 20 * 16 * 8 + (3 + 1) * 16 * 8 * 4);
    }
}
END_TEST

START_TEST (a_bundle_of_a_small_model_has_small_types)
{
  g_autoptr (CleaveGraph) graph = network_random (0);

  ck_assert (!is_wide (graph));
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tests = tcase_create ("texts");

  cleave_add_case (suite, "run", bundles_of_random_networks_have_the_bits_of_a_program,
                   each_input_by_rows_has_a_function_of_its_own, poolings_of_floats_sum_row_by_row,
                   an_arg_max_of_channels_without_keepdims_reads_row_by_row, NULL);
  tcase_set_timeout (tests, 300); /* in seconds: the compiler alone takes several seconds */
  tcase_add_loop_test (tests, bundles_of_batches_and_sequences_have_the_bits_of_a_program, 0,
                       G_N_ELEMENTS (texts));
  cleave_add_case (suite, "types", bundles_with_numbers_over_small_types_have_the_bits_of_a_program,
                   a_bundle_with_over_255_rows_or_columns_has_the_bits_of_a_program,
                   a_bundle_of_a_small_model_has_small_types, NULL);
  suite_add_tcase (suite, tests);
}

CLEAVE_TEST_SUITE ("run", add_tests)
