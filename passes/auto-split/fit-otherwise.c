/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-families.h"
#include "fit-late.h"
#include "fit-reads.h"

/* Values of such a part of the memory may be made again; and so many MACs more where there is no
 * limit on them. */
#define MIN_PART_OF_COPIES 8
#define MACS_OF_COPIES 1

/* Smaller values need not be made in parts, or again where they wait long. */
#define MIN_PART_OF_READS 32
#define MIN_PART_OF_LATE 16

/* Smaller values need not move.  Plans are measured if strips are thought to need less by such a
 * part than where nothing moves. */
#define MIN_PART_OF_MOVES 32
#define MIN_SAVED_BY_MOVES 0.04

/* MACs that copies may add. */
static double
get_macs_of_copies (const CleaveFitSearch *first)
{
  return first->options.max_added_macs == 0 ? MACS_OF_COPIES * (double) first->steps.macs
                                            : cleave_fit_search_get_allowed_macs (first);
}

/* FALSE: there are none, or there is nothing to move. */
static gboolean
make_copies (CleaveFitSearch *search,
             const CleaveFitSearch *first,
             CleaveGraph *graph,
             gboolean moves)
{
  const gint64 n_bytes = first->before->estimate.arena_bytes;
  const gint64 min_bytes = MAX (n_bytes / MIN_PART_OF_COPIES, 1);
  const gint64 min_moved = moves ? MAX (n_bytes / MIN_PART_OF_MOVES, 1) : 0;

  search->copies = cleave_fit_copies_make (graph, min_bytes, get_macs_of_copies (first), min_moved);
  if (search->copies->len == 0 ||
      (moves &&
       ((const CleaveFitCopy *) search->copies->pdata[search->copies->len - 1])->copy != NULL))
    return FALSE;
  search->is_listed = moves;
  cleave_fit_steps_init_as_listed (&search->steps, graph);
  return TRUE;
}

/* FALSE: there are none. */
static gboolean
make_parts (CleaveFitSearch *search, const CleaveFitSearch *first, CleaveGraph *graph)
{
  if (first->options.even_strips)
    return FALSE;
  search->parted = MAX (first->before->estimate.arena_bytes / MIN_PART_OF_READS, 1);
  return cleave_fit_reads_cut (graph, search->parted, NULL);
}

/* FALSE: there are none. */
static gboolean
make_late (CleaveFitSearch *search, const CleaveFitSearch *first, CleaveGraph *graph)
{
  const gint64 n_bytes = first->before->estimate.arena_bytes;

  if (first->options.even_strips)
    return FALSE;
  search->late =
      cleave_fit_late_copy (graph, MAX (n_bytes / MIN_PART_OF_LATE, 1), get_macs_of_copies (first));
  return search->late->len > 0;
}

static gboolean
look_otherwise (CleaveFitSearch *search,
                const CleaveFitSearch *first,
                CleaveGraph *graph,
                CleaveFitOtherwise otherwise)
{
  search->parted = first->parted;
  if (otherwise == CLEAVE_FIT_PARTED)
    return make_parts (search, first, graph);
  if (otherwise == CLEAVE_FIT_LATE)
    return make_late (search, first, graph);
  search->late = first->late == NULL ? NULL : g_ptr_array_ref (first->late);
  return otherwise == CLEAVE_FIT_STAGED
             ? cleave_fit_steps_init_staged (&search->steps, graph)
             : make_copies (search, first, graph, otherwise == CLEAVE_FIT_MOVED);
}

void
cleave_fit_search_foresee (CleaveFitSearch *search)
{
  cleave_fit_search_forget (search);
  search->foreseen =
      cleave_fit_family_find_least (search, CLEAVE_FIT_OF_STRIPS, search->before->predicted);
}

/* Whether plans of strips are thought to need no more than those of the graph as it is; or, where
 * nodes move, much less. */
static gboolean
is_promising (CleaveFitSearch *search, CleaveFitSearch *first, CleaveFitOtherwise otherwise)
{
  if (otherwise == CLEAVE_FIT_COPIES || otherwise == CLEAVE_FIT_STAGED)
    return TRUE;
  cleave_fit_search_foresee (search);
  if (otherwise == CLEAVE_FIT_MOVED)
    return (double) search->foreseen <= (1 - MIN_SAVED_BY_MOVES) * (double) first->foreseen;
  if (otherwise == CLEAVE_FIT_PARTED)
    cleave_fit_search_foresee (first);
  return search->foreseen <= first->foreseen;
}

gboolean
cleave_fit_search_init_again (CleaveFitSearch *search,
                              CleaveFitSearch *first,
                              CleaveFitOtherwise otherwise,
                              gint64 most)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_copy (first->graph);
  CleaveFitOptions options = first->options;

  *search = (CleaveFitSearch){ .original = first->original,
                               .most = otherwise <= CLEAVE_FIT_LATE    ? G_MAXINT64
                                       : otherwise == CLEAVE_FIT_MOVED ? most
                                                                       : first->enough,
                               .keeps_all = first->keeps_all };
  graph->inputs_apart = options.inputs_apart;
  options.watch = NULL;
  return look_otherwise (search, first, graph, otherwise) &&
         cleave_fit_search_take (search, g_steal_pointer (&graph), &options, NULL) &&
         is_promising (search, first, otherwise);
}
