/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfIdfVectorizer of integers, opset 9: counts how often each n-gram of a pool occurs in a row.
 * Rows can be split. For modes with weights, the importer adds a Mul after the node. */

#include "move.h"

static const char *const mode_names[] = { "TF", "IDF", "TFIDF", NULL };

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveTfidfAttrs, mode), .fallback = CLEAVE_TFIDF_IDF,
    .names = mode_names },
  { "min_gram_length", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTfidfAttrs, min_gram_length),
    .fallback = -1, CLEAVE_AT_LEAST (1) },
  { "max_gram_length", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTfidfAttrs, max_gram_length),
    .fallback = -1, CLEAVE_AT_LEAST (1) },
  { "max_skip_count", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTfidfAttrs, max_skip_count),
    .fallback = -1, CLEAVE_AT_LEAST (0) },
  { "ngram_counts", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (CleaveTfidfAttrs, ngram_counts) },
  { "ngram_indexes", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (CleaveTfidfAttrs, ngram_indexes) },
  { "pool_int64s", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (CleaveTfidfAttrs, pool_int64s) },
  { 0 },
};

static gint64
at (const GArray *array, gint64 i)
{
  return g_array_index (array, gint64, i);
}

static gint64
length_of (const GArray *array)
{
  return array == NULL ? 0 : array->len;
}

/* Returns the index in the pool at which the n-grams of `n` integers begin. They end where the
 * n-grams of n + 1 integers begin. */
static gint64
begin_of (const CleaveTfidfAttrs *a, gint64 n)
{
  return n <= length_of (a->ngram_counts) ? at (a->ngram_counts, n - 1)
                                          : length_of (a->pool_int64s);
}

static gboolean
check_pool (const CleaveTfidfAttrs *a, GError **error)
{
  gint64 n_grams = 0;

  for (gint64 n = 1; n <= length_of (a->ngram_counts); n++)
    {
      gint64 begin = begin_of (a, n), end = begin_of (a, n + 1);

      if ((n == 1 && begin != 0) || end < begin || end > length_of (a->pool_int64s) ||
          (end - begin) % n != 0)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %" G_GINT64_FORMAT
                            " of ngram_counts: the pool cannot have %" G_GINT64_FORMAT
                            "-grams from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                            n - 1, n, begin, end);
      n_grams += (end - begin) / n;
    }
  if (n_grams != length_of (a->ngram_indexes) || n_grams == 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "ngram_indexes has %" G_GINT64_FORMAT " entries, the pool %" G_GINT64_FORMAT
                        " n-grams",
                        length_of (a->ngram_indexes), n_grams);
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfidfAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;
  gint64 last = 0;

  if (a->mode != CLEAVE_TFIDF_TF)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "mode must be TF, not %s",
                        mode_names[a->mode]);
  if (!cleave_call_check_element (
          call, 0, CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64), error) ||
      !cleave_call_check_rank (call, 0, 1, 2, error) || !check_pool (a, error))
    return FALSE;
  if (a->max_gram_length < a->min_gram_length)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "max_gram_length %" G_GINT64_FORMAT " is below min_gram_length",
                        a->max_gram_length);
  for (gint64 i = 0; i < length_of (a->ngram_indexes); i++)
    {
      gint64 index = at (a->ngram_indexes, i);

      if (index < 0 || index > G_MAXINT32)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %" G_GINT64_FORMAT " of ngram_indexes is %" G_GINT64_FORMAT, i,
                            index);
      last = MAX (last, index);
    }
  results[0] = (CleaveTensorType){ CLEAVE_FLOAT32, *x };
  results[0].shape.dim[x->rank - 1] = last + 1;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *x = &call->operands[0].shape;

  map[0] = cleave_dim_map_same (0);
  map[x->rank - 1] = cleave_dim_map_whole (x->dim[x->rank - 1]);
}

/* A row of the operand, and the row of the result for it. */
typedef struct
{
  const CleaveTfidfAttrs *attrs;
  const CleaveView *x, *y;
  gint64 from, to, length;
} Row;

static gint64
load (const Row *row, gint64 i)
{
  const CleaveView *x = row->x;
  gconstpointer data = cleave_view_element (x, row->from + i * x->stride[x->type.shape.rank - 1]);

  return x->type.element == CLEAVE_INT32 ? *(const gint32 *) data : *(const gint64 *) data;
}

/* Looks up an n-gram in the pool: `n` elements of the row, `step` elements apart, of which the
 * first is element `begin`. If the pool has this n-gram, increments the element of the result that
 * counts it. */
static void
count_gram (const Row *row, gint64 n, gint64 step, gint64 begin)
{
  const CleaveTfidfAttrs *a = row->attrs;
  gint64 gram = 0; /* index of the current n-gram in the pool */

  for (gint64 shorter = 1; shorter < n; shorter++)
    gram += (begin_of (a, shorter + 1) - begin_of (a, shorter)) / shorter;
  for (gint64 p = begin_of (a, n); p < begin_of (a, n + 1); p += n, gram++)
    {
      gint64 i = 0;

      while (i < n && load (row, begin + i * step) == at (a->pool_int64s, p + i))
        i++;
      if (i == n)
        *(float *) cleave_view_element (
            row->y, row->to + at (a->ngram_indexes, gram) *
                                  row->y->stride[row->y->type.shape.rank - 1]) += 1;
    }
}

static void
count_row (const Row *row)
{
  const CleaveTfidfAttrs *a = row->attrs;
  gint64 longest = MIN (a->max_gram_length, length_of (a->ngram_counts));

  for (gint64 n = a->min_gram_length; n <= longest; n++)
    for (gint64 skip = 0; skip <= (n == 1 ? 0 : MIN (a->max_skip_count, row->length)); skip++)
      for (gint64 i = 0; i + (n - 1) * (skip + 1) < row->length; i++)
        count_gram (row, n, skip + 1, i);
}

/* Returns the work of the kernel, as a number of steps. An n-gram can begin at each element, with 0
 * to max_skip_count skipped elements, and is compared with the whole pool. */
static double
work (const CleaveCall *call)
{
  const CleaveTfidfAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;
  gint64 skips = MIN (a->max_skip_count, x->dim[x->rank - 1]);

  return (double) cleave_shape_n_elements (x) * (double) (skips + 1) *
         (double) (length_of (a->pool_int64s) + length_of (a->ngram_counts));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[0], *y = &results[0];
  gint64 n_rows = x->type.shape.rank == 1 ? 1 : x->type.shape.dim[0];
  const guint64 zero = 0;

  cleave_move_fill (y, &zero);
  for (gint64 i = 0; i < n_rows; i++)
    count_row (&(Row){ call->attrs, x, y, i * x->stride[0], i * y->stride[0],
                       x->type.shape.dim[x->type.shape.rank - 1] });
}

const CleaveOp cleave_op_tfidf_vectorizer = {
  .name = "TfIdfVectorizer",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveTfidfAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = work,
  .compute = compute,
};
