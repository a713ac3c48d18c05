/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Places graphs on ranks, and runs the ranks as threads of one process. The suites placement.c and
 * placement-plan.c use these functions. The transport copies messages directly from the memory of
 * the sender to the memory of the receiver. */

#include "../../../lib/ir/topology.h"
#include "../../../lib/memory/ordering.h"
#include "../../../passes/ranks/simulate.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

/* A message. Its elements are only in the memory of the value at the sender and of the value at the
 * receiver: there is no buffer between. */
typedef struct
{
  CleaveMessagePlace from, to;
  gboolean is_sent, is_expected, is_there;
  gboolean is_late; /* TRUE: the message is copied when a rank waits for the message; FALSE: as soon
                       as the message is sent and the receiver expects the message */
  guint n_sent, n_received;
} Letter;

/* The messages between ranks that are threads of one process. A send does not end before the
 * receiver expects the message, as with large messages of MPI. */
typedef struct
{
  pthread_mutex_t lock; /* pthread's lock and condition, since the thread sanitizer does not
                           understand GLib's */
  pthread_cond_t changed;
  Letter *letters;
  gboolean is_stuck;
} Mail;

/* Copies the elements of a message to dense memory; if `back`, copies them from dense memory.
 * `place` describes where the elements are in `data`. Returns the address after the copied elements
 * in the dense memory. */
static inline char *
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

static inline gsize
count_bytes (const CleaveMessagePlace *place)
{
  gint64 n_bytes = place->run_bytes;

  for (guint i = 0; i < place->n_loops; i++)
    n_bytes *= place->counts[i];
  return (gsize) n_bytes;
}

/* Copies a message from its source to its destination. The caller of this function and of the
 * functions below holds the lock. */
static inline void
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

static inline void
begin (Mail *mail, Letter *letter, gboolean *flag)
{
  *flag = TRUE;
  if (!letter->is_late)
    carry (mail, letter);
  pthread_cond_broadcast (&mail->changed);
}

static inline gboolean
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

/* Notes the destination of a message, and fills the destination with garbage. If a value that is
 * still needed overlaps the destination, the garbage destroys the value and the test fails. */
static inline void
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

static inline void
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

static inline gboolean
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

static inline gboolean
finish (gpointer data, guint message)
{
  Mail *mail = data;
  gboolean is_there;

  pthread_mutex_lock (&mail->lock);
  is_there = wait_for (mail, &mail->letters[message]);
  pthread_mutex_unlock (&mail->lock);
  return is_there;
}

static inline void
mail_init (Mail *mail, const CleavePlacement *placement)
{
  guint n = cleave_placement_get_n_messages (placement);

  pthread_mutex_init (&mail->lock, NULL);
  pthread_cond_init (&mail->changed, NULL);
  mail->letters = g_new0 (Letter, n + 1);
  for (guint i = 0; i < n; i++)
    mail->letters[i].is_late = i % 3 != 0;
}

static inline void
mail_clear (Mail *mail)
{
  g_free (mail->letters);
  pthread_mutex_destroy (&mail->lock);
  pthread_cond_destroy (&mail->changed);
}

/* A rank, which runs in a thread of the test: its graph, and the tensors of its inputs and outputs.
 */
typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *outputs;
  guint n_threads;
} Rank;

static inline gpointer
run_rank (gpointer data)
{
  Rank *rank = data;

  rank->outputs = run_graph (rank->graph, rank->inputs, rank->n_threads);
  return NULL;
}

static inline void
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

static inline GPtrArray *
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

static inline void
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

#define CHAIN                                                                                      \
  "graph g\n%x = Input : float32 1x16x48x48\n%w = Constant seed=1 : float32 32x16x3x3\n"           \
  "%v = Constant seed=2 : float32 32x32x3x3\n%u = Constant seed=3 : float32 64x18432\n"            \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n%c = Conv %b, %v pads=1,1,1,1\n"                   \
  "%d = Add %c, %a\n%e = MaxPool %d kernel_shape=2,2 strides=2,2\n%f = Flatten %e\n"               \
  "%h = Gemm %f, %u transB=1\noutput %h\noutput %b\n"
