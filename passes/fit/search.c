/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the plans of one graph variant to measure. These are the plans with the least memory
 * under each limit on added MACs, and the cheapest plans between the unsplit graph and the least
 * memory. A path is an estimated plan (path.h). To calibrate means to replace the estimated bytes
 * of segment candidates and of their overlays by measured bytes. */

#include "search.h"

#include "plan-nodes.h"

#include <math.h>

/* The search looks for the least memory under each of these limits on added MACs. The limits are
 * fractions of the unsplit MACs. */
static const double limits[CLEAVE_FIT_N_LIMITS] = { 0, 0.03, 0.1, INFINITY };

/* Limits on overlays of results on dying operands: strips may read ahead by at most this fraction
 * of the smaller of the two values (-1: no overlay; 1: any overlay).
 *
 * The arena planner does not find every overlay, so a plan with more overlays may need more memory
 * than estimated. Without the limit 1/12, fits of 53 networks need 0.7 % more bytes in the
 * geometric mean, and BERT needs 14 % more. */
static const double ahead[] = { -1, 1.0 / 12, 1 };

/* The search measures a series of plans between the unsplit graph and the least memory. The
 * estimate of each plan is at least this fraction below the estimate of the plan before it. */
#define STEP 0.07

/* The search measures the cheapest path that needs at most this fraction more bytes than the path
 * with the fewest bytes. The cheapest path often has far fewer pieces. With 0.01 instead of 0, the
 * plans that fits of 13 networks measure have 18 % fewer pieces, and the fitted networks need the
 * same bytes in the geometric mean. If strips must have equal size, the search uses 0: the strips
 * of a segment become iterations of one Loop, so plans with fewer strips are no better. */
#define SLACK 0.01

/* The search measures only plans of at most MAX_NODES estimated nodes. The search measures a series
 * of plans for each pair of a limit on MACs (`limits`) and a limit on overlays (`ahead`). A series
 * ends when its plans together have MAX_NODES nodes. A measurement takes about 20 microseconds for
 * each node. With at most 12,000 nodes instead of 24,000, fits of 53 networks need 3.9 % more bytes
 * in the geometric mean, and take the same time. */
#define MAX_NODES 24000

/* If the arena of the best plan of a series is larger than this many times its lower bound, the
 * search corrects the estimates by the gaps of the arena. With 1 instead of 1.05, fits of 94
 * networks take 1.07 times the time, and need the same bytes in the geometric mean. */
#define GAPS 1.05

/* Before the search for tiles, the search finds the least bytes of a plan with strips alone and
 * without added MACs. The search for tiles leaves out segments that need at least TILE_MARGIN times
 * these bytes. If TILE_MARGIN is 1, a test fails: with inputs excluded, the search misses the
 * fastest plan for 9,152 bytes, and finds a plan that takes 1.3 times the time. */
#define TILE_MARGIN 1.25

/* The price in ns of an added MAC when the search looks for the path with the fewest MACs. This
 * price is higher than all other costs of a path. */
#define FEW_MACS 1e6

/* The search does not know in advance the number of plans that it measures. After this number of
 * plans, the search reports a progress of one half. */
#define HALF_OF_PLANS 20

static gboolean
is_cancelled (const CleaveFitSearch *search)
{
  return g_cancellable_is_cancelled (search->options->cancellable);
}

/* Returns the number of limits on overlays that the search uses, from the begin of `ahead`. With
 * several threads, the search uses only the first limit, which allows no overlay: programs of
 * several threads make no overlays. */
static guint
count_ahead (const CleaveFitSearch *search)
{
  return search->options->n_threads > 1 ? 1 : G_N_ELEMENTS (ahead);
}

static CleaveFitPath *
find_path (const CleaveFitVariant *variant, double max_ahead, double mac_price, gint64 max_bytes)
{
  const CleaveFitPathQuery query = { .max_bytes = max_bytes,
                                     .mac_price = mac_price,
                                     .max_ahead = max_ahead };

  return cleave_fit_path_find (&variant->candidates, &query);
}

/* Returns whether a path exists, adds at most `max_macs` and has at most MAX_NODES nodes. */
static gboolean
is_within (const CleaveFitVariant *variant, const CleaveFitPath *path, double max_macs)
{
  return path != NULL && path->macs <= max_macs &&
         cleave_fit_variant_estimate_nodes (variant, path) <= MAX_NODES;
}

/* Returns a path within `max_bytes` that adds at most `max_macs` and has at most MAX_NODES nodes.
 * Tries the path with the fewest MACs. If this path has too many nodes, tries the fastest path.
 * Returns NULL if neither path is within the limits. */
static CleaveFitPath *
find_within (const CleaveFitVariant *variant, double max_ahead, double max_macs, gint64 max_bytes)
{
  static const double prices[] = { FEW_MACS, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (prices); i++)
    {
      g_autoptr (CleaveFitPath) path = find_path (variant, max_ahead, prices[i], max_bytes);

      if (path == NULL || (path->macs > max_macs && prices[i] > 0))
        return NULL; /* the fastest path has no fewer MACs */
      if (is_within (variant, path, max_macs))
        return g_steal_pointer (&path);
    }
  return NULL;
}

/* Returns an estimated plan (CleaveFitPath) whose estimate of bytes is at most 1/256 above the
 * smallest possible estimate. Considers only paths that need at most `max_bytes` bytes, add at most
 * `max_macs` MACs and have at most MAX_NODES nodes. Returns NULL if there is no such path. */
static CleaveFitPath *
find_least (const CleaveFitVariant *variant, double max_ahead, double max_macs, gint64 max_bytes)
{
  CleaveFitPath *least = NULL;
  gint64 target = cleave_fit_path_bound (&variant->candidates, max_ahead >= 0);
  gint64 low = target - 1, high = max_bytes;

  if (target > max_bytes)
    return NULL;
  /* `target` is a limit in bytes. The first target is a lower bound of the bytes of all paths;
   * often, a path needs exactly these bytes. If no path is within the first target, the second
   * target is `max_bytes` */
  do
    {
      CleaveFitPath *path = find_within (variant, max_ahead, max_macs, target);

      if (path != NULL)
        {
          cleave_fit_path_free (least);
          least = path;
          high = path->n_bytes;
        }
      else if (target == max_bytes)
        return NULL;
      else
        low = target;
      target = least == NULL ? max_bytes : low + (high - low) / 2;
    }
  while (least == NULL || high - low > high / 256 + 1);
  return least;
}

static CleaveFitWatch
get_watch (const CleaveFitVariant *variant, const CleaveFitSearch *search, gint64 max_bytes)
{
  return (CleaveFitWatch){ .is_even = search->options->even_strips,
                           .max_bytes = max_bytes,
                           .tile_bytes = variant->tile_bytes,
                           /* the search splits a node that was copied for a pooling into chunks of
                            * channels, and each chunk reads different weights */
                           .has_chunks = variant->rewrite.copies != NULL,
                           .cancellable = search->options->cancellable };
}

/* Finds the candidates of a variant that have no tiles and need less than `max_bytes`; 0: no limit.
 * Returns FALSE and sets the error if the search was cancelled. */
static gboolean
find_candidates (CleaveFitVariant *variant,
                 const CleaveFitSearch *search,
                 gint64 max_bytes,
                 GError **error)
{
  const CleaveFitWatch watch = get_watch (variant, search, max_bytes);

  cleave_fit_candidates_clear (&variant->candidates);
  variant->has_all_strips = max_bytes == 0;
  return cleave_fit_candidates_init (&variant->candidates, &variant->steps, &watch, error);
}

gboolean
cleave_fit_variant_prepare (CleaveFitVariant *variant,
                            const CleaveFitSearch *search,
                            gint64 max_bytes,
                            GError **error)
{
  const double max_ahead = ahead[count_ahead (search) - 1];
  g_autoptr (CleaveFitPath) least = NULL, without_macs = NULL;

  if (!find_candidates (variant, search, max_bytes, error))
    return FALSE;
  least = find_least (variant, max_ahead, INFINITY, G_MAXINT64 / 2);
  variant->least = least->n_bytes;
  without_macs = find_least (variant, max_ahead,
                             (double) (search->unsplit_macs - variant->steps.macs), G_MAXINT64 / 2);
  variant->tile_bytes =
      without_macs == NULL ? G_MAXINT64 : (gint64) (TILE_MARGIN * (double) without_macs->n_bytes);
  return TRUE;
}

static CleaveFitMeasurement *
find_measurement (const CleaveFitVariant *variant, const CleaveFitPath *path)
{
  for (guint i = 0; i < variant->measurements->len; i++)
    {
      CleaveFitMeasurement *measured = variant->measurements->pdata[i];

      if (cleave_fit_path_equal (measured->path, path))
        return measured;
    }
  return NULL;
}

static CleaveFitMeasurement *
measure (CleaveFitSearch *search, CleaveFitVariant *variant, const CleaveFitPath *path)
{
  const CleaveFitOptions *options = search->options;
  CleaveFitMeasurement *known = find_measurement (variant, path), *measured;

  if (known != NULL)
    return known;
  measured =
      cleave_fit_measurement_new (variant->graph, &variant->candidates, path, options->n_threads);
  g_ptr_array_add (variant->measurements, measured);
  cleave_fit_variant_note_nodes (variant, path, measured->n_nodes);
  search->n_measured++;
  if (options->watch != NULL)
    options->watch ((double) search->n_measured / (search->n_measured + HALF_OF_PLANS),
                    options->watch_data);
  return measured;
}

static void
calibrate (CleaveFitVariant *variant, const CleaveFitMeasurement *measured)
{
  for (guint i = 0; i < measured->parts->len; i++)
    if (measured->part_bytes[i].apart > 0)
      cleave_fit_candidates_calibrate (
          &variant->candidates, &((const CleaveFitPart *) measured->parts->pdata[i])->candidate,
          &measured->part_bytes[i]);
}

/* Returns the estimated plan (CleaveFitPath) to measure next: the cheapest path that needs at most
 * SLACK more bytes than the path with the fewest bytes. Returns NULL if there is no path within
 * `max_bytes`. */
static CleaveFitPath *
find_next (const CleaveFitVariant *variant, double max_ahead, double max_macs, gint64 max_bytes)
{
  g_autoptr (CleaveFitPath) least = find_least (variant, max_ahead, max_macs, max_bytes);
  g_autoptr (CleaveFitPath) cheapest = NULL;
  const double slack = variant->candidates.is_even ? 0 : SLACK;
  gint64 n_bytes;

  if (least == NULL)
    return NULL;
  n_bytes = (gint64) ((1 + slack) * (double) least->n_bytes);
  cheapest = find_within (variant, max_ahead, max_macs, MIN (n_bytes, max_bytes));
  /* with overlays, the search for a path keeps few prefixes (path.c), so a larger limit of bytes
   * may give a worse path or no path */
  return cheapest != NULL ? g_steal_pointer (&cheapest) : g_steal_pointer (&least);
}

/* Repeats these steps while a plan may save memory: chooses the estimated plan with the smallest
 * estimate (CleaveFitPath), measures the plan, and corrects the estimates with the measurement.
 * `least` is the least memory measured so far with at most `max_macs` added MACs; the function
 * lowers `least`. Returns the plan with the least memory, or NULL if no plan needs less than
 * `least`. */
static CleaveFitMeasurement *
measure_series (CleaveFitSearch *search,
                CleaveFitVariant *variant,
                double max_ahead,
                double max_macs,
                gint64 *least)
{
  CleaveFitMeasurement *before = NULL, *best = NULL;
  /* largest ratio of measured to estimated added MACs so far; begins below 1, since the estimate is
   * too high at borders */
  double ratio = 0.7;

  for (guint64 n_nodes = 0; n_nodes < MAX_NODES && !is_cancelled (search);)
    {
      g_autoptr (CleaveFitPath) path =
          find_next (variant, max_ahead, max_macs / ratio,
                     (gint64) ((1 - CLEAVE_FIT_MIN_GAIN) * (double) *least));
      CleaveFitMeasurement *measured = path == NULL ? NULL : measure (search, variant, path);
      const double macs = measured == NULL ? 0 : (double) (measured->macs - variant->steps.macs);

      if (measured == NULL)
        break;
      n_nodes += measured->n_nodes;
      calibrate (variant, measured);
      if (macs > max_macs)
        ratio = MAX (ratio, macs / path->macs);
      else if (measured->estimate.arena_bytes < *least)
        {
          best = measured;
          *least = measured->estimate.arena_bytes;
        }
      if (measured == before)
        break; /* the measurement corrected no estimate */
      before = measured;
    }
  return best;
}

/* Measures a series of plans, and places the buffers of the plan with the least memory. If the
 * arena of this plan is larger than GAPS times the lower bound, corrects the estimates for the next
 * series. */
static void
measure_least (CleaveFitSearch *search,
               CleaveFitVariant *variant,
               double max_ahead,
               double max_macs,
               gint64 *least)
{
  const gint64 before = *least;
  CleaveFitMeasurement *best = measure_series (search, variant, max_ahead, max_macs, least);

  if (best == NULL || (double) cleave_fit_measurement_place (best) <= GAPS * (double) *least)
    return;
  *least = MIN (before, best->estimate.arena_bytes);
  calibrate (variant, best);
}

/* Measures a series of plans without overlays, from much memory to little: the cheapest path for a
 * limit on bytes, and then for lower limits. Each limit is STEP below the estimate of the path
 * before. Ends when the limit is at most `least` bytes, the least memory measured so far. */
static void
measure_between (CleaveFitSearch *search, CleaveFitVariant *variant, double mac_price, gint64 least)
{
  gint64 max_bytes = G_MAXINT64;

  while (max_bytes > least && !is_cancelled (search))
    {
      g_autoptr (CleaveFitPath) path = find_path (variant, ahead[0], mac_price, max_bytes);

      if (path == NULL || cleave_fit_variant_estimate_nodes (variant, path) > MAX_NODES)
        return;
      measure (search, variant, path);
      max_bytes = (gint64) ((1 - STEP) * (double) path->n_bytes);
    }
}

/* `least[i]` is the least memory measured for plans within limit number i on added MACs, and the
 * limits ascend. A plan within a lower limit is also within each higher limit. Therefore, this
 * function replaces each entry by the smallest entry up to this entry. */
static void
relax (gint64 least[CLEAVE_FIT_N_LIMITS])
{
  for (guint i = 1; i < CLEAVE_FIT_N_LIMITS; i++)
    least[i] = MIN (least[i], least[i - 1]);
}

void
cleave_fit_variant_measure (CleaveFitVariant *variant, CleaveFitSearch *search)
{
  const guint n_ahead = count_ahead (search);
  const CleaveFitWatch watch = get_watch (variant, search, 0);

  if ((!variant->has_all_strips && !find_candidates (variant, search, 0, NULL)) ||
      !cleave_fit_candidates_add_tiles (&variant->candidates, &watch, NULL))
    return;
  for (guint a = 0; a < n_ahead; a++)
    {
      if (a + 1 == n_ahead)
        cleave_fit_candidates_reset (&variant->candidates);
      for (guint i = 0; i < CLEAVE_FIT_N_LIMITS; i++)
        {
          const double max_macs =
              (1 + limits[i]) * (double) search->unsplit_macs - (double) variant->steps.macs;

          if (max_macs >= 0)
            measure_least (search, variant, ahead[a], max_macs, &search->least[i]);
          relax (search->least);
        }
    }
  measure_between (search, variant, FEW_MACS, search->least[CLEAVE_FIT_N_LIMITS - 1]);
  measure_between (search, variant, 0, search->least[CLEAVE_FIT_N_LIMITS - 1]);
}

void
cleave_fit_variant_free (CleaveFitVariant *variant)
{
  if (variant == NULL)
    return;
  g_clear_pointer (&variant->measurements, g_ptr_array_unref);
  cleave_fit_candidates_clear (&variant->candidates);
  cleave_fit_steps_clear (&variant->steps);
  cleave_fit_rewrite_clear (&variant->rewrite);
  g_clear_pointer (&variant->before, cleave_graph_unref);
  cleave_graph_unref (variant->graph);
  g_free (variant);
}
