/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The placement of buffers in the arena. `bound` is the largest sum of bytes in use at one time,
 * which no arena can be smaller than. */

#include "../../../lib/runtime/plan/arena.h"
#include "../../../lib/runtime/plan/arena-edges.h"
#include "../../../lib/runtime/plan/arena-evict.h"
#include "../../../lib/runtime/plan/arena-fill.h"

#include "run-help.h"

typedef struct
{
  gint64 n_bytes;
  guint first, last;
} Lifetime;

/* A buffer that a program of one thread uses from step `first` to step `last`. */
typedef struct
{
  CleaveArenaTask task;
  gint64 *n_bytes, *offsets;
  guint *time, *begin, *conflicts;
  gint64 bound;
} Case;

static gboolean
meet (const Lifetime *a, const Lifetime *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static gint64
find_bound (const Lifetime *lifetimes, guint n)
{
  gint64 bound = 0;

  for (guint i = 0; i < n; i++)
    {
      gint64 live = 0;

      for (guint k = 0; k < n; k++)
        if (lifetimes[k].first <= lifetimes[i].first && lifetimes[k].last >= lifetimes[i].first)
          live += lifetimes[k].n_bytes;
      bound = MAX (bound, live);
    }
  return bound;
}

static void
case_init (Case *c, const Lifetime *lifetimes, guint n)
{
  guint n_conflicts = 0;

  c->n_bytes = g_new (gint64, n);
  c->offsets = g_new (gint64, n);
  c->time = g_new (guint, n);
  c->begin = g_new (guint, n + 1);
  c->conflicts = g_new (guint, n * n);
  for (guint i = 0; i < n; i++)
    {
      c->n_bytes[i] = lifetimes[i].n_bytes;
      c->time[i] = lifetimes[i].first;
      c->begin[i] = n_conflicts;
      for (guint k = 0; k < n; k++)
        if (k != i && meet (&lifetimes[i], &lifetimes[k]))
          c->conflicts[n_conflicts++] = k;
    }
  c->begin[n] = n_conflicts;
  c->bound = find_bound (lifetimes, n);
  c->task = (CleaveArenaTask){ .n_buffers = n,
                               .n_bytes = c->n_bytes,
                               .time = c->time,
                               .begin = c->begin,
                               .conflicts = c->conflicts };
}

static void
case_clear (Case *c)
{
  g_free (c->n_bytes);
  g_free (c->offsets);
  g_free (c->time);
  g_free (c->begin);
  g_free (c->conflicts);
}

/* Places the buffers, and asserts that buffers that are in use at the same time do not overlap.
 * Sets `bound` to the largest sum of bytes in use. Returns by how many bytes the arena exceeds
 * `bound`. */
static gint64
place (const Lifetime *lifetimes, guint n, gint64 *bound)
{
  Case c;
  gint64 size;

  case_init (&c, lifetimes, n);
  size = cleave_arena_place (&c.task, c.bound, c.offsets);
  for (guint i = 0; i < n; i++)
    {
      cleave_assert (c.offsets[i] >= 0);
      cleave_assert (c.offsets[i] + c.n_bytes[i] <= size);
      for (guint k = 0; k < i; k++)
        cleave_assert (!meet (&lifetimes[i], &lifetimes[k]) ||
                       c.offsets[i] + c.n_bytes[i] <= c.offsets[k] ||
                       c.offsets[k] + c.n_bytes[k] <= c.offsets[i]);
    }
  *bound = c.bound;
  case_clear (&c);
  return size - *bound;
}

START_TEST (buffers_without_conflicts_share_memory)
{
  const Lifetime lifetimes[] = { { 64, 0, 1 }, { 128, 2, 3 }, { 64, 4, 5 } };
  gint64 n_visits = 1000;
  Case c;

  case_init (&c, lifetimes, G_N_ELEMENTS (lifetimes));
  c.task.conflicts = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (lifetimes); i++)
    c.offsets[i] = 100 * i; /* the last two buffers end beyond the capacity of 128 bytes */
  ck_assert (cleave_arena_evict (&c.task, 128, CLEAVE_EVICT_LARGEST, 1, &n_visits, c.offsets));
  for (guint i = 0; i < G_N_ELEMENTS (lifetimes); i++)
    ck_assert (c.offsets[i] >= 0 && c.offsets[i] + lifetimes[i].n_bytes <= 128);
  case_clear (&c);
}
END_TEST

static int
compare_first (gconstpointer a, gconstpointer b)
{
  guint x = ((const CleaveArenaSpan *) a)->first, y = ((const CleaveArenaSpan *) b)->first;

  return (x > y) - (x < y);
}

/* Makes random buffers, some of them empty, sorted by their first use. */
static void
make_spans (CleaveArenaSpan *spans, guint n, GRand *random)
{
  for (guint i = 0; i < n; i++)
    {
      guint first = (guint) g_rand_int_range (random, 0, (gint32) n);

      spans[i] = (CleaveArenaSpan){ .n_bytes = 64 * g_rand_int_range (random, 0, 9),
                                    .first = first,
                                    .gone = first + (guint) g_rand_int_range (random, 1, 30),
                                    .buffer = i };
    }
  qsort (spans, n, sizeof *spans, compare_first);
}

static gboolean
share (const CleaveArenaSpan *a, gint64 at, const CleaveArenaSpan *b, gint64 there)
{
  return a->first < b->gone && b->first < a->gone && at < there + b->n_bytes &&
         there < at + a->n_bytes;
}

/* Checks that live buffers do not overlap, and that the arena has no more bytes than needed. */
static void
assert_filled (const CleaveArenaSpan *spans, const gint64 *offsets, guint n, gint64 size)
{
  gint64 highest = 0;

  for (guint i = 0; i < n; i++)
    {
      highest = MAX (highest, offsets[i] + spans[i].n_bytes);
      cleave_assert (offsets[i] >= 0);
      for (guint k = 0; k < i; k++)
        cleave_assert (!share (&spans[i], offsets[i], &spans[k], offsets[k]));
    }
  ck_assert_int_eq (size, highest);
}

/* Places some buffers, and fills the gaps between them with other buffers. */
START_TEST (filled_buffers_do_not_overlap)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);

  for (guint round = 0; round < 200; round++)
    {
      CleaveArenaSpan spans[100], placed[50];
      gint64 offsets[100], size;
      guint n_placed = (guint) g_rand_int_range (random, 0, 51);
      guint n = (guint) g_rand_int_range (random, 0, 51);

      make_spans (placed, n_placed, random);
      size = cleave_arena_fill (NULL, 0, placed, n_placed, offsets);
      assert_filled (placed, offsets, n_placed, size);
      for (guint i = 0; i < n_placed; i++)
        placed[i].begin = offsets[i];
      make_spans (spans, n, random);
      size = cleave_arena_fill (placed, n_placed, spans, n, offsets);
      for (guint i = 0; i < n_placed; i++)
        {
          spans[n + i] = placed[i];
          offsets[n + i] = placed[i].begin;
        }
      assert_filled (spans, offsets, n + n_placed, size);
    }
}
END_TEST

/* The large buffer gets the memory of three small buffers that are adjacent. */
START_TEST (filled_gaps_are_merged)
{
  static const CleaveArenaSpan spans[] = { { 64, 0, 3, 0, 0 },
                                           { 64, 1, 4, 1, 0 },
                                           { 64, 2, 3, 2, 0 },
                                           { 64, 2, 9, 3, 0 },
                                           { 192, 5, 9, 4, 0 } };
  gint64 offsets[G_N_ELEMENTS (spans)];

  ck_assert_int_eq (cleave_arena_fill (NULL, 0, spans, G_N_ELEMENTS (spans), offsets), 256);
  ck_assert_int_eq (offsets[4], 0);
}
END_TEST

/* A small buffer avoids bytes that a placed buffer uses later, while the small buffer is still in
 * use, and takes the smallest gap. */
START_TEST (filled_buffers_avoid_later_uses)
{
  static const CleaveArenaSpan placed[] = { { 64, 0, 9, 0, 128 },
                                            { 128, 4, 6, 1, 0 },
                                            { 128, 7, 9, 2, 192 } };
  static const CleaveArenaSpan spans[] = { { 64, 1, 3, 3, 0 }, { 64, 2, 5, 4, 0 } };
  gint64 offsets[G_N_ELEMENTS (spans)];

  ck_assert_int_eq (
      cleave_arena_fill (placed, G_N_ELEMENTS (placed), spans, G_N_ELEMENTS (spans), offsets), 320);
  ck_assert_int_eq (offsets[0], 0);
  ck_assert_int_eq (offsets[1], 192);
}
END_TEST

/* Makes random edges, which are begins or ends of buffers in an arena. Edges are few or many,
 * nearly sorted or not, and at few or many different offsets. */
static void
make_edges (CleaveArenaEdge *edges, guint n, GRand *random)
{
  gint64 unit = G_GINT64_CONSTANT (64) << (g_rand_int (random) % 50);
  gboolean is_near = g_rand_boolean (random);

  for (guint i = 0; i < n; i++)
    {
      gint64 at = g_rand_int_range (random, 0, g_rand_boolean (random) ? 10 : 100);

      edges[i] = (CleaveArenaEdge){ unit * (is_near ? at / 30 + i / 8 : at), -at, i };
    }
}

START_TEST (sorting_edges_is_stable)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);

  for (guint round = 0; round < 300; round++)
    {
      CleaveArenaEdge edges[600], scratch[600], made[600];
      guint n = (guint) g_rand_int_range (random, 0, round % 2 == 0 ? 20 : 601);

      make_edges (made, n, random);
      memcpy (edges, made, n * sizeof *edges);
      cleave_arena_sort_edges (edges, scratch, n);
      for (guint i = 0; i < n; i++)
        {
          cleave_assert (edges[i].at == made[edges[i].buffer].at);
          cleave_assert (edges[i].value == made[edges[i].buffer].value);
          cleave_assert (i == 0 || edges[i - 1].at < edges[i].at ||
                         (edges[i - 1].at == edges[i].at && edges[i - 1].buffer < edges[i].buffer));
        }
    }
}
END_TEST

/* In a chain, each value is computed from the previous value. */
START_TEST (a_chain_needs_two_adjacent_values)
{
  static const Lifetime chain[] = {
    { 64, 0, 1 }, { 128, 1, 2 }, { 256, 2, 3 }, { 64, 3, 4 }, { 192, 4, 5 }
  };
  gint64 bound;

  ck_assert_int_eq (place (chain, G_N_ELEMENTS (chain), &bound), 0);
  ck_assert_int_eq (bound, 384);
}
END_TEST

/* A placement at the first free offset, in the order of first use, would place the long buffer in
 * the middle of the arena. The long buffer must be at an end of the arena. */
START_TEST (long_buffer_does_not_cut_the_arena)
{
  static const Lifetime lifetimes[] = { { 64, 0, 1 },  { 64, 1, 9 },  { 64, 2, 3 },
                                        { 192, 4, 5 }, { 128, 6, 7 }, { 128, 7, 8 } };
  gint64 bound;

  ck_assert_int_eq (place (lifetimes, G_N_ELEMENTS (lifetimes), &bound), 0);
}
END_TEST

START_TEST (empty_buffers_need_no_memory)
{
  static const Lifetime lifetimes[] = { { 0, 0, 3 }, { 64, 1, 2 }, { 0, 1, 1 } };
  gint64 bound;

  ck_assert_int_eq (place (lifetimes, G_N_ELEMENTS (lifetimes), &bound), 0);
}
END_TEST

START_TEST (random_lifetimes_stay_near_the_bound)
{
  double sum = 0;
  const guint n_seeds = 200;

  for (guint32 seed = 0; seed < n_seeds; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Lifetime lifetimes[60];
      gint64 bound, over;

      for (guint i = 0; i < G_N_ELEMENTS (lifetimes); i++)
        {
          guint first = (guint) g_rand_int_range (rand, 0, 60);

          lifetimes[i].first = first;
          lifetimes[i].last = first + (guint) g_rand_int_range (
                                          rand, 1, g_rand_int_range (rand, 0, 6) == 0 ? 40 : 5);
          lifetimes[i].n_bytes = 64 * g_rand_int_range (rand, 1, 60);
        }
      over = place (lifetimes, G_N_ELEMENTS (lifetimes), &bound);
      sum += (double) over / (double) bound;
      ck_assert_msg ((double) over <= 0.01 * (double) bound,
                     "seed %u: %" G_GINT64_FORMAT " over %" G_GINT64_FORMAT, seed, over, bound);
    }
  ck_assert_double_le (sum / n_seeds, 0.0005);
}
END_TEST

/* If no arena of the size `bound` is found, the search tries slightly larger arenas, with the same
 * budget of work for each size. */
START_TEST (sizes_above_an_unreachable_bound_are_tried)
{
  static const guint32 seeds[] = { 1, 5 };

  for (guint k = 0; k < G_N_ELEMENTS (seeds); k++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seeds[k]);
      Lifetime lifetimes[1200];
      gint64 bound, more;

      for (guint i = 0; i < G_N_ELEMENTS (lifetimes); i++)
        {
          double size = g_rand_double (random);
          gint32 steps = g_rand_double (random) < 0.1 ? g_rand_int_range (random, 20, 60)
                                                      : g_rand_int_range (random, 0, 12);

          lifetimes[i] =
              (Lifetime){ 64 * (gint64) (1 + 600 * size * size * size), i, i + 1 + (guint) steps };
        }
      more = place (lifetimes, G_N_ELEMENTS (lifetimes), &bound);
      ck_assert_int_le (200 * more, bound);
    }
}
END_TEST

static CleaveResult *
add_conv (CleaveGraph *graph,
          const char *name,
          CleaveResult *x,
          gint64 channels,
          gint64 kernel,
          gint64 stride)
{
  gint64 from = cleave_result_get_type (x)->shape.dim[1], pad = kernel / 2;
  gint64 group = kernel == 3 && channels == from ? from : 1;
  CleaveConvAttrs attrs = { .group = group,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (channels, from / group, kernel, kernel),
                                  cleave_graph_get_n_nodes (graph));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, name, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

/* Adds a block as in MobileNetV2: a 1x1 convolution to `middle` channels, a depthwise convolution,
 * and a 1x1 convolution to `channels` channels. */
static CleaveResult *
add_block (CleaveGraph *graph,
           const char *name,
           CleaveResult *x,
           gint64 middle,
           gint64 channels,
           gint64 stride)
{
  CleaveResult *y = x;

  if (middle != cleave_result_get_type (x)->shape.dim[1])
    y = run_unary (graph, "Relu", add_conv (graph, NULL, x, middle, 1, 1));
  y = run_unary (graph, "Relu", add_conv (graph, NULL, y, middle, 3, stride));
  y = add_conv (graph, name, y, channels, 1, 1);
  return cleave_tensor_type_equal (cleave_result_get_type (x), cleave_result_get_type (y))
             ? run_binary (graph, "Add", x, y)
             : y;
}

/* Makes the first twelve convolutions of MobileNetV2 for images of 224 x 224, and the next block.
 * The last of the twelve is named "end". */
static CleaveGraph *
build_blocks (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 224, 224));

  x = run_unary (graph, "Relu", add_conv (graph, NULL, x, 32, 3, 2));
  x = add_block (graph, NULL, x, 32, 16, 1);
  x = add_block (graph, NULL, x, 96, 24, 2);
  x = add_block (graph, NULL, x, 144, 24, 1);
  x = add_block (graph, "end", x, 144, 32, 2);
  run_output (graph, add_block (graph, NULL, x, 192, 32, 1));
  return graph;
}

static CleaveProgramStats
split_blocks (gint64 n_strips, CleaveHalo halo, guint n_threads)
{
  g_autoptr (CleaveGraph) graph = build_blocks ();
  CleaveRecursion recursion = { .depth = 30, .halo = halo };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n_strips, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_split_node_recursively (
      cleave_graph_find_node (graph, "end"), split, NULL, &recursion, &error);
  const CleaveSplitTotals *totals;

  cleave_assert_no_error (error);
  totals = cleave_split_report_get_totals (report);
  if (halo == CLEAVE_HALO_CARRY)
    ck_assert_int_eq (totals->macs_after, totals->macs_before);
  return run_get_stats (graph, n_threads);
}

/* A strip keeps only the rows that the next strip needs, so the arena is about as large as with
 * recomputed rows, or smaller. */
START_TEST (strips_keep_only_the_needed_rows)
{
  static const gint64 n_strips[] = { 4, 7, 9, 14, 16, 20, 26, 28 };

  for (guint i = 0; i < G_N_ELEMENTS (n_strips); i++)
    {
      CleaveProgramStats carried = split_blocks (n_strips[i], CLEAVE_HALO_CARRY, 1);
      CleaveProgramStats computed = split_blocks (n_strips[i], CLEAVE_HALO_RECOMPUTE, 1);

      ck_assert_int_le (carried.arena_bytes * 10, carried.peak_activation_bytes * 11);
      ck_assert_int_eq (computed.arena_bytes, computed.peak_activation_bytes);
      ck_assert_int_le (carried.arena_bytes * 20, computed.arena_bytes * 21);
    }
}
END_TEST

/* Strips compute the first four blocks of a network, and the fifth block is computed whole. Its
 * depthwise convolution has an operand and a result of 192 channels. The two values overlap in
 * memory, so the arena is smaller than the sum of both values and the operand of the block. */
START_TEST (the_arena_is_less_than_the_middle_of_the_next_block)
{
  CleaveProgramStats stats = split_blocks (28, CLEAVE_HALO_CARRY, 1);

  ck_assert_int_le (stats.arena_bytes * 10, stats.peak_activation_bytes * 11);
  ck_assert_int_lt (stats.arena_bytes, 28 * 28 * (32 + 2 * 192) * 4);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "place", sorting_edges_is_stable, a_chain_needs_two_adjacent_values,
                   long_buffer_does_not_cut_the_arena, empty_buffers_need_no_memory,
                   buffers_without_conflicts_share_memory, random_lifetimes_stay_near_the_bound,
                   sizes_above_an_unreachable_bound_are_tried, NULL);
  cleave_add_case (suite, "fill", filled_buffers_do_not_overlap, filled_gaps_are_merged,
                   filled_buffers_avoid_later_uses, NULL);
  cleave_add_case (suite, "strips", strips_keep_only_the_needed_rows,
                   the_arena_is_less_than_the_middle_of_the_next_block, NULL);
}

CLEAVE_TEST_SUITE ("arena", add_tests)
