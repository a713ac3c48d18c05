/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bundles of random networks, compiled by the C compiler and run: the bits of a program, no byte
 * written outside of the arena. */

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

/* Plans and checks one bundle. */
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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "run", bundles_of_random_networks_have_the_bits_of_a_program, NULL);
}

CLEAVE_TEST_SUITE ("run", add_tests)
