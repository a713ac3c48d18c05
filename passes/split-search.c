/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-search.h"

#include "split-constraint.h"

#include <string.h>

/* The smallest split that meets a constraint.  Bytes of a chunk are a sum over its operands and
 * results, each a product over the dimensions of the result, so each way to cut a dimension is one
 * factor for each of them.  Few ways are worth trying: those with a smaller factor than the way
 * with fewer chunks before.  Combinations are tried from few pieces to many, by their factors; the
 * first that seems to do is then planned in earnest. */

#define MAX_TRIES 1000
#define MAX_PIECES (1 << 20)
#define MAX_ALL 512
#define N_SAMPLES 7

/* An operand, or a result that is used. */
typedef struct
{
  const char *name;
  CleaveShape shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  gint64 fixed; /* bytes of an element, and extents that no cut changes */
} Value;

/* A way to cut one dimension: n chunks that end at multiples of `align`. */
typedef struct
{
  gint64 n, align;
  gboolean is_refused;
  gint64 *factor; /* of each value: how much of it the largest chunk takes along this dimension */
} Cut;

typedef struct
{
  CleaveNode *node;
  CleaveNodeCall call;
  const CleaveConstraint *constraint;
  CleaveShape shape;
  guint n_values;
  Value *values;
  GArray *cuts[CLEAVE_MAX_RANK]; /* Cut, from few chunks to many */
  GHashTable *refused;           /* combinations that were planned, and did not do */
  guint at[CLEAVE_MAX_RANK];     /* the combination at hand: an index into each dimension's cuts */
  guint best[CLEAVE_MAX_RANK];
  gint64 best_n, best_bytes;
} Search;

static Cut *
get_cut (const Search *search, guint d, guint i)
{
  return &g_array_index (search->cuts[d], Cut, i);
}

static gint64
ceil_div (gint64 a, gint64 b)
{
  return a / b + (a % b != 0);
}

static CleaveSpan
cut_span (const Cut *cut, gint64 extent, gint64 i)
{
  gint64 units = ceil_div (extent, cut->align);
  gint64 q = units / cut->n, r = units % cut->n;
  gint64 begin = i * q + MIN (i, r), end = (i + 1) * q + MIN (i + 1, r);

  return (CleaveSpan){ begin * cut->align, MIN (end * cut->align, extent) };
}

/* Values. */

static void
add_value (Search *search, const char *name, const CleaveTensorType *type)
{
  Value *value = &search->values[search->n_values++];

  value->name = name;
  value->shape = type->shape;
  value->fixed = (gint64) cleave_element_size (type->element);
  for (guint d = 0; d < type->shape.rank; d++)
    if (value->map[d].stride == 0)
      value->fixed *= type->shape.dim[d];
}

static void
list_values (Search *search)
{
  const CleaveCall *call = &search->call.call;

  search->values = g_new0 (Value, call->n_operands + call->n_results);
  for (guint i = 0; i < call->n_operands; i++)
    if (cleave_call_has (call, i))
      {
        call->op->maps (call, i, search->values[search->n_values].map);
        add_value (search, cleave_op_operand_name (call->op, i), &call->operands[i]);
      }
  for (guint r = 0; r < call->n_results; r++)
    {
      CleaveDimMap *map = search->values[search->n_values].map;

      if (search->node->results[r].n_uses == 0)
        continue;
      for (guint d = 0; d < call->results[r].shape.rank; d++)
        map[d] = cleave_dim_map_same (d);
      if (r > 0 && call->op->result_maps != NULL)
        call->op->result_maps (call, r, map);
      add_value (search, cleave_op_result_name (call->op, r), &call->results[r]);
    }
}

/* How much of a value a span of dimension `d` of the result takes, along all dimensions that follow
 * it. */
static gint64
take (const Value *value, guint d, CleaveSpan span)
{
  CleaveSpan spans[CLEAVE_MAX_RANK];
  gint64 factor = 1;

  spans[d] = span;
  for (guint i = 0; i < value->shape.rank; i++)
    if (value->map[i].stride != 0 && value->map[i].from == d)
      {
        CleaveSpan read = cleave_dim_map_apply (&value->map[i], spans);

        factor *= MAX (MIN (read.end, value->shape.dim[i]) - MAX (read.begin, 0), 0);
      }
  return factor;
}

/* Cuts. */

/* The chunks that are looked at: at the ends, and where the sizes change. */
static guint
pick_samples (const Cut *cut, gint64 extent, gint64 *sample)
{
  gint64 big = ceil_div (extent, cut->align) % cut->n;
  const gint64 wanted[N_SAMPLES] = { 0, 1, big - 1, big, cut->n / 2, cut->n - 2, cut->n - 1 };
  guint n = 0;

  for (guint i = 0; i < N_SAMPLES; i++)
    if (wanted[i] >= 0 && wanted[i] < cut->n)
      sample[n++] = wanted[i];
  return n;
}

static gboolean
is_chunk_legal (const Search *search, guint d, CleaveSpan span)
{
  CleaveRange range = cleave_range_whole (&search->shape);
  CleaveChunk chunk;

  range.dim[d] = span;
  if (!cleave_chunk_init (&chunk, &search->call.call, &range, NULL))
    return FALSE;
  cleave_chunk_clear (&chunk, search->node->op);
  return TRUE;
}

/* Whether chunks of a cut can be nodes, all other dimensions whole: a quick look. */
static gboolean
seems_legal (const Search *search, guint d, const Cut *cut)
{
  gint64 sample[N_SAMPLES];
  guint n = pick_samples (cut, search->shape.dim[d], sample);

  for (guint i = 0; i < n; i++)
    if (!is_chunk_legal (search, d, cut_span (cut, search->shape.dim[d], sample[i])))
      return FALSE;
  return TRUE;
}

static gboolean
is_legal (const Search *search, guint d, const Cut *cut)
{
  for (gint64 i = 0; i < cut->n; i++)
    if (!is_chunk_legal (search, d, cut_span (cut, search->shape.dim[d], i)))
      return FALSE;
  return TRUE;
}

/* The factors of the chunk that takes most. */
static void
find_factors (const Search *search, guint d, Cut *cut)
{
  gint64 sample[N_SAMPLES];
  guint n = pick_samples (cut, search->shape.dim[d], sample);
  gint64 most = -1;

  cut->factor = g_new0 (gint64, search->n_values + 1);
  for (guint i = 0; i < n; i++)
    {
      CleaveSpan span = cut_span (cut, search->shape.dim[d], sample[i]);
      gint64 sum = 0;

      for (guint v = 0; v < search->n_values; v++)
        sum += take (&search->values[v], d, span);
      if (sum <= most)
        continue;
      most = sum;
      for (guint v = 0; v < search->n_values; v++)
        cut->factor[v] = take (&search->values[v], d, span);
    }
}

static void
cut_clear (gpointer data)
{
  g_free (((Cut *) data)->factor);
}

/* Whether a cut is no better than the one before it, which makes fewer chunks. */
static gboolean
is_dominated (const Search *search, guint d, const Cut *cut)
{
  const Cut *last =
      search->cuts[d]->len == 0 ? NULL : get_cut (search, d, search->cuts[d]->len - 1);

  if (last == NULL || last->align != cut->align)
    return FALSE;
  for (guint v = 0; v < search->n_values; v++)
    if (cut->factor[v] < last->factor[v])
      return FALSE;
  return search->n_values > 0;
}

static void
add_cut (Search *search, guint d, gint64 n, gint64 align)
{
  Cut cut = { n, align, FALSE, NULL };

  if (n > 1 && !seems_legal (search, d, &cut))
    return;
  find_factors (search, d, &cut);
  if (is_dominated (search, d, &cut))
    g_free (cut.factor);
  else
    g_array_append_val (search->cuts[d], cut);
}

/* All numbers of chunks; where they are many, of those with one largest chunk the smallest. */
static void
add_cuts (Search *search, guint d, gint64 align)
{
  gint64 units = ceil_div (search->shape.dim[d], align);

  for (gint64 n = 2; n <= units;)
    {
      gint64 largest = ceil_div (units, n);

      add_cut (search, d, n, align);
      if (units > MAX_ALL && largest == 1)
        return;
      n = units > MAX_ALL ? ceil_div (units, largest - 1) : n + 1;
    }
}

static int
compare_cuts (gconstpointer a, gconstpointer b)
{
  const Cut *c = a, *e = b;

  return c->n != e->n ? (c->n < e->n ? -1 : 1) : (c->align > e->align) - (c->align < e->align);
}

/* A dimension may be cut anywhere, and at the borders of the blocks in which an operand's map takes
 * it. */
static void
list_cuts (Search *search, guint d)
{
  gint64 done = 1;

  search->cuts[d] = g_array_new (FALSE, FALSE, sizeof (Cut));
  g_array_set_clear_func (search->cuts[d], cut_clear);
  add_cut (search, d, 1, 1);
  if (search->shape.dim[d] < 2)
    return;
  add_cuts (search, d, 1);
  for (guint v = 0; v < search->n_values; v++)
    for (guint i = 0; i < search->values[v].shape.rank; i++)
      {
        const CleaveDimMap *map = &search->values[v].map[i];

        if (map->stride == 0 || map->from != d || map->block <= 1 || map->block == done)
          continue;
        done = map->block;
        add_cuts (search, d, done);
      }
  g_array_sort (search->cuts[d], compare_cuts);
}

/* Combinations. */

static gint64
value_bytes (const Search *search, guint v)
{
  gint64 n = search->values[v].fixed;

  for (guint d = 0; d < search->shape.rank; d++)
    n *= get_cut (search, d, search->at[d])->factor[v];
  return n;
}

static gint64
chunk_bytes (const Search *search)
{
  gint64 n = 0;

  for (guint v = 0; v < search->n_values; v++)
    n += value_bytes (search, v);
  return n;
}

static void
choose_finest (Search *search, guint from)
{
  for (guint d = from; d < search->shape.rank; d++)
    search->at[d] = search->cuts[d]->len - 1;
}

static gboolean
fits (const Search *search, gint64 n_bytes)
{
  gint64 limit = search->constraint->max_memory;

  return limit == 0 || n_bytes <= limit;
}

static GBytes *
combination (const guint *at)
{
  return g_bytes_new (at, CLEAVE_MAX_RANK * sizeof *at);
}

static gboolean
was_refused (const Search *search)
{
  g_autoptr (GBytes) key = combination (search->at);

  return g_hash_table_contains (search->refused, key);
}

static void
consider (Search *search, gint64 n)
{
  gint64 n_bytes = chunk_bytes (search);

  if (!fits (search, n_bytes) || n > search->best_n ||
      (n == search->best_n && n_bytes > search->best_bytes) || was_refused (search))
    return;
  memcpy (search->best, search->at, sizeof search->best);
  search->best_n = n;
  search->best_bytes = n_bytes;
}

/* All combinations of the dimensions from `d` on, that together with those chosen make no more
 * pieces than the best, and might fit.  As deep as the rank. */
static void
try_dimension (Search *search, guint d, gint64 n)
{
  if (d == search->shape.rank)
    {
      consider (search, n);
      return;
    }
  for (guint i = 0; i < search->cuts[d]->len; i++)
    {
      const Cut *cut = get_cut (search, d, i);

      if (cut->n > search->best_n / n)
        break;
      search->at[d] = i;
      choose_finest (search, d + 1);
      if (!cut->is_refused && fits (search, chunk_bytes (search)))
        try_dimension (search, d + 1, n * cut->n);
    }
}

static gboolean
find_best (Search *search)
{
  guint limit = search->constraint->max_pieces;

  memset (search->at, 0, sizeof search->at);
  search->best_n = limit > 0 ? MIN (limit, MAX_PIECES) : MAX_PIECES;
  search->best_bytes = G_MAXINT64;
  try_dimension (search, 0, 1);
  return search->best_bytes < G_MAXINT64;
}

/* The grid of the best combination, the first dimension outermost. */
static GArray *
best_ranges (const Search *search)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  CleaveRange whole = cleave_range_whole (&search->shape);

  g_array_append_val (ranges, whole);
  for (guint d = 0; d < search->shape.rank; d++)
    {
      const Cut *cut = get_cut (search, d, search->best[d]);
      GArray *finer = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint i = 0; i < ranges->len; i++)
        for (gint64 j = 0; j < cut->n; j++)
          {
            CleaveRange range = g_array_index (ranges, CleaveRange, i);

            range.dim[d] = cut_span (cut, search->shape.dim[d], j);
            g_array_append_val (finer, range);
          }
      g_array_unref (ranges);
      ranges = finer;
    }
  return ranges;
}

/* The best did not do: never again, nor anything with a cut of it that cannot be. */
static void
refuse_best (Search *search)
{
  g_hash_table_add (search->refused, combination (search->best));
  for (guint d = 0; d < search->shape.rank; d++)
    {
      Cut *cut = get_cut (search, d, search->best[d]);

      cut->is_refused = cut->n > 1 && !is_legal (search, d, cut);
    }
}

static GArray *
try_best (const Search *search, GString *why)
{
  g_autoptr (GArray) ranges = best_ranges (search);
  g_autoptr (CleavePlan) plan =
      cleave_plan_new (search->node, (const CleaveRange *) ranges->data, ranges->len, why);

  return plan != NULL && cleave_constraint_allows (search->constraint, plan, why)
             ? g_steal_pointer (&ranges)
             : NULL;
}

/* Says that not even the finest cut will do, and which operand takes most of it. */
static void
explain_impossible (Search *search, GString *why)
{
  guint most = 0;

  choose_finest (search, 0);
  for (guint v = 1; v < search->n_values; v++)
    if (value_bytes (search, v) > value_bytes (search, most))
      most = v;
  g_string_append_printf (why,
                          "the smallest piece needs %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                          " of them for %s; the limit is %" G_GINT64_FORMAT,
                          chunk_bytes (search), value_bytes (search, most),
                          search->values[most].name, MAX (search->constraint->max_memory, 0));
}

static GArray *
find_ranges (Search *search, GString *why)
{
  g_autoptr (GString) last = g_string_new ("no number of pieces that is allowed will do");

  choose_finest (search, 0);
  if (search->n_values > 0 && !fits (search, chunk_bytes (search)))
    {
      explain_impossible (search, why);
      return NULL;
    }
  for (guint i = 0; i < MAX_TRIES && find_best (search); i++)
    {
      GArray *ranges;

      g_string_truncate (last, 0);
      ranges = try_best (search, last);
      if (ranges != NULL)
        return ranges;
      refuse_best (search);
    }
  g_string_append (why, last->str);
  return NULL;
}

GArray *
cleave_search_ranges (CleaveNode *node, const CleaveConstraint *constraint, GString *why)
{
  Search search = { .node = node, .constraint = constraint, .shape = node->results[0].type.shape };
  GArray *ranges;

  cleave_plan_call_init (&search.call, node);
  search.refused =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  list_values (&search);
  for (guint d = 0; d < search.shape.rank; d++)
    list_cuts (&search, d);
  ranges = find_ranges (&search, why);
  for (guint d = 0; d < search.shape.rank; d++)
    g_array_unref (search.cuts[d]);
  g_hash_table_unref (search.refused);
  g_free (search.values);
  cleave_node_call_clear (&search.call);
  return ranges;
}
