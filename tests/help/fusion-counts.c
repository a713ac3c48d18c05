/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts the fused steps of programs in three tables: by pair of ops, by the first op (the head)
 * and by the second op (the consumer). */

#include "fusion-counts.h"

#include "test.h"

/* A pair is a step (the head) and a later step (the consumer) that could be fused with the head.
 * If the programs have at least this many pairs of the same head op and the same consumer op, at
 * least one of these pairs must have been fused. */
#define MIN_PAIRS_OF_BOTH_OPS 40
/* If an op is the head of at least this many pairs, at least one of these pairs must have been
 * fused. All pairs with this head count together, whatever op the consumer has. The number also
 * applies to the pairs in which an op is the consumer. */
#define MIN_PAIRS_OF_ONE_OP 12

void
fusion_counts_init (FusionCounts *counts)
{
  *counts =
      (FusionCounts){ .pairs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .heads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .consumers =
                          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free) };
}

void
fusion_counts_clear (FusionCounts *counts)
{
  g_hash_table_unref (counts->pairs);
  g_hash_table_unref (counts->heads);
  g_hash_table_unref (counts->consumers);
}

static FusionCount *
count_of (GHashTable *table, const char *name)
{
  FusionCount *count = g_hash_table_lookup (table, name);

  if (count == NULL)
    g_hash_table_insert (table, g_strdup (name), count = g_new0 (FusionCount, 1));
  return count;
}

/* Returns whether the kernel of a head can apply the op of the step `next` as an epilogue op, in
 * registers. */
static gboolean
can_be_epilogue_op (const CleaveTask *head, const CleaveTask *next)
{
  CleaveEpilogueOp epilogue_op = { 0 };
  guint along;

  if (head->family->does_epilogue == NULL || next->family->epilogue_op == NULL ||
      !head->family->does_epilogue (head->state, &head->instance, &along))
    return FALSE;
  epilogue_op.op = next->family->epilogue_op (next->state, &next->instance, 0, &epilogue_op);
  return epilogue_op.op == CLEAVE_EPILOGUE_NORMALIZE ? epilogue_op.c == along
                                                     : epilogue_op.op != CLEAVE_EPILOGUE_NONE;
}

/* Counts whether the head before step `next` runs that step as an epilogue op, as a fused consumer,
 * or not at all. */
static void
count_pair (FusionCounts *counts, const CleaveTask *head, const CleaveTask *next)
{
  const char *names[] = { head->instance.call.op->name, next->instance.call.op->name };
  g_autofree char *pair = g_strdup_printf ("%s, %s", names[0], names[1]);
  FusionCount *to[] = { &counts->all, count_of (counts->pairs, pair),
                        count_of (counts->heads, names[0]),
                        count_of (counts->consumers, names[1]) };
  guint fused = 0, epilogue = 0;

  for (guint i = 0; i < head->instance.n_fused; i++)
    if (head->instance.fused[i].instance == &next->instance)
      {
        fused = 1;
        epilogue = i < head->instance.n_epilogue_ops ? 1 : 0;
      }
  for (guint i = 0; i < G_N_ELEMENTS (to); i++)
    {
      to[i]->n++;
      to[i]->n_fused += fused;
      to[i]->n_epilogue_ops += epilogue;
      to[i]->n_possible_epilogue_ops += can_be_epilogue_op (head, next) ? 1 : 0;
    }
}

static gboolean
can_lead (const CleaveTask *task)
{
  return task->kind == CLEAVE_STEP_COMPUTE && task->family != NULL &&
         task->family->reports_progress != NULL && task->family->reports_progress (task->state);
}

static gboolean
can_fuse (const CleaveTask *head, const CleaveTask *task)
{
  return task->kind == CLEAVE_STEP_COMPUTE && task->family != NULL &&
         (task->family->run_part != NULL || can_be_epilogue_op (head, task));
}

void
fusion_count (FusionCounts *counts, const CleaveProgram *program)
{
  const CleaveSchedule *schedule = program->schedule;

  for (guint t = 0; t < schedule->n_threads; t++)
    for (guint i = 0, head = 0; i < schedule->n_sequence[t]; i++)
      {
        const guint *sequence = schedule->sequence[t];
        const CleaveTask *leader = &program->tasks[sequence[head]];
        const CleaveTask *task = &program->tasks[sequence[i]];

        if (i > 0 && can_lead (leader) && can_fuse (leader, task))
          count_pair (counts, leader, task);
        if (!task->is_fused)
          head = i;
      }
}

/* Asserts that each entry with at least `enough` fusable pairs was fused at least once. If `enough`
 * pairs could be fused in registers, at least one pair must have been fused in registers. */
static void
assert_all_fused (GHashTable *table, guint enough)
{
  GHashTableIter iter;
  gpointer name, value;

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, &value))
    {
      const FusionCount *count = value;

      g_print ("%-40s %6u pairs %6u fused %6u of %6u in registers\n", (char *) name, count->n,
               count->n_fused, count->n_epilogue_ops, count->n_possible_epilogue_ops);
      ck_assert_msg (count->n < enough || count->n_fused > 0, "%s: none of %u fused", (char *) name,
                     count->n);
      ck_assert_msg (count->n_possible_epilogue_ops < enough || count->n_epilogue_ops > 0,
                     "%s: none of %u in registers", (char *) name, count->n_possible_epilogue_ops);
    }
}

void
fusion_counts_assert (const FusionCounts *counts)
{
  assert_all_fused (counts->heads, MIN_PAIRS_OF_ONE_OP);
  assert_all_fused (counts->consumers, MIN_PAIRS_OF_ONE_OP);
  assert_all_fused (counts->pairs, MIN_PAIRS_OF_BOTH_OPS);
  g_print ("%u pairs, %u fused, %u of %u in registers\n", counts->all.n, counts->all.n_fused,
           counts->all.n_epilogue_ops, counts->all.n_possible_epilogue_ops);
  ck_assert_uint_ge (3 * counts->all.n_fused, counts->all.n);
}
