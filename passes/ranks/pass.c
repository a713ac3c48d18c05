/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `split-for-ranks`, and reads its options: the network, which is the number of
 * ranks and threads, the bandwidth and the latency. */

#include "../info.h"

#include <cleave/cleave-placement.h>
#include <cleave/cleave-text.h>

#include <math.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"

#define BYTES_PER_GBIT 1.25e8

static const CleavePassOption option_table[] = {
  { "ranks", "R", "set the number of processes (default: 2)", FALSE },
  { "threads", "T", "set the threads of each process (default: 1)", FALSE },
  { "bandwidth", "B", "set the Gbit that a rank sends in a second (default: 10)", FALSE },
  { "latency", "L", "set the microseconds that a message takes (default: 30)", FALSE },
  { 0 },
};

static const char *
find_text (GHashTable *options, const char *name)
{
  return options == NULL ? NULL : g_hash_table_lookup (options, name);
}

static gboolean
parse_count (GHashTable *options, const char *name, guint *count, GError **error)
{
  const char *text = find_text (options, name);
  gint64 value = *count;

  if (text != NULL && !cleave_text_to_int (name, text, 1, CLEAVE_MAX_THREADS, &value, error))
    return FALSE;
  *count = (guint) value;
  return TRUE;
}

static gboolean
parse_number (
    GHashTable *options, const char *name, double unit, double least, double *value, GError **error)
{
  const char *text = find_text (options, name);
  double number;
  char *end;

  if (text == NULL)
    return TRUE;
  number = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !isfinite (number) || number < least)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s expects a number of at least %g, not '%s'",
                        name, least, text);
  *value = number * unit;
  return TRUE;
}

/**
 * cleave_network_parse:
 * @options: (nullable) (element-type utf8 utf8): texts by name: `ranks`, and `threads` of each
 * rank; `bandwidth` in Gbit per second, `latency` in microseconds
 * @network: (out caller-allocates): the network; by default 2 ranks with 1 thread each, 10 Gbit per
 * second and 30 microseconds
 * @error: return location for a [struct@GLib.Error]
 *
 * Parses a network from the texts of a pipeline or a command line.
 *
 * Fails with %CLEAVE_ERROR_OPTION, naming the option.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_network_parse (GHashTable *options, CleaveNetwork *network, GError **error)
{
  g_return_val_if_fail (network != NULL, FALSE);
  *network = (CleaveNetwork){ 2, 1, CLEAVE_NETWORK_BANDWIDTH, CLEAVE_NETWORK_LATENCY };
  return parse_count (options, "ranks", &network->n_ranks, error) &&
         parse_count (options, "threads", &network->n_threads, error) &&
         parse_number (options, "bandwidth", BYTES_PER_GBIT, 1e-6, &network->bandwidth, error) &&
         parse_number (options, "latency", 1e-6, 0, &network->latency, error);
}

static gboolean
check (GHashTable *options, GError **error)
{
  CleaveNetwork network;

  return cleave_network_parse (options, &network, error);
}

/**
 * cleave_pass_split_for_ranks:
 * @graph: a graph
 * @options: (nullable): texts by name, as `cleave_network_parse()` reads them
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs `cleave_split_for_ranks()` as a pass of a pipeline. Run this pass only once, since a second
 * run would split the pieces.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_pass_split_for_ranks (CleaveGraph *graph,
                             gconstpointer options,
                             gboolean *changed,
                             GError **error)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveNetwork network;

  g_return_val_if_fail (graph != NULL, FALSE);
  if (changed != NULL)
    *changed = FALSE;
  if (!cleave_network_parse ((GHashTable *) options, &network, error))
    return FALSE;
  report = cleave_split_for_ranks (graph, &network, error);
  if (report == NULL)
    return FALSE;
  if (changed != NULL)
    *changed = cleave_split_report_get_n_split (report) > 0;
  return TRUE;
}

const CleavePassInfo cleave_pass_info_split_for_ranks = {
  .name = "split-for-ranks",
  .summary = "Splits large values and expensive nodes, so that the threads of several processes "
             "have work.",
  .options = option_table,
  .run = cleave_pass_split_for_ranks,
  .check = check,
  .is_for_once = TRUE,
};
