/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions a row of nodes (row.h) into parts that follow each other. Each part meets a limit of
 * memory. */

#include "../../lib/ir/error.h"

#include "parts.h"
#include "row-cuts.h"
#include "row-measure.h"
#include "row-refine.h"

/* The search tries each position of the row as the begin of a part. The search adds nodes to this
 * part one by one, until the estimated bytes exceed the limit. The search adds at most
 * MAX_ESTIMATES nodes in total, which takes about a second. If a row needs more estimates, the
 * search uses fewer positions of the row. */
#define MAX_ESTIMATES (1 << 24)

/* A partition takes at most this many searches for a cut. After each search, the parts of its cut
 * are measured. If a part is too large, the next search excludes this part. */
#define MAX_SEARCHES 32

/* If a single node exceeds the limit, at most this many of the largest nodes are measured, each as
 * a part of its own. The largest of these parts is the smallest possible limit. */
#define MAX_ALONE 256

/* State of the search for parts that meet the limit of `limit` bytes. */
typedef struct
{
  const CleaveRow *row;
  gint64 limit;
  GHashTable *measured; /* maps a part (begin << 32 | end) to the measured bytes of the part */
  GArray *positions;
  /* indexed as `positions`: a part that begins at position number i meets the limit if it ends at
   * position number reach[i] or earlier */
  guint *reach;
} Search;

static void
search_clear (Search *search)
{
  g_clear_pointer (&search->measured, g_hash_table_unref);
  g_clear_pointer (&search->positions, g_array_unref);
  g_free (search->reach);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

/* Returns the bytes of weights and arena of the part with nodes [begin, end). Measures each part
 * once. */
static gint64
get_bytes (Search *search, guint begin, guint end)
{
  const gint64 key = ((gint64) begin << 32) | end;
  const gint64 *known = g_hash_table_lookup (search->measured, &key);
  CleavePartitionMemory memory;
  gint64 *entry;

  if (known != NULL)
    return known[1];
  cleave_row_measure (search->row, begin, end, &memory);
  entry = g_new (gint64, 2);
  entry[0] = key;
  entry[1] = memory.weight_bytes + memory.arena_bytes;
  g_hash_table_insert (search->measured, entry, entry);
  return entry[1];
}

/* Sets `search->reach` by estimates: for each position, the last position at which a part that
 * begins there may end within the limit. Returns the number of estimated nodes. Stops when this
 * number exceeds `n_most`. */
static guint64
estimate_reach (Search *search, guint64 n_most)
{
  g_auto (CleaveRowMeter) meter = { 0 };
  guint64 n = 0;

  cleave_row_meter_init (&meter, search->row);
  for (guint i = 0; i < search->positions->len && n <= n_most; i++)
    {
      guint node = g_array_index (search->positions, guint, i);
      gboolean fits = TRUE;

      cleave_row_meter_begin (&meter, node);
      search->reach[i] = i;
      for (guint k = i + 1; k < search->positions->len && fits; k++)
        {
          for (; node < g_array_index (search->positions, guint, k) && fits; node++, n++)
            fits = cleave_row_meter_add (&meter, node) <= search->limit;
          if (fits)
            search->reach[i] = k;
        }
    }
  return n;
}

/* Checks each part between two consecutive positions. If the estimate of the part exceeds the
 * limit, measures the part, and corrects `search->reach` if the part meets the limit. Returns the
 * index of the first position i for which the part between positions i and i + 1 exceeds the limit;
 * CLEAVE_NEVER if there is none. */
static guint
measure_steps (Search *search)
{
  for (guint i = 0; i + 1 < search->positions->len; i++)
    {
      if (search->reach[i] > i)
        continue;
      if (get_bytes (search, g_array_index (search->positions, guint, i),
                     g_array_index (search->positions, guint, i + 1)) > search->limit)
        return i;
      search->reach[i] = i + 1;
    }
  return CLEAVE_NEVER;
}

static void
find_positions (Search *search, guint n_most)
{
  g_clear_pointer (&search->positions, g_array_unref);
  search->positions = cleave_row_list_positions (search->row, n_most);
  search->reach = g_renew (guint, search->reach, search->positions->len + 1);
}

/* Chooses the positions at which the row may be cut, and sets `search->reach`. Returns the index of
 * the first position i for which the nodes between positions i and i + 1 exceed the limit as one
 * part. Returns CLEAVE_NEVER if there is no such position. */
static guint
find_reach (Search *search)
{
  guint n = MAX (search->row->nodes->len, 1), step;

  find_positions (search, n);
  while (estimate_reach (search, MAX_ESTIMATES) > MAX_ESTIMATES && n > 64)
    find_positions (search, n = n / 4);
  step = measure_steps (search);
  if (step == CLEAVE_NEVER || n >= search->row->nodes->len)
    return step;
  /* the nodes between two positions exceed the limit: allow a cut before each node */
  find_positions (search, search->row->nodes->len);
  estimate_reach (search, G_MAXUINT64);
  return measure_steps (search);
}

/* Records that the part between two positions is too large. Parts that contain this part are too
 * large as well. */
static void
note_too_large (Search *search, guint begin, guint end)
{
  for (guint i = 0; g_array_index (search->positions, guint, i) <= begin; i++)
    while (search->reach[i] > i &&
           g_array_index (search->positions, guint, search->reach[i]) >= end)
      search->reach[i]--;
}

/* Measures the parts of a cut, and records each part that is too large. Returns whether all
 * parts meet the limit. */
static gboolean
check_parts (Search *search, const GArray *ends)
{
  gboolean fits = TRUE;

  for (guint i = 1; i < ends->len; i++)
    {
      guint begin = g_array_index (ends, guint, i - 1), end = g_array_index (ends, guint, i);

      if (get_bytes (search, begin, end) <= search->limit)
        continue;
      note_too_large (search, begin, end);
      fits = FALSE;
    }
  return fits;
}

/* Removes each cut between two parts that meet the limit as one part. Such cuts exist if estimates
 * were too high. */
static void
merge_parts (Search *search, GArray *ends)
{
  for (guint i = 1; i + 1 < ends->len;)
    if (get_bytes (search, g_array_index (ends, guint, i - 1),
                   g_array_index (ends, guint, i + 1)) <= search->limit)
      g_array_remove_index (ends, i);
    else
      i++;
}

static int
compare_bytes (gconstpointer a, gconstpointer b)
{
  const gint64 *x = a, *y = b;

  return x[0] > y[0] ? -1 : x[0] < y[0];
}

/* Returns the node that needs the most bytes as a separate part. Sets `most` to these bytes, which
 * are the smallest limit that can be met. Returns NULL if the row has no node. */
static const CleaveNode *
find_largest (const CleaveRow *row, CleavePartitionMemory *most)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, 2 * sizeof (gint64));
  g_auto (CleaveRowMeter) meter = { 0 };
  CleavePartitionMemory memory;
  const CleaveNode *node = NULL;

  *most = (CleavePartitionMemory){ 0 };
  cleave_row_meter_init (&meter, row);
  for (guint i = 0; i < row->nodes->len; i++)
    {
      gint64 entry[2];

      cleave_row_meter_begin (&meter, i);
      entry[0] = cleave_row_meter_add (&meter, i);
      entry[1] = i;
      g_array_append_vals (nodes, entry, 1);
    }
  g_array_sort (nodes, compare_bytes);
  for (guint i = 0; i < nodes->len && i < MAX_ALONE; i++)
    {
      guint index = (guint) ((const gint64 *) (gpointer) nodes->data)[2 * i + 1];

      cleave_row_measure (row, index, index + 1, &memory);
      if (node != NULL &&
          memory.weight_bytes + memory.arena_bytes <= most->weight_bytes + most->arena_bytes)
        continue;
      *most = memory;
      node = g_ptr_array_index (row->nodes, index);
    }
  return node;
}

/* Sets the error that a single node needs more than the limit, and returns NULL. The message names
 * the node that needs the most bytes. */
static CleavePartition *
refuse (const Search *search, GError **error)
{
  CleavePartitionMemory most;
  const CleaveNode *node = find_largest (search->row, &most);

  g_assert (node != NULL); /* a row without nodes is not refused */
  return cleave_fail_null (error, CLEAVE_ERROR_LIMIT,
                           "node '%s' alone needs %" G_GINT64_FORMAT " bytes (%" G_GINT64_FORMAT
                           " of weights, %" G_GINT64_FORMAT
                           " of activations), more than %" G_GINT64_FORMAT
                           "; allow that many, or split the node",
                           node->name, most.weight_bytes + most.arena_bytes, most.weight_bytes,
                           most.arena_bytes, search->limit);
}

/* Returns the last position at which a part that begins at position `begin` can end within the
 * limit. Finds this position by bisection, and measures the parts. Returns `begin` if a single node
 * is too large. */
static guint
find_furthest (Search *search, guint begin)
{
  guint good = begin, bad = search->row->nodes->len + 1;

  for (guint step = 1; good + 1 < bad; step = bad <= search->row->nodes->len ? 0 : 2 * step)
    {
      guint end = step > 0 ? MIN (good + step, bad - 1) : good + (bad - good) / 2;

      if (get_bytes (search, begin, end) <= search->limit)
        good = end;
      else
        bad = end;
    }
  return good;
}

/* Cuts the row so that each part ends as late as possible. Uses only measurements, no estimates.
 * Returns the ends, or NULL if a single node exceeds the limit. */
static GArray *
cut_late (Search *search)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  guint end = 0;

  g_array_append_val (ends, end);
  while (end < search->row->nodes->len)
    {
      guint next = find_furthest (search, end);

      if (next == end)
        return NULL;
      end = next;
      g_array_append_val (ends, end);
    }
  return g_steal_pointer (&ends);
}

/* Returns the positions where the parts begin and end; NULL if a single node exceeds the limit.
 * Searches for the cheapest cut by estimates. If the estimates are too low several times, cuts as
 * late as possible instead. */
static GArray *
search_ends (Search *search)
{
  if (find_reach (search) != CLEAVE_NEVER)
    return NULL;
  for (guint i = 0; i < MAX_SEARCHES; i++)
    {
      g_autoptr (GArray) ends =
          cleave_row_cut_within (search->row, search->positions, search->reach);

      if (ends == NULL)
        return NULL;
      if (!check_parts (search, ends))
        continue;
      merge_parts (search, ends);
      return g_steal_pointer (&ends);
    }
  return cut_late (search);
}

/**
 * cleave_partition_new_by_bytes:
 * @graph: a graph
 * @max_bytes: the limit for the weights and activations of a part, more than 0
 * @error: return location for a [struct@GLib.Error]
 *
 * Partitions a graph into consecutive parts. No part needs more than @max_bytes, and the values
 * that parts hand to each other have the fewest bytes.
 *
 * [method@Cleave.Partition.measure] says how bytes are counted. The function first cuts the order
 * in which a program runs the nodes. After these cuts, the function moves nodes between each two
 * consecutive parts by a minimum cut, if fewer bytes then cross. If a value passes several cuts,
 * each cut includes its bytes. If several parts read a constant, each part includes its bytes. The
 * level of a part is its index. The function takes time in proportion to the number of nodes of the
 * graph times the number of nodes of a part.
 *
 * Fails with %CLEAVE_ERROR_LIMIT if a node alone needs more than @max_bytes. The message then
 * states the smallest limit that can be met, as [func@Cleave.Partition.find_least_bytes] returns
 * it. Fails with %CLEAVE_ERROR_OPTION if @max_bytes is not positive, and with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the parts, or %NULL on error
 *
 * Since: 0.2
 */
CleavePartition *
cleave_partition_new_by_bytes (const CleaveGraph *graph, gint64 max_bytes, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (CleaveRow) row = NULL;
  g_autoptr (GArray) ends = NULL;
  g_auto (Search) search = { .limit = max_bytes };

  if (max_bytes <= 0)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "max_bytes must be more than 0, not %" G_GINT64_FORMAT, max_bytes);
  row = cleave_row_new (graph, error);
  if (row == NULL)
    return NULL;
  search.row = row;
  search.measured = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  ends = search_ends (&search);
  if (ends == NULL)
    return refuse (&search, error);
  cleave_row_refine (row, ends, max_bytes);
  return cleave_row_build (row, ends);
}

/**
 * cleave_partition_find_least_bytes:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the smallest limit that [ctor@Cleave.Partition.new_by_bytes] can meet: the weights and
 * activations of the node that needs the most bytes as a part of its own. The time is proportional
 * to the number of nodes and operands.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: the bytes, or -1 on error
 *
 * Since: 0.2
 */
gint64
cleave_partition_find_least_bytes (const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveRow) row = NULL;
  CleavePartitionMemory most;

  g_return_val_if_fail (graph != NULL, -1);
  row = cleave_row_new (graph, error);
  if (row == NULL)
    return -1;
  find_largest (row, &most);
  return most.weight_bytes + most.arena_bytes;
}
