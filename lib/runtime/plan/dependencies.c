/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Collects pairs of a step and one of its predecessors. Most pairs are needed for correct results.
 * Other pairs delay steps to save memory. The copy of a staged operand waits until the join's
 * buffer is in use. The step that computes an element-wise operand of a join waits until the steps
 * of all operands can run. */

#include "dependencies.h"

/* Largest number of operands of a join that find_latest_operand() examines, to bound the time of
 * large joins. In a join with more operands, the steps of element-wise operands do not wait for the
 * steps of the other operands. */
#define MAX_PARTS 256

typedef struct
{
  guint step, pred;
} Edge;

typedef struct
{
  const CleaveStorage *storage;
  GArray *edges; /* Edge: pairs of a step and one of its predecessors */
  guint step;
  const CleaveNode *join; /* the join whose `first` and `last` are set */
  /* `first`: the first step that computes an operand in the join's buffer, CLEAVE_NEVER if there is
   * none; `last`: the last step that computes an operand */
  guint first, last;
  /* the join whose operands find_latest_operand() examined to set `latest` */
  const CleaveNode *examined;
  guint latest; /* the step after which all nodes that compute operands of `examined` can run;
                   CLEAVE_NEVER: one of these nodes is not element-wise, so none of them is
                   delayed */
} Collecting;

static void
add_edge (Collecting *c, guint pred, guint step)
{
  Edge edge = { step, pred };

  if (pred == CLEAVE_NEVER || pred == step)
    return;
  g_assert (pred < step);
  g_array_append_val (c->edges, edge);
}

static void
collect (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Collecting *c = data;
  guint deadline = c->storage->assignments[assignment->base].deadline;

  if (writes)
    return;
  add_edge (c, assignment->ready, c->step);
  /* The node at position `deadline` overwrites the value that step `c->step` reads. So the step of
   * this node must run after step `c->step`. The field `ready` of the node's first result is the
   * index of the node's step. */
  if (deadline != CLEAVE_NEVER)
    add_edge (c, c->step, c->storage->assignments[c->storage->first_value[deadline]].ready);
}

/* Sets the fields `first` and `last` of `c` for `join`, unless they are already set for this
 * join. */
static void
find_ends_of_join (Collecting *c, const CleaveNode *join)
{
  guint root = cleave_storage_assignment (c->storage, &join->results[0])->location.root;

  if (c->join == join)
    return;
  c->join = join;
  c->first = CLEAVE_NEVER; /* CLEAVE_NEVER is larger than the number of every step */
  c->last = 0;
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveAssignment *part =
          cleave_storage_assignment (c->storage, join->operands[i].result);

      if (part->ready != CLEAVE_NEVER)
        c->last = MAX (c->last, part->ready);
      if (part->location.root == root)
        c->first = MIN (c->first, part->ready);
    }
}

/* Delays the copy of a staged operand until a step computes the first operand in the join's buffer,
 * since this buffer is allocated from that step on. Does not delay a copy of a view of a larger
 * value, since the view keeps that value in memory. */
static void
put_off_copy (Collecting *c, const CleaveStep *step)
{
  const CleaveAssignment *part =
      cleave_storage_assignment (c->storage, step->node->operands[step->index].result);
  guint first;

  if (part->base != (guint) (part - c->storage->assignments))
    return;
  find_ends_of_join (c, step->node);
  first = c->first == CLEAVE_NEVER && part->ready != CLEAVE_NEVER ? c->last : c->first;
  if (part->ready == CLEAVE_NEVER || (first != CLEAVE_NEVER && first > part->ready))
    add_edge (c, first, c->step);
}

/* Adds the predecessors of a JOIN step: the steps that compute the join's operands, and the COPY
 * and LOAD steps right before the JOIN step. If an operand was also copied into the buffer of an
 * earlier join, adds the step that made this copy, too. */
static void
collect_join (Collecting *c, const CleaveStep *step)
{
  for (guint i = 0; i < step->node->n_operands; i++)
    {
      const CleaveAssignment *part =
          cleave_storage_assignment (c->storage, step->node->operands[i].result);

      add_edge (c, part->ready, c->step);
      if (part->copied != CLEAVE_NEVER && part->copied < c->step)
        add_edge (c, part->copied, c->step);
    }
  for (guint s = c->step; s-- > 0 && step[(gint64) s - c->step].node == step->node;)
    add_edge (c, s, c->step);
}

/* Returns the node whose result `node` overwrites; NULL if it overwrites none. */
static const CleaveNode *
find_overwritten (const CleaveStorage *storage, const CleaveNode *node)
{
  for (guint i = 0; (node->op->flags & CLEAVE_OP_IN_PLACE) != 0 && i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL && cleave_storage_assignment (storage, x)->deadline ==
                           cleave_storage_position (storage, node))
        return x->node;
    }
  return NULL;
}

static guint
find_last_operand (const CleaveStorage *storage, const CleaveNode *node)
{
  guint last = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      guint ready = x == NULL ? CLEAVE_NEVER : cleave_storage_assignment (storage, x)->ready;

      if (ready != CLEAVE_NEVER)
        last = MAX (last, ready);
    }
  return last;
}

static void
find_latest_operand (Collecting *c, const CleaveNode *join)
{
  if (c->examined == join)
    return;
  c->examined = join;
  c->latest = 0;
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveNode *head = join->operands[i].result->node, *before;

      while ((before = find_overwritten (c->storage, head)) != NULL)
        head = before;
      if ((head->op->flags & CLEAVE_OP_IN_PLACE) == 0)
        {
          c->latest = CLEAVE_NEVER;
          return;
        }
      c->latest = MAX (c->latest, find_last_operand (c->storage, head));
    }
}

/* Returns the join whose buffer contains the result of `node`. The result is an operand of the
 * join, or a chain of later nodes overwrites it in place. The last node of the chain then computes
 * an operand. Returns NULL if there is no join. */
static const CleaveNode *
find_join (const CleaveStorage *storage, const CleaveNode *node)
{
  const CleaveAssignment *assignment = cleave_storage_assignment (storage, &node->results[0]);

  while (assignment->whole == CLEAVE_NEVER && assignment->deadline != CLEAVE_NEVER)
    assignment = &storage->assignments[storage->first_value[assignment->deadline]];
  return assignment->whole == CLEAVE_NEVER ? NULL
                                           : storage->assignments[assignment->whole].result->node;
}

/* Returns whether later readers keep all non-constant operands of `node` in memory until node
 * `other` has run. */
static gboolean
is_read_after (const CleaveStorage *storage, const CleaveNode *node, const CleaveNode *other)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      const CleaveAssignment *assignment =
          x == NULL ? NULL : cleave_storage_assignment (storage, x);

      if (assignment != NULL && (assignment->flags & CLEAVE_ASSIGNMENT_CONSTANT) == 0 &&
          storage->assignments[assignment->base].last <= cleave_storage_position (storage, other))
        return FALSE;
    }
  return TRUE;
}

/* Delays the step of `node`, which computes an element-wise operand of a join, until the steps of
 * all operands of the join can run. Does not delay the step if the delay keeps an operand of `node`
 * in memory longer. */
static void
put_off_part (Collecting *c, const CleaveNode *node)
{
  const CleaveNode *join;

  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0 || find_overwritten (c->storage, node) != NULL)
    return;
  join = find_join (c->storage, node);
  if (join == NULL || join->n_operands > MAX_PARTS || !is_read_after (c->storage, node, join))
    return;
  find_latest_operand (c, join);
  if (c->latest < c->step)
    add_edge (c, c->latest, c->step);
}

static void
sort_edges (CleaveDependencies *dependencies, const GArray *edges, guint n_steps)
{
  guint *next;

  dependencies->begin = g_new0 (guint, n_steps + 2);
  dependencies->preds = g_new (guint, edges->len + 1);
  next = dependencies->begin + 1;
  for (guint i = 0; i < edges->len; i++)
    next[g_array_index (edges, Edge, i).step + 1]++;
  for (guint s = 0; s < n_steps; s++)
    next[s + 1] += next[s];
  for (guint i = 0; i < edges->len; i++)
    dependencies->preds[next[g_array_index (edges, Edge, i).step]++] =
        g_array_index (edges, Edge, i).pred;
}

void
cleave_dependencies_init (CleaveDependencies *dependencies,
                          const CleaveStorage *storage,
                          const CleaveGraph *graph)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  Collecting c = { .storage = storage, .edges = edges };

  for (c.step = 0; c.step < storage->steps->len; c.step++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, c.step);

      if (step->kind == CLEAVE_STEP_JOIN)
        collect_join (&c, step);
      else
        cleave_storage_visit (storage, graph, step, collect, &c);
      if (step->kind == CLEAVE_STEP_COPY)
        put_off_copy (&c, step);
      else if (step->kind == CLEAVE_STEP_COMPUTE)
        put_off_part (&c, step->node);
    }
  for (guint i = 0; storage->lap_edges != NULL && i < storage->lap_edges->len; i++)
    {
      const CleaveLapEdge *edge = &g_array_index (storage->lap_edges, CleaveLapEdge, i);

      c.step = edge->after;
      add_edge (&c, edge->before, edge->after);
    }
  sort_edges (dependencies, edges, storage->steps->len);
}

void
cleave_dependencies_clear (CleaveDependencies *dependencies)
{
  g_clear_pointer (&dependencies->begin, g_free);
  g_clear_pointer (&dependencies->preds, g_free);
}
