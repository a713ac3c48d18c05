/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the variants of a graph one after the other. For each kind of rewrite, rewrites a copy of
 * the graph and finds its segment candidates. Measures plans of the variant only if its estimated
 * memory is below the estimates of all earlier variants that have at most as many MACs. `first` is
 * the variant without rewrites. `base` is the variant whose rewrites another variant keeps. */

#include "variants.h"

#include "order.h"
#include "rematerialize-idle.h"
#include "split-per-reader.h"

#include <cleave/cleave-pass.h>

/* The kinds of rewrites, in the order in which the search tries them. If a variant of one of the
 * first three kinds is measured, the search makes variants of later kinds both from this variant
 * and from its base. For example, this variant may have more MACs than a limit allows. */
typedef enum {
  PER_READER,  /* split values per reader */
  IDLE,        /* recompute values for late readers */
  IDLE_FREE,   /* recompute values for late readers; recompute only nodes without MACs */
  COPIES,      /* recompute values for poolings */
  COPIES_FREE, /* recompute values for poolings; recompute only nodes without MACs */
  STAGED,      /* give parts of joins buffers of their own */
  MOVED,       /* run nodes earlier or later */
  N_KINDS
} Kind;

/* Rewrites apply only to values of at least 1 / MIN_PART of the unsplit arena. With 8 or 32 in
 * place of 16, fits of 46 networks need the same bytes. */
#define MIN_PART 16

/* Returns a lower limit in bytes: rewrites change only values of at least this size (MIN_PART). */
static gint64
get_min_bytes (const CleaveFitVariant *first)
{
  const CleaveFitMeasurement *unsplit = first->measurements->pdata[0];

  return MAX (unsplit->estimate.arena_bytes / MIN_PART, 1);
}

/* Recomputes values for poolings and, if `moves`, moves nodes. Returns FALSE if the graph has
 * nothing to rewrite. */
static gboolean
make_copies (CleaveFitVariant *variant, const CleaveFitVariant *first, double macs, gboolean moves)
{
  const GPtrArray *copies;

  copies = variant->rewrite.copies = cleave_fit_rematerialize_pooled (
      variant->graph, get_min_bytes (first), macs * (double) first->steps.macs,
      moves ? get_min_bytes (first) : 0);
  if (copies->len == 0 ||
      (moves && ((const CleaveFitCopy *) copies->pdata[copies->len - 1])->copy != NULL))
    return FALSE;
  cleave_fit_steps_init_as_listed (&variant->steps, variant->graph);
  return TRUE;
}

static gboolean
make_idle (CleaveFitVariant *variant, const CleaveFitVariant *first, double macs)
{
  if (variant->rewrite.idle != NULL)
    return FALSE;
  variant->rewrite.idle = cleave_fit_rematerialize_idle (variant->graph, get_min_bytes (first),
                                                         macs * (double) first->steps.macs);
  return variant->rewrite.idle->len > 0;
}

static gboolean
split_per_reader (CleaveFitVariant *variant, const CleaveFitVariant *first)
{
  variant->rewrite.per_reader_bytes = get_min_bytes (first);
  return cleave_fit_reads_cut (variant->graph, variant->rewrite.per_reader_bytes, NULL);
}

/* Rewrites the graph of a variant. Returns FALSE if the graph has nothing to rewrite for `kind`. */
static gboolean
rewrite (CleaveFitVariant *variant, Kind kind, const CleaveFitVariant *first, gboolean is_even)
{
  switch (kind)
    {
    case PER_READER:
      return !is_even && split_per_reader (variant, first);
    case IDLE:
      return !is_even && make_idle (variant, first, 1);
    case IDLE_FREE:
      return !is_even && make_idle (variant, first, 0);
    case COPIES:
      return make_copies (variant, first, 1, FALSE);
    case COPIES_FREE:
      return make_copies (variant, first, 0, FALSE);
    case MOVED:
      return make_copies (variant, first, 0.1, TRUE);
    case STAGED:
      return cleave_fit_steps_init_staged (&variant->steps, variant->graph);
    default:
      g_assert_not_reached ();
    }
}

/* Reorders the nodes of a variant into the order of its steps, as cleave_fit_rewrite_apply()
 * does. */
static void
list_nodes (CleaveFitVariant *variant)
{
  variant->before = cleave_graph_copy (variant->graph);
  if (variant->rewrite.copies == NULL)
    cleave_fit_list_as_run (variant->graph);
  variant->graph->keeps_order = TRUE;
}

/* Returns the graph to which a plan with `n_segments` segments is applied. A plan without segments
 * and without rewrites does not reorder the nodes either. */
static const CleaveGraph *
get_graph (const CleaveFitVariant *variant, guint n_segments)
{
  return n_segments == 0 && cleave_fit_rewrite_is_empty (&variant->rewrite) ? variant->before
                                                                            : variant->graph;
}

/* Measures the plan without segments, and places its buffers: an unsplit graph has few buffers, so
 * the placement is fast. If the variant has no rewrite, this plan leaves the graph unchanged. */
static void
measure_unsplit (CleaveFitVariant *variant, const CleaveFitSearch *search)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  const CleaveFitPath unsplit = { .segments = segments };

  g_ptr_array_add (variant->measurements,
                   cleave_fit_measurement_new (get_graph (variant, 0), &variant->candidates,
                                               &unsplit, search->options->n_threads));
  cleave_fit_measurement_place (variant->measurements->pdata[0]);
}

static CleaveFitVariant *
variant_new (const CleaveGraph *graph)
{
  CleaveFitVariant *variant = g_new0 (CleaveFitVariant, 1);

  variant->graph = cleave_graph_copy (graph);
  cleave_pass_remove_dead (variant->graph, NULL, NULL, NULL);
  variant->nodes_per_piece[0] = variant->nodes_per_piece[1] = CLEAVE_FIT_NODES_PER_PIECE;
  variant->measurements =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_measurement_free);
  return variant;
}

/* Returns the variant without rewrites, with its candidates and its measured unsplit plan. Returns
 * NULL and sets the error if the graph has a cycle or the search was cancelled. */
static CleaveFitVariant *
new_first (const CleaveGraph *graph, CleaveFitSearch *search, GError **error)
{
  g_autoptr (CleaveFitVariant) variant = variant_new (graph);

  variant->graph->exclude_inputs = search->options->exclude_inputs;
  if (!cleave_fit_steps_init (&variant->steps, variant->graph, error))
    return NULL;
  search->unsplit_macs = variant->steps.macs;
  list_nodes (variant);
  measure_unsplit (variant, search);
  for (guint i = 0; i < CLEAVE_FIT_N_LIMITS; i++)
    search->least[i] =
        ((const CleaveFitMeasurement *) variant->measurements->pdata[0])->estimate.arena_bytes;
  return cleave_fit_variant_prepare (variant, search, 0, error) ? g_steal_pointer (&variant) : NULL;
}

/* Returns the least estimated bytes of the variants (CleaveFitVariant) whose unsplit graphs have at
 * most `macs` MACs. The first variant has the fewest MACs. */
static gint64
find_least (const GPtrArray *variants, gint64 macs)
{
  gint64 least = G_MAXINT64;

  for (guint i = 0; i < variants->len; i++)
    {
      const CleaveFitVariant *variant = variants->pdata[i];

      if (variant->steps.macs <= macs)
        least = MIN (least, variant->least);
    }
  return least;
}

/* Returns a variant with the rewrites of `base` and a rewrite of the kind `kind`. Finds only
 * segment candidates that need fewer bytes than all earlier `variants` with at most as many MACs.
 * Returns NULL if the graph has nothing to rewrite for `kind`, or if the search was cancelled. */
static CleaveFitVariant *
new_variant (Kind kind,
             const GPtrArray *variants,
             const CleaveFitVariant *base,
             const CleaveFitSearch *search)
{
  const CleaveFitVariant *first = variants->pdata[0];
  g_autoptr (CleaveFitVariant) variant = variant_new (base->before);

  variant->graph->exclude_inputs = search->options->exclude_inputs;
  variant->rewrite = cleave_fit_rewrite_copy (&base->rewrite);
  if (!rewrite (variant, kind, first, search->options->even_strips))
    return NULL;
  if (variant->steps.nodes == NULL)
    cleave_fit_steps_init (&variant->steps, variant->graph, NULL);
  list_nodes (variant);
  /* even without segments, the rewritten graph may need less memory */
  measure_unsplit (variant, search);
  return cleave_fit_variant_prepare (variant, search, find_least (variants, variant->steps.macs),
                                     NULL)
             ? g_steal_pointer (&variant)
             : NULL;
}

/* Removes each plan that rewrites the graph, splits nothing, and needs at least as much memory as
 * the unsplit graph. The plan may seem to take slightly less time, since the estimate depends on
 * the order of nodes. */
static void
drop_useless (GPtrArray *variants)
{
  const CleaveFitVariant *first = variants->pdata[0];
  const CleaveFitMeasurement *unsplit = first->measurements->pdata[0];

  for (guint v = 1; v < variants->len; v++)
    {
      GPtrArray *measurements = ((CleaveFitVariant *) variants->pdata[v])->measurements;

      for (guint i = measurements->len; i-- > 0;)
        {
          const CleaveFitMeasurement *measured = measurements->pdata[i];

          if (measured->parts->len == 0 &&
              measured->estimate.arena_bytes >= unsplit->estimate.arena_bytes)
            g_ptr_array_remove_index (measurements, i);
        }
    }
}

/* Makes a variant of the kind `kind` from each of `bases`, the last one first. Measures a variant
 * only if it may need less memory than all of `variants` with at most as many MACs. Adds the
 * variant to `variants`, and, if it was measured and later kinds keep its rewrite, to `bases`. */
static void
add_variants (Kind kind, GPtrArray *variants, GPtrArray *bases, CleaveFitSearch *search)
{
  for (guint i = bases->len; i-- > 0 && !g_cancellable_is_cancelled (search->options->cancellable);)
    {
      g_autoptr (CleaveFitVariant) variant = new_variant (kind, variants, bases->pdata[i], search);

      if (variant == NULL)
        continue;
      /* the estimates of variants leave out tiles, since finding tiles takes ten times as long as
       * finding strips */
      if ((double) variant->least <=
          (1 - CLEAVE_FIT_MIN_GAIN) * (double) find_least (variants, variant->steps.macs))
        {
          cleave_fit_variant_measure (variant, search);
          if (kind < COPIES)
            g_ptr_array_add (bases, variant);
        }
      g_ptr_array_add (variants, g_steal_pointer (&variant));
    }
}

/* Searches as cleave_fit_search_variants() does, with or without the bytes of inputs, as `options`
 * say. `n_measured`: plans that an earlier search measured; the progress counts them. */
static GPtrArray *
search_variants (const CleaveGraph *graph,
                 const CleaveFitOptions *options,
                 guint n_measured,
                 GError **error)
{
  g_autoptr (GPtrArray) variants =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_variant_free);
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();
  CleaveFitSearch search = { .options = options, .n_measured = n_measured };
  CleaveFitVariant *first = new_first (graph, &search, error);

  if (first == NULL)
    return NULL;
  g_ptr_array_add (variants, first);
  g_ptr_array_add (bases, first);
  cleave_fit_variant_measure (first, &search);
  for (guint kind = 0; kind < N_KINDS; kind++)
    add_variants (kind, variants, bases, &search);
  if (g_cancellable_set_error_if_cancelled (options->cancellable, error))
    return NULL;
  return g_steal_pointer (&variants);
}

static guint
count_measured (const GPtrArray *variants)
{
  guint n = 0;

  for (guint v = 0; v < variants->len; v++)
    n += ((const CleaveFitVariant *) variants->pdata[v])->measurements->len;
  return n;
}

static gint64
sum_inputs (const CleaveGraph *graph)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    n_bytes += cleave_tensor_type_n_bytes (&cleave_graph_get_input (graph, i)->type);
  return n_bytes;
}

/* Returns whether the plan `counted` may be better than all plans in `variants` after its bytes are
 * counted without the `n_bytes` bytes of inputs. Returns FALSE if a plan in `variants` needs no
 * more MACs and time than `counted`, and no more bytes than `counted` without inputs. */
static gboolean
may_be_better (const CleaveFitMeasurement *counted, const GPtrArray *variants, gint64 n_bytes)
{
  for (guint v = 0; v < variants->len; v++)
    {
      const GPtrArray *measurements = ((const CleaveFitVariant *) variants->pdata[v])->measurements;

      for (guint i = 0; i < measurements->len; i++)
        {
          const CleaveFitMeasurement *measured = measurements->pdata[i];

          if (measured->macs <= counted->macs &&
              measured->estimate.nanoseconds <= counted->estimate.nanoseconds &&
              measured->estimate.arena_bytes <= counted->estimate.arena_bytes - n_bytes)
            return FALSE;
        }
    }
  return TRUE;
}

/* Measures the plans of a variant again, without the bytes of inputs. Removes the plans that cannot
 * be better than the plans in `variants`. */
static void
measure_without_inputs (CleaveFitVariant *variant,
                        const GPtrArray *variants,
                        const CleaveFitOptions *options)
{
  const gint64 n_bytes = sum_inputs (variant->before);
  g_autoptr (GPtrArray) counted = g_steal_pointer (&variant->measurements);

  variant->graph->exclude_inputs = variant->before->exclude_inputs = TRUE;
  variant->measurements =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_measurement_free);
  for (guint i = 0; i < counted->len; i++)
    {
      const CleaveFitMeasurement *measured = counted->pdata[i];

      if (may_be_better (measured, variants, n_bytes))
        g_ptr_array_add (variant->measurements,
                         cleave_fit_measurement_new_of (get_graph (variant, measured->parts->len),
                                                        measured->parts, NULL, options->n_threads));
    }
}

/* Searches again with the bytes of inputs counted, and adds the variants of this second search. So
 * a search without inputs also finds each plan that a search with inputs finds. */
static gboolean
add_counted (GPtrArray *variants,
             const CleaveGraph *graph,
             const CleaveFitOptions *options,
             GError **error)
{
  CleaveFitOptions with_inputs = *options;
  g_autoptr (GPtrArray) counted = NULL;

  with_inputs.exclude_inputs = FALSE;
  counted = search_variants (graph, &with_inputs, count_measured (variants), error);
  if (counted == NULL)
    return FALSE;
  for (guint v = 0; v < counted->len; v++)
    measure_without_inputs (counted->pdata[v], variants, options);
  g_ptr_array_extend_and_steal (variants, g_steal_pointer (&counted));
  return TRUE;
}

GPtrArray *
cleave_fit_search_variants (const CleaveGraph *graph,
                            const CleaveFitOptions *options,
                            GError **error)
{
  g_autoptr (GPtrArray) variants = search_variants (graph, options, 0, error);

  if (variants == NULL ||
      (options->exclude_inputs && !add_counted (variants, graph, options, error)))
    return NULL;
  drop_useless (variants);
  if (options->watch != NULL)
    options->watch (1, options->watch_data);
  return g_steal_pointer (&variants);
}
