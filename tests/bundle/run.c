/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bundles of random networks, compiled by the C compiler and run. They must compute the bits of a
 * program, and write no byte outside of the arena. */

#include "networks.h"
#include "test.h"

#include <string.h>

#define N_SEEDS CLEAVE_TRIALS (12)

/* The number of plans with each feature. */
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

/* Makes, runs and checks a bundle. */
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

/* Graphs whose values have other shapes in a bundle than in the graph. They have images of a batch
 * that are joined, mixed or computed as one image, sequences, and normalizations along any
 * dimensions. */
static const char *const texts[] = {
  /* The parts of a Concat share memory in each image of the batch. */
  "%x = Input : float32 9x1x1x24\n%a = Input : float32 9x1x1x24\n"
  "%y = Concat %x, %a axis=1\noutput %y\n",
  "%x = Input : float32 2x3x4x5\n%p = Transpose %x perm=1,0,3,2\n%y = Softmax %p axis=1\n"
  "output %y\n",
  "%x = Input : float32 1x3x4x5\n%c = GlobalMaxPool %x\n%s = Softmax %x axis=2\n"
  "%y = ReduceMax %s axes=1,3 keepdims=0\noutput %y\noutput %c\n",
  "%x = Input : float32 1x2x4x6\n%b = Input : float32 1x2x6x3\n%c = GlobalMaxPool %x\n"
  "%y = MatMul %x, %b\noutput %y\noutput %c\n",
  "%x = Input : float32 1x3x4x5\n%scale = Constant seed=1 : float32 3\n"
  "%b = Constant seed=2 : float32 3\n%y = InstanceNormalization %x, %scale, %b\noutput %y\n",
  "%x = Input : float32 3x1x4x5\n%a = Constant seed=1 : float32 3x1x1x5\n%y = Add %x, %a\n"
  "output %y\n",
  /* kernels with a header of the same name, which other kernels of the bundle include, too */
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

static void
add_tests (Suite *suite)
{
  TCase *tests = tcase_create ("texts");

  cleave_add_case (suite, "run", bundles_of_random_networks_have_the_bits_of_a_program, NULL);
  tcase_set_timeout (tests, 300); /* compiles for seconds */
  tcase_add_loop_test (tests, bundles_of_batches_and_sequences_have_the_bits_of_a_program, 0,
                       G_N_ELEMENTS (texts));
  suite_add_tcase (suite, tests);
}

CLEAVE_TEST_SUITE ("run", add_tests)
