/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the band of each node from places. A place says which part of a dimension of the whole
 * value a piece has: rows 8 to 15 of 32 rows have the place 1/4 to 1/2. Dimension maps carry places
 * from operands to results: a row of a convolution's result lies at the middle of the rows that it
 * reads. If no operand has a place, for example because channels are cut, the Assemble that joins
 * the pieces gives the place. */

#include "bands.h"

/* The place of a piece in one dimension of the whole value: 0 is the begin of the dimension, and 1
 * is the end. Element i of the piece begins at `begin + i * size`. `size` 0: not known. */
typedef struct
{
  double begin, size;
} Place;

/* find_band() treats a value as a piece if the value has less than this fraction of the elements of
 * the whole value in some dimension. */
#define MAX_PART 0.99

typedef struct
{
  guint *first; /* indexed by node id: index of the node's first result in `places` */
  Place (*places)[CLEAVE_MAX_RANK];
} Bands;

static Place *
find_places (const Bands *bands, const CleaveResult *value)
{
  return bands->places[bands->first[value->node->id] + value->index];
}

static void
fill_whole (const CleaveResult *value, Place *places)
{
  for (guint d = 0; d < value->type.shape.rank; d++)
    if (places[d].size <= 0)
      places[d] = (Place){ 0, 1.0 / (double) MAX (value->type.shape.dim[d], 1) };
}

/* Returns the number of operand elements per element of the result. */
static double
find_scale (const CleaveDimMap *map)
{
  return (double) map->stride * (double) map->times / (double) map->block;
}

/* Returns the position in the operand, in elements, that corresponds to the begin of the result.
 * This position is the middle of the window of the first result element. If the map has blocks of
 * several result elements, the position is the mean over the elements of the first block. */
static double
find_shift (const CleaveDimMap *map)
{
  double blocks = (double) map->shift / (double) map->block - 0.5;

  return blocks * (double) map->stride + (double) map->offset + (double) map->window / 2;
}

/* Returns whether consecutive elements of the result read consecutive parts of an operand dimension
 * with `extent` elements. Returns FALSE if each element of the result reads the whole dimension, as
 * a convolution reads all channels. */
static gboolean
is_plain (const CleaveDimMap *map, gint64 extent)
{
  return map->stride > 0 && (map->block == 1 || map->stride < extent);
}

static gboolean
init_call (CleaveNodeCall *call, CleaveResult *value)
{
  const CleaveNode *node = value->node;

  if (node->op->maps == NULL || (value->index > 0 && (node->op->flags & CLEAVE_OP_VIEW) == 0))
    return FALSE;
  cleave_node_call_init (call, value->node);
  call->call.result = value->index;
  return TRUE;
}

/* Computes unknown places of the result from places of operand number `operand`. If `back` is TRUE,
 * computes unknown places of the operand from places of the result instead. `x` has the Place of
 * each dimension of the operand, and `y` has the Place of each dimension of the result. */
static void
pass_on (const CleaveCall *call, guint operand, Place *x, Place *y, gboolean back)
{
  CleaveDimMap map[CLEAVE_MAX_RANK];

  call->op->maps (call, operand, map);
  for (guint d = 0; d < call->operands[operand].shape.rank; d++)
    {
      Place *from = &x[d], *to = &y[map[d].from];
      double scale = find_scale (&map[d]), shift = find_shift (&map[d]);

      if (!is_plain (&map[d], call->operands[operand].shape.dim[d]))
        continue;
      if (!back && from->size > 0 && to->size <= 0)
        *to = (Place){ from->begin + from->size * shift, from->size * scale };
      if (back && to->size > 0 && from->size <= 0)
        *from = (Place){ to->begin - to->size / scale * shift, to->size / scale };
    }
}

static void
find_result (const Bands *bands, CleaveResult *value)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const CleaveNode *node = value->node;
  Place *places = find_places (bands, value);

  if (init_call (&call, value))
    for (guint i = 0; i < node->n_operands; i++)
      if (node->operands[i].result != NULL &&
          !cleave_node_is_fixed (node->operands[i].result->node))
        pass_on (&call.call, i, find_places (bands, node->operands[i].result), places, FALSE);
  if (cleave_node_is_input (node) || (node->op->flags & CLEAVE_OP_JOIN) != 0)
    fill_whole (value, places);
}

static void
find_operands (const Bands *bands, CleaveResult *value)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const CleaveNode *node = value->node;

  /* skip the Concats of the model itself, which join no pieces of a split */
  if (!init_call (&call, value) ||
      (node->op->flags & (CLEAVE_OP_JOIN | CLEAVE_OP_NOT_ONNX)) == CLEAVE_OP_JOIN)
    return;
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && !cleave_node_is_fixed (node->operands[i].result->node))
      pass_on (&call.call, i, find_places (bands, node->operands[i].result),
               find_places (bands, value), TRUE);
}

/* Returns the band in which the middle of a value lies. The value may be a piece of a whole value.
 * Uses the dimension in which the piece has the smallest fraction of the extent of the whole value.
 * Returns CLEAVE_NO_BAND if no dimension is cut. */
static gint
find_band (const Bands *bands, CleaveResult *value, guint n_bands)
{
  const Place *places = find_places (bands, value);
  double least = MAX_PART, middle = -1;

  for (guint d = 0; d < value->type.shape.rank; d++)
    {
      double part = places[d].size * (double) value->type.shape.dim[d];

      if (part <= 0 || part >= least)
        continue;
      least = part;
      middle = places[d].begin + part / 2;
    }
  return middle < 0 ? CLEAVE_NO_BAND : (gint) MIN (n_bands - 1, (guint) (middle * n_bands));
}

static void
find_bands (const Bands *bands, const GPtrArray *order, guint n_bands, gint *band)
{
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (band[node->id] == CLEAVE_NO_BAND && node->n_results > 0 && !cleave_node_is_fixed (node))
        band[node->id] = find_band (bands, &node->results[0], n_bands);
    }
}

static void
find_forwards (const Bands *bands, const GPtrArray *order)
{
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        find_result (bands, &node->results[r]);
    }
}

static void
find_backwards (const Bands *bands, const GPtrArray *order)
{
  for (guint i = order->len; i-- > 0;)
    {
      CleaveNode *node = order->pdata[i];

      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        find_operands (bands, &node->results[r]);
    }
}

gint *
cleave_bands_find (const CleaveGraph *graph, const GPtrArray *order, guint n_bands)
{
  gint *band = g_new (gint, graph->n_ids + 1);
  g_autofree guint *first = g_new0 (guint, graph->n_ids + 1);
  g_autofree gpointer places = NULL;
  Bands bands = { first, NULL };
  guint n_results = 0;

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      first[node->id] = n_results;
      n_results += node->n_results;
      band[node->id] = CLEAVE_NO_BAND;
    }
  places = g_new0 (Place, ((gsize) n_results + 1) * CLEAVE_MAX_RANK);
  bands.places = places;
  find_forwards (&bands, order);
  find_bands (&bands, order, n_bands, band);
  find_backwards (&bands, order);
  find_bands (&bands, order, n_bands, band);
  return band;
}
