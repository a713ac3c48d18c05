/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades GroupQueryAttention, the attention of decoders, with a cache of keys and values.
 *
 * The present keys are the valid keys of the cache and the new keys. The number of valid keys may
 * be computed, and may differ between batch elements. So a Gather reads the present keys, by
 * computed indices, from the cache and the new keys. If the numbers are constant, the indices are
 * constant, too, and often a Concat replaces the Gather. */

#include "attend.h"
#include "rotary.h"

/* largest batch for which gather_rows() adds nodes: it adds a Gather for each batch element */
#define MAX_BATCH 1024
#define MAX_HEADS (1 << 20)

typedef struct
{
  gint64 n_heads, n_shared; /* number of query heads; number of key and value heads */
  gint64 window;
  gboolean is_causal, has_rotary, interleaved, is_smooth;
  gint64 n_batch, n_new, n_keys; /* size of the batch, number of new keys, number of present keys */
  gboolean is_prompt;            /* whether there are no past keys, so that the content of the cache
                                  * is ignored */
  CleaveOnnxValue *last;         /* int64, one for each batch element: index of the last valid
                                  * key */
  CleaveOnnxValue *past;         /* int64, one for each batch element: number of valid keys in the
                                  * cache; NULL: no key is valid */
  CleaveOnnxValue *rows;         /* for each batch element and present key, an index into the
                                  * concatenation of the cache, the new keys and a row of zeros
                                  * (find_rows()); NULL: not computed yet */
  CleaveOnnxAttention core;
} Grouped;

static gboolean
take_grouped (CleaveOnnxNode *node, Grouped *g, GError **error)
{
  g_autoptr (CleaveOnnxAttr) k_type = cleave_onnx_node_take (node, "k_quant_type"),
                             v_type = cleave_onnx_node_take (node, "v_quant_type");

  g->n_heads = cleave_onnx_node_take_int (node, "num_heads", 0);
  g->n_shared = cleave_onnx_node_take_int (node, "kv_num_heads", 0);
  g->window = cleave_onnx_node_take_int (node, "local_window_size", -1);
  g->is_causal = cleave_onnx_node_take_int (node, "causal", 1) != 0;
  g->has_rotary = cleave_onnx_node_take_int (node, "do_rotary", 0) != 0;
  g->interleaved = cleave_onnx_node_take_int (node, "rotary_interleaved", 0) != 0;
  g->is_smooth = cleave_onnx_node_take_int (node, "smooth_softmax", 0) != 0;
  g->core.scale = cleave_onnx_node_take_real (node, "scale", 0);
  g->core.softcap = cleave_onnx_node_take_real (node, "softcap", 0);
  cleave_onnx_node_take_real (node, "qk_norm_epsilon", 0); /* an attribute that concerns only
                                                            * operands which Cleave refuses */
  cleave_onnx_node_take_int (node, "kv_cache_bit_width", 0);
  if ((k_type != NULL && g_strcmp0 (k_type->string, "NONE") != 0) ||
      (v_type != NULL && g_strcmp0 (v_type->string, "NONE") != 0))
    return cleave_onnx_node_fail (node, error, "a quantized cache is not supported");
  if (g->n_shared < 1 || g->n_heads < 1 || g->n_heads > MAX_HEADS || g->n_heads % g->n_shared != 0)
    return cleave_onnx_node_fail (node, error,
                                  "num_heads must be a multiple of kv_num_heads, not %d and %d",
                                  (int) g->n_heads, (int) g->n_shared);
  return cleave_onnx_take_only (node, "qk_output", 0, error) &&
         cleave_onnx_take_only (node, "sliding_window_cache", 0, error) &&
         cleave_onnx_node_check_no_attrs (node, error) &&
         cleave_onnx_refuse (node, 12, "k_scale", error) &&
         cleave_onnx_refuse (node, 13, "v_scale", error) &&
         cleave_onnx_refuse (node, 14, "q_norm_weight", error) &&
         cleave_onnx_refuse (node, 15, "k_norm_weight", error);
}

/* Reads Q, K and V, and divides them into heads: batch × heads × new keys × elements per head.
 * Operand 0 may hold Q, K and V, packed. */
static gboolean
read_qkv (CleaveOnnxNode *node, Grouped *g, GError **error)
{
  static const char *const suffixes[] = { ".q", ".k", ".v" };
  const gint64 n_heads[] = { g->n_heads, g->n_shared, g->n_shared }, any = CLEAVE_ONNX_ANY,
               n_all = g->n_heads + 2 * g->n_shared;
  CleaveOnnxValue *parts[] = { cleave_onnx_node_operand (node, 0),
                               cleave_onnx_node_operand (node, 1),
                               cleave_onnx_node_operand (node, 2) },
                  *all = parts[0];
  gboolean is_packed = parts[1] == NULL && parts[2] == NULL;
  gint64 width, begin = 0;

  if (!cleave_onnx_expect (node, "query", all, &CLEAVE_SHAPE (any, any, any), error))
    return FALSE;
  g->n_batch = cleave_onnx_value_shape (all)->dim[0];
  g->n_new = cleave_onnx_value_shape (all)->dim[1];
  width = cleave_onnx_value_shape (all)->dim[2];
  if (width == 0 || width % (is_packed ? n_all : g->n_heads) != 0)
    return cleave_onnx_node_fail (node, error,
                                  "query must have a width that is a multiple of %d, not %d",
                                  (int) (is_packed ? n_all : g->n_heads), (int) width);
  width /= is_packed ? n_all : g->n_heads;
  for (guint i = 0; i < 3; i++)
    {
      gint64 end = begin + n_heads[i] * width;
      g_autofree char *flat = g_strconcat (suffixes[i], ".flat", NULL);

      if (is_packed)
        parts[i] = cleave_onnx_slice (node, all, 2, (CleaveSpan){ begin, end }, flat, error);
      if (!cleave_onnx_expect (node, suffixes[i] + 1, parts[i],
                               &CLEAVE_SHAPE (g->n_batch, g->n_new, n_heads[i] * width), error))
        return FALSE;
      parts[i] = cleave_onnx_split_heads (node, parts[i], n_heads[i], suffixes[i], error);
      begin = end;
    }
  g->core.q = parts[0];
  g->core.k = parts[1];
  g->core.v = parts[2];
  return parts[0] != NULL && parts[1] != NULL && parts[2] != NULL;
}

/* Reads the numbers of keys: the operand total_sequence_length decides whether there are past keys,
 * and the operand seqlens_k gives their number. */
static gboolean
read_lengths (CleaveOnnxNode *node, Grouped *g, GError **error)
{
  CleaveOnnxValue *last = cleave_onnx_node_operand (node, 5),
                  *total = cleave_onnx_node_operand (node, 6),
                  *cache = cleave_onnx_node_operand (node, 3), *less;
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  const gint64 any = CLEAVE_ONNX_ANY, width = cleave_onnx_value_shape (g->core.k)->dim[3];
  gint64 n_total;

  if (last == NULL || total == NULL)
    return cleave_onnx_node_fail (node, error, "operand %d is missing", last == NULL ? 5 : 6);
  numbers = cleave_onnx_node_read_numbers (node, 6, "total_sequence_length", error);
  if (numbers == NULL)
    return FALSE;
  if (numbers->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "total_sequence_length must be one number");
  n_total = g_array_index (numbers->ints, gint64, 0);
  if (cache != NULL &&
      (!cleave_onnx_expect (node, "past_key", cache,
                            &CLEAVE_SHAPE (g->n_batch, g->n_shared, any, width), error) ||
       !cleave_onnx_expect (node, "past_value", cleave_onnx_node_operand (node, 4),
                            cleave_onnx_value_shape (cache), error)))
    return FALSE;
  if (n_total < g->n_new ||
      n_total - g->n_new > (cache == NULL ? 0 : cleave_onnx_value_shape (cache)->dim[2]))
    return cleave_onnx_node_fail (
        node, error, "total_sequence_length must be between %d and %d, not %d", (int) g->n_new,
        (int) (g->n_new + (cache == NULL ? 0 : cleave_onnx_value_shape (cache)->dim[2])),
        (int) n_total);
  g->n_keys = MAX (n_total, cache == NULL ? 0 : cleave_onnx_value_shape (cache)->dim[2]);
  g->is_prompt = n_total == g->n_new;
  last = cleave_onnx_cast (node, last, CLEAVE_INT64, ".seqlens", error);
  g->last = cleave_onnx_reshape (node, last, &CLEAVE_SHAPE (g->n_batch), ".seqlens.flat", error);
  if (g->is_prompt)
    return g->last != NULL;
  if (g->n_new > 1 && g->n_batch > 1)
    return cleave_onnx_node_fail (
        node, error, "several queries with a past need a batch of 1, not %d", (int) g->n_batch);
  less = cleave_onnx_count (node, g->n_new - 1, &CLEAVE_SHAPE (1), error);
  g->past = CLEAVE_ONNX_STEP ("Sub", ".past", NULL, g->last, less);
  return g->past != NULL;
}

/* Applies the rotary embedding to Q and K. */
static gboolean
rotate (CleaveOnnxNode *node, Grouped *g, GError **error)
{
  CleaveOnnxRotary rotary = { .interleaved = g->interleaved };
  CleaveOnnxValue *positions = cleave_onnx_node_operand (node, 9), *first = g->past;

  if (g->is_prompt && positions != NULL)
    { /* for a prompt, ONNX Runtime reads only the first position id */
      positions = cleave_onnx_reshape (node, positions, &CLEAVE_SHAPE (g->n_batch * g->n_new),
                                       ".positions.flat", error);
      first =
          cleave_onnx_slice (node, positions, 0, (CleaveSpan){ 0, 1 }, ".positions.first", error);
      positions = NULL;
    }
  if (positions == NULL)
    {
      positions = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, g->n_new), error);
      if (first != NULL)
        {
          first = cleave_onnx_reshape (node, first,
                                       &CLEAVE_SHAPE (cleave_onnx_value_shape (first)->dim[0], 1),
                                       ".past.rows", error);
          positions = CLEAVE_ONNX_STEP ("Add", ".rows", NULL, positions, first);
        }
    }
  else
    positions = cleave_onnx_rotary_positions (node, positions, g->n_batch, g->n_new, error);
  if (!cleave_onnx_rotary_init (node, &rotary, 7, positions, error))
    return FALSE;
  g->core.q = cleave_onnx_rotate (node, &rotary, g->core.q, ".q.turned", error);
  g->core.k = cleave_onnx_rotate (node, &rotary, g->core.k, ".k.rotated", error);
  return g->core.q != NULL && g->core.k != NULL;
}

/* The functions below read and extend the cache. */

/* Returns, for each batch element and present key, the index of the key's row in the concatenation
 * of the cache, the new keys and a row of zeros. */
static CleaveOnnxValue *
find_rows (CleaveOnnxNode *node, const Grouped *g, gint64 n_cached, GError **error)
{
  CleaveOnnxValue *at = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, g->n_keys), error),
                  *shift = cleave_onnx_count (node, n_cached, &CLEAVE_SHAPE (1), error),
                  *last = cleave_onnx_count (node, n_cached + g->n_new, &CLEAVE_SHAPE (1), error),
                  *past, *is_old, *moved;

  past = g->is_prompt ? cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, 1), error)
                      : cleave_onnx_reshape (node, g->past, &CLEAVE_SHAPE (g->n_batch, 1),
                                             ".cache.past", error);
  is_old = CLEAVE_ONNX_STEP ("Less", ".cache.old", NULL, at, past);
  moved = CLEAVE_ONNX_STEP ("Sub", ".cache.new", NULL, at, past);
  moved = CLEAVE_ONNX_STEP ("Add", ".cache.moved", NULL, moved, shift);
  moved = CLEAVE_ONNX_STEP ("Min", ".cache.kept", NULL, moved, last);
  return CLEAVE_ONNX_STEP ("Where", ".cache.rows", NULL, is_old, at, moved);
}

/* Returns whether `rows` is a constant with the numbers 0, 1, 2 and so on. No Gather is then
 * needed. */
static gboolean
is_count (CleaveOnnxNode *node, CleaveOnnxValue *rows)
{
  CleaveTensor *constant = cleave_onnx_value_constant (node->import, rows);
  g_autoptr (CleaveTensor) dense = constant == NULL ? NULL : cleave_tensor_dup_dense (constant);
  const gint64 *data = dense == NULL ? NULL : cleave_tensor_get_data (dense);
  gint64 n = cleave_onnx_value_shape (rows)->dim[1];

  for (gint64 i = 0; data != NULL && i < cleave_shape_n_elements (cleave_onnx_value_shape (rows));
       i++)
    if (data[i] != i % n)
      return FALSE;
  return data != NULL;
}

static CleaveOnnxValue *
gather_rows (CleaveOnnxNode *node,
             const Grouped *g,
             CleaveOnnxValue *all,
             CleaveOnnxValue *rows,
             const char *suffix,
             GError **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();

  if (g->n_batch > MAX_BATCH)
    return cleave_onnx_node_fail_null (
        node, error, "a past of its own must be of a batch of at most %d", MAX_BATCH);
  for (gint64 b = 0; b < g->n_batch; b++)
    {
      g_autofree char *tail = g_strdup_printf ("%s.%d", suffix, (int) b),
                      *from = g_strconcat (tail, ".from", NULL),
                      *at = g_strconcat (tail, ".rows", NULL),
                      *flat = g_strconcat (tail, ".index", NULL);
      gint64 row = cleave_onnx_value_shape (rows)->dim[0] == 1 ? 0 : b;
      CleaveOnnxValue *index =
          cleave_onnx_slice (node, rows, 0, (CleaveSpan){ row, row + 1 }, at, error);

      index = cleave_onnx_reshape (node, index, &CLEAVE_SHAPE (g->n_keys), flat, error);
      index = CLEAVE_ONNX_STEP (
          "Gather", tail, cleave_onnx_attr_new_int ("axis", 2),
          cleave_onnx_slice (node, all, 0, (CleaveSpan){ b, b + 1 }, from, error), index);
      if (index == NULL)
        return NULL;
      g_ptr_array_add (parts, index);
    }
  return cleave_onnx_join (node, (CleaveOnnxValue **) parts->pdata, parts->len, 0, suffix, error);
}

/* Returns the present keys or values: the valid keys or values of the cache, followed by the new
 * keys or values `fresh`. */
static CleaveOnnxValue *
update (CleaveOnnxNode *node,
        Grouped *g,
        guint operand,
        CleaveOnnxValue *fresh,
        const char *suffix,
        GError **error)
{
  CleaveOnnxValue *cache = cleave_onnx_node_operand (node, operand), *all;
  g_autofree char *joined = g_strconcat (suffix, ".all", NULL),
                  *padded = g_strconcat (suffix, ".padded", NULL);
  gint64 n_cached = cache == NULL ? 0 : cleave_onnx_value_shape (cache)->dim[2];
  const gint64 pads[] = { 0, 0, 0, 0, 0, 0, 1, 0 };
  CleaveOnnxValue *parts[] = { cache, fresh };
  guint first = n_cached == 0 ? 1 : 0;

  if (g->is_prompt && g->n_keys == g->n_new)
    return fresh;
  if (g->rows == NULL)
    g->rows = find_rows (node, g, n_cached, error);
  if (g->rows == NULL)
    return NULL;
  if (g->n_keys == n_cached + g->n_new && is_count (node, g->rows))
    return cleave_onnx_join (node, parts + first, 2 - first, 2, suffix, error);
  all = cleave_onnx_join (node, parts + first, 2 - first, 2, joined, error);
  all = CLEAVE_ONNX_STEP (
      "Pad", padded, NULL, all,
      cleave_onnx_constant (node, &CLEAVE_TYPE (CLEAVE_INT64, G_N_ELEMENTS (pads)), pads));
  return all == NULL ? NULL : gather_rows (node, g, all, g->rows, suffix, error);
}

/* Checks the shapes of the bias, which is added to the scores, and of the sink. */
static gboolean
check_scores (const CleaveOnnxNode *node, const Grouped *g, GError **error)
{
  const gint64 any = CLEAVE_ONNX_ANY;

  return (g->core.bias == NULL ||
          cleave_onnx_expect (node, "attention_bias", g->core.bias,
                              &CLEAVE_SHAPE (any, any, g->n_new, g->n_keys), error)) &&
         (g->core.sink == NULL ||
          cleave_onnx_expect (node, "head_sink", g->core.sink, &CLEAVE_SHAPE (g->n_heads), error));
}

/* Adds the mask of keys. If the attention is not causal, every query may read every valid key. */
static gboolean
mask_grouped (CleaveOnnxNode *node, Grouped *g, GError **error)
{
  CleaveOnnxValue *from = g->is_causal ? g->past : g->last;

  if (from != NULL)
    from =
        cleave_onnx_reshape (node, from, &CLEAVE_SHAPE (g->n_batch, 1, 1, 1), ".mask.past", error);
  g->core.causal = cleave_onnx_causal (node, g->is_causal ? g->n_new : 1, g->n_keys, 0, from,
                                       g->is_causal ? g->window : 0, error);
  return g->core.causal != NULL;
}

static gboolean
group_query_attention (CleaveOnnxNode *node, GError **error)
{
  Grouped g = { .core.bias = cleave_onnx_node_operand (node, 10),
                .core.sink = cleave_onnx_node_operand (node, 11) };
  CleaveOnnxValue *y;

  if (!take_grouped (node, &g, error) || !read_qkv (node, &g, error) ||
      !read_lengths (node, &g, error) || (g.has_rotary && !rotate (node, &g, error)))
    return FALSE;
  g.core.k = update (node, &g, 3, g.core.k, ".k.present", error);
  g.core.v = update (node, &g, 4, g.core.v, ".v.present", error);
  if (g.core.k == NULL || g.core.v == NULL || !check_scores (node, &g, error) ||
      !mask_grouped (node, &g, error))
    return FALSE;
  if (g.is_smooth && g.core.sink == NULL)
    g.core.sink = cleave_onnx_zeros (
        node, &CLEAVE_TYPE (cleave_onnx_value_type (g.core.q)->element, g.n_heads), error);
  y = cleave_onnx_attend (node, &g.core, error);
  return cleave_onnx_finish_all (node, (CleaveOnnxValue *[]){ y, g.core.k, g.core.v }, 3);
}

const CleaveOnnxContrib cleave_onnx_contrib_grouped[] = {
  { "GroupQueryAttention", group_query_attention },
  { "RotaryEmbedding", cleave_onnx_upgrade_rotary_embedding },
  { NULL, NULL },
};
