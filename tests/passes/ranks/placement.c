/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ranks that run concurrently, here as threads, compute the same as one process, and send
 * exactly the messages of the placement. */

#include "../../../lib/ir/topology.h"
#include "../../../lib/memory/ordering.h"
#include "../../../passes/ranks/simulate.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

/* A message occupies memory only at its source and its destination. */
typedef struct
{
  CleaveMessagePlace from, to;
  gboolean is_sent, is_expected, is_there;
  gboolean is_late; /* it is transferred when a rank waits for it, not as early as possible */
  guint n_sent, n_received;
} Letter;

/* A sender waits until the message is expected, as MPI does for large messages. */
typedef struct
{
  pthread_mutex_t lock; /* not GLib's, which the thread sanitizer does not understand */
  pthread_cond_t changed;
  Letter *letters;
  gboolean is_stuck;
} Mail;

/* Copies between a place and dense memory. */
static char *
copy_place (const CleaveMessagePlace *place, guint n_loops, char *data, char *dense, gboolean back)
{
  if (n_loops == 0)
    {
      memcpy (back ? data : dense, back ? dense : data, (gsize) place->run_bytes);
      return dense + place->run_bytes;
    }
  for (gint64 i = 0; i < place->counts[n_loops - 1]; i++)
    dense = copy_place (place, n_loops - 1, data + i * place->strides[n_loops - 1], dense, back);
  return dense;
}

static gsize
count_bytes (const CleaveMessagePlace *place)
{
  gint64 n_bytes = place->run_bytes;

  for (guint i = 0; i < place->n_loops; i++)
    n_bytes *= place->counts[i];
  return (gsize) n_bytes;
}

/* Call this function, and all functions below, with the lock. */
static void
carry (Mail *mail, Letter *letter)
{
  gsize n_bytes = count_bytes (&letter->from);
  g_autofree char *dense = g_malloc (n_bytes + 1);

  if (!letter->is_sent || !letter->is_expected || letter->is_there)
    return;
  ck_assert_uint_eq (count_bytes (&letter->to), n_bytes);
  copy_place (&letter->from, letter->from.n_loops, letter->from.data, dense, FALSE);
  copy_place (&letter->to, letter->to.n_loops, letter->to.data, dense, TRUE);
  letter->is_there = TRUE;
  pthread_cond_broadcast (&mail->changed);
}

static void
begin (Mail *mail, Letter *letter, gboolean *flag)
{
  *flag = TRUE;
  if (!letter->is_late)
    carry (mail, letter);
  pthread_cond_broadcast (&mail->changed);
}

static gboolean
wait_for (Mail *mail, Letter *letter)
{
  struct timespec end;

  clock_gettime (CLOCK_REALTIME, &end);
  end.tv_sec += 20;
  while (!letter->is_there && !mail->is_stuck)
    {
      carry (mail, letter);
      if (!letter->is_there && pthread_cond_timedwait (&mail->changed, &mail->lock, &end) != 0)
        mail->is_stuck = TRUE;
    }
  return letter->is_there;
}

/* Asserts that nothing else is at the destination. */
static void
expect (gpointer data, guint message, const CleaveMessagePlace *place)
{
  Mail *mail = data;
  Letter *letter = &mail->letters[message];
  g_autofree char *noise = g_malloc (count_bytes (place) + 1);

  memset (noise, 0xa5, count_bytes (place));
  pthread_mutex_lock (&mail->lock);
  letter->to = *place;
  copy_place (place, place->n_loops, place->data, noise, TRUE);
  begin (mail, letter, &letter->is_expected);
  pthread_mutex_unlock (&mail->lock);
}

static void
send (gpointer data, guint message, const CleaveMessagePlace *place)
{
  Mail *mail = data;
  Letter *letter = &mail->letters[message];

  pthread_mutex_lock (&mail->lock);
  letter->from = *place;
  letter->n_sent++;
  begin (mail, letter, &letter->is_sent);
  pthread_mutex_unlock (&mail->lock);
}

static gboolean
receive (gpointer data, guint message)
{
  Mail *mail = data;
  gboolean is_there;

  pthread_mutex_lock (&mail->lock);
  is_there = wait_for (mail, &mail->letters[message]);
  mail->letters[message].n_received += is_there ? 1 : 0;
  pthread_mutex_unlock (&mail->lock);
  return is_there;
}

static gboolean
finish (gpointer data, guint message)
{
  Mail *mail = data;
  gboolean is_there;

  pthread_mutex_lock (&mail->lock);
  is_there = wait_for (mail, &mail->letters[message]);
  pthread_mutex_unlock (&mail->lock);
  return is_there;
}

static void
mail_init (Mail *mail, const CleavePlacement *placement)
{
  guint n = cleave_placement_get_n_messages (placement);

  pthread_mutex_init (&mail->lock, NULL);
  pthread_cond_init (&mail->changed, NULL);
  mail->letters = g_new0 (Letter, n + 1);
  for (guint i = 0; i < n; i++)
    mail->letters[i].is_late = i % 3 != 0;
}

static void
mail_clear (Mail *mail)
{
  g_free (mail->letters);
  pthread_mutex_destroy (&mail->lock);
  pthread_cond_destroy (&mail->changed);
}

/* One rank. */
typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *outputs;
  guint n_threads;
} Rank;

static gpointer
run_rank (gpointer data)
{
  Rank *rank = data;

  rank->outputs = run_graph (rank->graph, rank->inputs, rank->n_threads);
  return NULL;
}

static void
start_rank (Rank *rank,
            const CleavePlacement *placement,
            guint index,
            Mail *mail,
            const GPtrArray *inputs,
            guint n_threads)
{
  const CleaveTransport transport = { mail, expect, receive, send, finish };
  const CleaveTensorType token = { CLEAVE_UINT8, { .rank = 1, .dim = { 1 } } };

  rank->graph = cleave_placement_build (placement, index, &transport);
  ck_assert (cleave_graph_validate (rank->graph, NULL));
  rank->n_threads = n_threads;
  rank->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  for (guint i = 0; index == 0 && i < inputs->len; i++)
    g_ptr_array_add (rank->inputs, cleave_tensor_ref (inputs->pdata[i]));
  g_ptr_array_add (rank->inputs, cleave_tensor_new (&token, NULL));
}

static GPtrArray *
run_ranks (const CleavePlacement *placement, const GPtrArray *inputs, guint n_threads)
{
  guint n_ranks = cleave_placement_get_n_ranks (placement);
  guint n_messages = cleave_placement_get_n_messages (placement);
  g_autofree Rank *ranks = g_new0 (Rank, n_ranks);
  g_autofree GThread **threads = g_new0 (GThread *, n_ranks);
  Mail mail = { 0 };
  GPtrArray *outputs;

  mail_init (&mail, placement);
  for (guint r = 0; r < n_ranks; r++)
    start_rank (&ranks[r], placement, r, &mail, inputs, n_threads);
  for (guint r = 0; r < n_ranks; r++)
    threads[r] = g_thread_new ("rank", run_rank, &ranks[r]);
  for (guint r = 0; r < n_ranks; r++)
    g_thread_join (threads[r]);
  ck_assert_msg (!mail.is_stuck, "ranks wait for each other");
  for (guint i = 0; i < n_messages; i++)
    {
      ck_assert_uint_eq (mail.letters[i].n_sent, 1);
      ck_assert_uint_eq (mail.letters[i].n_received, 1);
    }
  outputs = g_ptr_array_ref (ranks[0].outputs);
  for (guint r = 0; r < n_ranks; r++)
    {
      ck_assert_uint_eq (ranks[r].outputs->len, r == 0 ? outputs->len : 0);
      g_ptr_array_unref (ranks[r].inputs);
      g_ptr_array_unref (ranks[r].outputs);
      cleave_graph_unref (ranks[r].graph);
    }
  mail_clear (&mail);
  return outputs;
}

static void
assert_same (const CleaveGraph *graph,
             const CleavePlacement *placement,
             guint n_threads,
             guint32 seed)
{
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) expected = run_graph (graph, inputs, 1);
  g_autoptr (GPtrArray) outputs = run_ranks (placement, inputs, n_threads);

  ck_assert_uint_eq (outputs->len, expected->len);
  for (guint i = 0; i < expected->len; i++)
    ck_assert_msg (cleave_tensor_equal (outputs->pdata[i], expected->pdata[i]),
                   "seed %u: output %u differs", seed, i);
}

START_TEST (any_placement_computes_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (80);
  guint n_messages = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (CleaveGraph) graph = random_split_graph (seed);
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      guint n_ranks = 1 + seed % 4, n_nodes = cleave_graph_get_n_nodes (graph);
      g_autofree guint *ranks = g_new (guint, n_nodes + 1);
      g_autoptr (CleavePlacement) placement = NULL;

      for (guint i = 0; i < n_nodes; i++)
        ranks[i] = (guint) g_rand_int_range (random, 0, (gint32) n_ranks);
      placement = cleave_placement_new_by_node (graph, n_ranks, ranks, n_nodes, NULL);
      n_messages += cleave_placement_get_n_messages (placement);
      assert_same (graph, placement, 1 + seed / 4 % 3, seed);
    }
  ck_assert_uint_gt (n_messages, 10 * n);
}
END_TEST

#define CHAIN                                                                                      \
  "graph g\n%x = Input : float32 1x16x48x48\n%w = Constant seed=1 : float32 32x16x3x3\n"           \
  "%v = Constant seed=2 : float32 32x32x3x3\n%u = Constant seed=3 : float32 64x18432\n"            \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n%c = Conv %b, %v pads=1,1,1,1\n"                   \
  "%d = Add %c, %a\n%e = MaxPool %d kernel_shape=2,2 strides=2,2\n%f = Flatten %e\n"               \
  "%h = Gemm %f, %u transB=1\noutput %h\noutput %b\n"

START_TEST (a_split_for_ranks_computes_the_same_bits)
{
  for (guint n = 2; n < 7; n++)
    {
      const CleaveNetwork network = { 1 + n / 2, 1 + n % 2, 1e11, 1e-9 };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, &error);
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (CleavePlacement) placement = NULL;

      cleave_assert_no_error (error);
      report = cleave_split_for_ranks (graph, &network, &error);
      cleave_assert_no_error (error);
      ck_assert_uint_gt (cleave_split_report_get_n_split (report), 2);
      cleave_clean_up (graph, NULL, NULL);
      placement = cleave_placement_new (graph, &network, &error);
      ck_assert_uint_gt (cleave_placement_get_n_messages (placement), 3);
      assert_same (graph, placement, network.n_threads, n);
    }
}
END_TEST

static void
note_place (gpointer data, guint message, const CleaveMessagePlace *place)
{
  g_autofree char *dense = g_malloc (count_bytes (place) + 1);

  memset (dense, 0x7f, count_bytes (place));
  copy_place (place, place->n_loops, place->data, dense, TRUE);
}

static void
do_not_send (gpointer data, guint message, const CleaveMessagePlace *place)
{
}

static gboolean
never (gpointer data, guint message)
{
  return FALSE;
}

#define COLUMNS                                                                                    \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x512\n"                 \
  "%a = MatMul %x, %w\n%b = Relu %a\noutput %b\n"

/* Neither the original nor the packed form is on another rank. */
START_TEST (ranks_have_only_their_part_of_the_weights)
{
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (COLUMNS, NULL, NULL);
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse ("split{node=a node=b dims=1 num-chunks=2},clean-up", NULL);
  g_autoptr (CleavePlacement) placement = NULL;

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  for (guint r = 0; r < 2; r++)
    {
      CleaveGraph *own = cleave_placement_build (placement, r, &transport);
      g_autoptr (CleaveProgram) program = cleave_program_new_take (own, &options, NULL);
      CleaveProgramStats stats;

      cleave_program_get_stats (program, &stats);
      ck_assert_int_lt (stats.weight_bytes, 256 * 512 * 4 * 6 / 10);
    }
}
END_TEST

#define HEAVY                                                                                      \
  "graph g\n%x = Input : float32 1x128x16x16\n%w = Constant seed=1 : float32 256x128x3x3\n"        \
  "%v = Constant seed=2 : float32 256x256x3x3\n%d = Constant seed=3 : float32 256x1x3x3\n"         \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n%c = Conv %b, %d pads=1,1,1,1 group=256\n"         \
  "%e = Conv %c, %v pads=1,1,1,1\n%f = Relu %e\noutput %f\n"

/* A cut by rows would put all weights on both ranks, so channels are cut. Readers of these
 * channels follow. */
START_TEST (large_weights_are_cut)
{
  const CleaveNetwork network = { 2, 1, 1e10, 1e-6 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (HEAVY, NULL, NULL);
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, &network, NULL);
  g_autoptr (CleavePlacement) placement = NULL;
  gint64 all = (128 + 256 + 1) * G_GINT64_CONSTANT (256) * 9 * 4;

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 5);
  cleave_clean_up (graph, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  for (guint r = 0; r < 2; r++)
    {
      CleaveRankEstimate estimate;

      cleave_placement_estimate (placement, &network, r, &estimate, NULL);
      ck_assert_int_le (estimate.weight_bytes, all * 51 / 100);
    }
  assert_same (graph, placement, 1, 1);
}
END_TEST

#define HEADS                                                                                      \
  "graph g\n%x = Input : float32 64x512\n%w = Constant seed=1 : float32 512x2048\n"                \
  "%a = MatMul %x, %w\n%b = Reshape %a shape=64,4,512\n"                                           \
  "%c = Relu %b\noutput %c\n"

/* Columns are cut for each rank; heads are not. */
START_TEST (ranks_may_outnumber_heads)
{
  const CleaveNetwork network = { 8, 1, 1e11, 1e-9 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (HEADS, NULL, &error);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (CleavePlacement) placement = NULL;

  cleave_assert_no_error (error);
  report = cleave_split_for_ranks (graph, &network, &error);
  cleave_assert_no_error (error);
  cleave_clean_up (graph, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  assert_same (graph, placement, 1, 1);
}
END_TEST

#define LATERALS                                                                                   \
  "graph g\n%x = Input : float32 1x64x64x64\n%w = Constant seed=1 : float32 64x64x3x3\n"           \
  "%v = Constant seed=2 : float32 64x64x1x1\n%u = Constant seed=3 : float32 64x64x1x1\n"           \
  "%t = Constant seed=4 : float32 64x64x1x1\n%s = Constant seed=5 : float32 64x64x1x1\n"           \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n"                                 \
  "%c = Conv %b, %w pads=1,1,1,1\n%e1 = Conv %x, %v\n%f1 = Mul %e1, %a\n"                          \
  "%g1 = GlobalMaxPool %f1\n%e2 = Conv %x, %u\n%f2 = Mul %e2, %a\n%g2 = GlobalMaxPool %f2\n"       \
  "%e3 = Conv %x, %t\n%f3 = Mul %e3, %a\n%g3 = GlobalMaxPool %f3\n%e4 = Conv %x, %s\n"             \
  "%f4 = Mul %e4, %a\n%g4 = GlobalMaxPool %f4\n%y = Concat %g1, %g2, %g3, %g4 axis=1\n"            \
  "output %c\noutput %y\n"

static gint64
get_arena (const CleavePlacement *placement, const CleaveNetwork *network, guint rank)
{
  CleaveRankEstimate estimate;

  ck_assert (cleave_placement_estimate (placement, network, rank, &estimate, NULL));
  return estimate.arena_bytes;
}

/* Rank 1 can multiply each value before the next one is computed, but waits for the other
 * factor. Meanwhile it could compute all four values. */
START_TEST (a_rank_that_waits_does_not_fill_its_memory)
{
  const CleaveNetwork network = { 2, 1, 1e10, 1e-6 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (LATERALS, NULL, &error);
  g_autofree guint *ranks = g_new0 (guint, 64);
  g_autoptr (CleavePlacement) first = NULL, second = NULL;
  guint n = 0;

  cleave_assert_no_error (error);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    ranks[n++] = strchr ("efgy", cleave_node_get_name (node)[0]) != NULL;
  first = cleave_placement_new_by_node (graph, 2, ranks, n, NULL);
  second = cleave_ranks_sort_for_memory (first, &network, 1);
  ck_assert_int_ge (get_arena (first, &network, 1), 5 << 20);
  ck_assert_int_le (get_arena (second, &network, 1), 4 << 20);
  ck_assert (cleave_placement_simulate (second, &network) <=
             1.05 * cleave_placement_simulate (first, &network));
  assert_same (graph, second, 1, 1);
}
END_TEST

#define MEETING                                                                                    \
  "graph g\n%x = Input : float32 1x8x32x32\n%w = Constant seed=1 : float32 16x8x1x1\n"             \
  "%v = Constant seed=2 : float32 16x16x1x1\n%a = Conv %x, %w\n%b = Conv %a, %v\n"                 \
  "%c = GlobalAveragePool %a\noutput %b\noutput %c\n"

/* Places pieces by their number, and everything else on rank 0. */
static CleavePlacement *
place_by_number (CleaveGraph *graph, guint n_ranks)
{
  guint n = 0;
  g_autofree guint *ranks = g_new0 (guint, cleave_graph_get_n_nodes (graph) + 1);

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      const char *dot = strrchr (node->name, '.');

      ranks[n++] = dot == NULL || !g_ascii_isdigit (dot[1]) ? 0 : (guint) atoi (dot + 1);
    }
  return cleave_placement_new_by_node (graph, n_ranks, ranks, n, NULL);
}

/* Rows of a value are computed on all ranks, and each rank needs the whole value, or all rows of
 * some channels. It receives the rows of the others, and none of its own. */
START_TEST (a_value_of_several_ranks_is_joined_on_each_rank)
{
  for (guint n = 2; n < 5; n++)
    {
      g_autofree char *text =
          g_strdup_printf ("split{node=a dims=H num-chunks=%u},split{node=b dims=C num-chunks=%u},"
                           "split{node=c dims=C num-chunks=%u},clean-up",
                           n, n, n);
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (MEETING, NULL, NULL);
      g_autoptr (CleavePlacement) placement = NULL;
      gint64 n_bytes = 0;

      ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL));
      placement = place_by_number (graph, n);
      for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
        {
          const CleaveMessage *message = cleave_placement_get_message (placement, i);

          ck_assert_int_le (message->n_bytes, 16 * 32 * 32 * 4 / (gint64) n + 16 * 32 * 4);
          n_bytes += message->n_bytes;
        }
      ck_assert_int_le (n_bytes, 32 * 32 * 4 * (16 * (n - 1) + 8 + 16));
      assert_same (graph, placement, 1, n);
    }
}
END_TEST

/* An order for memory alone would run some nodes late. Other ranks wait for the values of these
 * nodes, so the order of the placement runs them early. */
START_TEST (ranks_keep_the_order_of_the_placement)
{
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, &network, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new (graph, &network, NULL);

  for (guint r = 0; r < 2; r++)
    {
      g_autoptr (CleaveGraph) own = cleave_placement_build (placement, r, &transport);
      g_autoptr (GPtrArray) built = cleave_topology_sort (own, NULL);
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (GPtrArray) order = cleave_order_with_storage (own, &storage, NULL);

      for (guint i = 0; i < built->len; i++)
        ck_assert_ptr_eq (order->pdata[i], built->pdata[i]);
    }
}
END_TEST

static guint
count_split (const char *bandwidth)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autofree char *text = g_strdup_printf (
      "split-for-ranks{ranks=2 threads=1 bandwidth=%s latency=1},clean-up", bandwidth);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);

  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL));
  return cleave_graph_get_n_nodes (graph);
}

START_TEST (there_is_no_split_for_a_slow_network)
{
  ck_assert_uint_eq (count_split ("0.01"), 11);
  ck_assert_uint_gt (count_split ("1000"), 17);
}
END_TEST

START_TEST (networks_are_checked)
{
  static const char *const bad[][2] = {
    { "split-for-ranks{ranks=0}", "ranks expects a whole number from 1 to 1024, not '0'" },
    { "split-for-ranks{bandwidth=fast}",
      "bandwidth expects a number of at least 1e-06, not 'fast'" },
    { "split-for-ranks{latency=-1}", "latency expects a number of at least 0, not '-1'" },
  };
  const CleaveNetwork large = { 1024, 2, 1e9, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      ck_assert_ptr_null (cleave_pipeline_parse (bad[i][0], &error));
      ck_assert_msg (strstr (error->message, bad[i][1]) != NULL, "%s", error->message);
      g_clear_error (&error);
    }
  ck_assert_ptr_null (cleave_split_for_ranks (graph, &large, &error));
  ck_assert_str_eq (error->message, "ranks times threads must be 1 to 1024, not 1024 times 2");
}
END_TEST

/* Two paths with equal work. */
#define TEXT                                                                                       \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x256\n"                 \
  "%v = Constant seed=2 : float32 256x256\n%k = Constant value=3 : float32 2\n"                    \
  "%a = MatMul %x, %w\n%b = MatMul %x, %v\n%s = Add %a, %b\noutput %s\noutput %k\noutput %x # y\n"

START_TEST (nodes_without_gain_stay_on_one_rank)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, &error);
  CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleavePlacement) fast = NULL, slow = NULL;
  double alone;

  cleave_assert_no_error (error);
  fast = cleave_placement_new (graph, &network, &error);
  ck_assert_int_ne (cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "a")),
                    cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "b")));
  ck_assert_int_eq (cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "w")), -1);
  ck_assert_uint_eq (cleave_placement_get_n_messages (fast), 2);
  for (guint i = 0; i < 2; i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (fast, i);

      ck_assert_int_eq (message->n_bytes, 64 * 256 * 4);
      ck_assert_uint_eq (message->from, i);
      ck_assert_uint_eq (message->to, 1 - i);
    }
  assert_same (graph, fast, 1, 1);
  network.bandwidth = 1e7;
  slow = cleave_placement_new (graph, &network, &error);
  ck_assert_uint_eq (cleave_placement_get_n_messages (slow), 0);
  alone = cleave_placement_simulate (slow, &network);
  ck_assert (cleave_placement_simulate (fast, &network) > 2 * alone);
  network.bandwidth = 1e11;
  ck_assert (cleave_placement_simulate (fast, &network) < 0.7 * alone);
}
END_TEST

/* Layers with equal work, between which little is sent. */
#define DEEP                                                                                       \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x256\n"                 \
  "%a = MatMul %x, %w\n%b = Relu %a\n%c = MatMul %b, %w\n%d = Relu %c\n%e = MatMul %d, %w\n"       \
  "%f = Relu %e\n%g = MatMul %f, %w\n%h = Relu %g\noutput %h\n"

/* A single run is no faster, since each layer reads the previous one, but four runs are in
 * progress. */
START_TEST (a_stream_is_cut_into_segments)
{
  static const char *const layers[] = { "a", "c", "e", "g" };
  const CleaveNetwork network = { 4, 1, 1e10, 1e-7 }, slow = { 4, 1, 1e6, 1e-7 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (DEEP, NULL, NULL);
  g_autoptr (CleavePlacement) one = cleave_placement_new (graph, &network, NULL);
  g_autoptr (CleavePlacement) few = cleave_placement_new_for_stream (graph, &network, 2, NULL);
  g_autoptr (CleavePlacement) many = cleave_placement_new_for_stream (graph, &network, 6, NULL);
  g_autoptr (CleavePlacement) alone = cleave_placement_new_for_stream (graph, &slow, 6, NULL);
  double time = cleave_placement_simulate (one, &network);

  ck_assert_uint_eq (cleave_placement_get_n_messages (one), 0);
  ck_assert_uint_eq (cleave_placement_get_n_messages (alone), 0);
  ck_assert_uint_gt (cleave_placement_get_n_messages (few), 1);
  ck_assert_uint_eq (cleave_placement_get_n_messages (many), 4);
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    ck_assert_int_eq (cleave_placement_get_rank (many, cleave_graph_find_node (graph, layers[i])),
                      (int) i);
  ck_assert_double_eq (cleave_placement_simulate_stream (one, &network, 1), time);
  ck_assert_double_eq (cleave_placement_simulate_stream (one, &network, 6), time);
  ck_assert_double_lt (cleave_placement_simulate_stream (many, &network, 6), 0.3 * time);
  ck_assert_double_gt (cleave_placement_simulate_stream (many, &network, 2), 0.45 * time);
  assert_same (graph, many, 1, 1);
}
END_TEST

/* A reader may use the value as an index. */
START_TEST (a_message_that_never_arrives_is_zero)
{
  static const char text[] = "graph g\n%x = Input : float32 2x3\n%a = Relu %x\n%b = Neg %a\n"
                             "output %b\n";
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveTensorType token = { CLEAVE_UINT8, { .rank = 1, .dim = { 1 } } };
  const guint ranks[] = { 0, 0, 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new_by_node (graph, 2, ranks, 3, NULL);
  g_autoptr (CleaveGraph) own = cleave_placement_build (placement, 0, &transport);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), outputs = NULL;
  const float *numbers;

  g_ptr_array_add (inputs, cleave_tensor_new (&token, NULL));
  outputs = run_graph (own, inputs, 1);
  numbers = cleave_tensor_get_data (outputs->pdata[0]);
  for (guint i = 0; i < 6; i++)
    ck_assert (numbers[i] == 0);
}
END_TEST

START_TEST (an_impossible_network_is_refused)
{
  static const struct
  {
    CleaveNetwork network;
    const char *message;
  } cases[] = {
    { { 2, 5000, 1e9, 0 }, "expected 1 to 1024 threads of each rank, not 5000" },
    { { 2, 0, 1e9, 0 }, "expected 1 to 1024 threads of each rank, not 0" },
    { { 2, 1, 0, 0 }, "expected a bandwidth of at least 1 byte a second, not 0" },
    { { 2, 1, 1e9, -1 }, "expected a latency of 0 to 1e+06 seconds, not -1" },
    { { 2, 1, 1e9, 1e7 }, "expected a latency of 0 to 1e+06 seconds, not 1e+07" },
  };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleavePlacement) placement = NULL;

  run_output (graph, run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (4))));
  placement = cleave_placement_new_by_node (graph, 2, (const guint[]){ 0, 1 }, 2, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      CleaveRankEstimate estimate;

      ck_assert (!cleave_placement_estimate (placement, &cases[i].network, 0, &estimate, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_OPTION, cases[i].message);
    }
}
END_TEST

START_TEST (estimates_are_per_rank)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleavePlacement) placement = cleave_placement_new (graph, &network, NULL);
  CleaveRankEstimate estimate[2];
  guint n_nodes = 0;

  for (guint r = 0; r < 2; r++)
    {
      ck_assert (cleave_placement_estimate (placement, &network, r, &estimate[r], NULL));
      ck_assert_int_eq (estimate[r].sent_bytes, 64 * 256 * 4);
      ck_assert_int_eq (estimate[r].received_bytes, 64 * 256 * 4);
      ck_assert (estimate[r].busy > 0 && estimate[r].sending > 0);
      ck_assert_int_gt (estimate[r].arena_bytes, 64 * 256 * 4);
      n_nodes += estimate[r].n_nodes;
    }
  ck_assert_uint_eq (n_nodes, 3);
  ck_assert_int_eq (estimate[0].weight_bytes, 256 * 256 * 4 + 8);
  ck_assert_int_eq (estimate[1].weight_bytes, 256 * 256 * 4);
}
END_TEST

START_TEST (hashes_distinguish_models_and_placements)
{
  guint ranks[] = { 0, 0, 0, 0, 0, 1, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  g_autoptr (CleaveGraph) same = cleave_graph_parse (TEXT, NULL, NULL);
  g_auto (GStrv) parts = g_strsplit (TEXT, "seed=2", 2);
  g_autofree char *text = g_strjoinv ("seed=3", parts);
  g_autoptr (CleaveGraph) other = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) a = cleave_placement_new_by_node (graph, 2, ranks, 7, NULL);
  g_autoptr (CleavePlacement) b = cleave_placement_new_by_node (same, 2, ranks, 7, NULL);
  g_autoptr (CleavePlacement) c = cleave_placement_new_by_node (other, 2, ranks, 7, NULL), d = NULL;

  ranks[5] = 0;
  d = cleave_placement_new_by_node (graph, 2, ranks, 7, NULL);
  ck_assert (cleave_placement_get_hash (a) == cleave_placement_get_hash (b));
  ck_assert (cleave_placement_get_hash (a) != cleave_placement_get_hash (c));
  ck_assert (cleave_placement_get_hash (a) != cleave_placement_get_hash (d));
}
END_TEST

START_TEST (mistakes_are_errors)
{
  const guint ranks[] = { 0, 0, 0, 0, 0, 2, 0 };
  const CleaveNetwork network = { 0, 1, 1e9, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_placement_new_by_node (graph, 2, ranks, 7, &error));
  ck_assert_str_eq (error->message, "'b' is placed on rank 2, but there are 2 ranks");
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_placement_new_by_node (graph, 3, ranks, 6, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_placement_new (graph, &network, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "same bits", any_placement_computes_the_same_bits,
                   a_split_for_ranks_computes_the_same_bits, a_message_that_never_arrives_is_zero,
                   ranks_keep_the_order_of_the_placement, ranks_have_only_their_part_of_the_weights,
                   large_weights_are_cut, ranks_may_outnumber_heads,
                   a_rank_that_waits_does_not_fill_its_memory,
                   a_value_of_several_ranks_is_joined_on_each_rank, NULL);
  cleave_add_case (suite, "split", there_is_no_split_for_a_slow_network, networks_are_checked,
                   NULL);
  cleave_add_case (suite, "plan", nodes_without_gain_stay_on_one_rank,
                   an_impossible_network_is_refused, estimates_are_per_rank,
                   hashes_distinguish_models_and_placements, a_stream_is_cut_into_segments,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("placement", add_tests)
