/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads sparse constants. The file stores the value of such a tensor as a tree.
 *
 * Each level of the tree is a dimension; the list `traversal` gives the dimension of each level. A
 * tensor of rank r has the dimensions 0 to r - 1. The tensor may be divided into blocks: the list
 * `block_map` has the dimensions that the blocks divide. Entry b of `block_map` adds the dimension
 * r + b: the position inside a block, along dimension block_map[b].
 *
 * - A dense level has a child for each index.
 * - A sparse level lists the indices of its children. The children of parent p have the indices
 *   indices[segments[p]] to indices[segments[p + 1] - 1].
 *
 * The leaves are the elements of the file, in order. For example, a matrix with blocks of 1 x 4 has
 * the levels row (dense), block column (sparse) and position in the block (dense). */

#include "import.h"

#include "../ir/error.h"

#include <string.h>

/* Indices of the fields of the tables in the schema. */
enum { SPARSITY_TRAVERSAL, SPARSITY_BLOCK_MAP, SPARSITY_LEVELS };
enum { LEVEL_FORMAT, LEVEL_SIZE, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, LEVEL_INDICES_TYPE };
enum { LEVEL_INDICES = LEVEL_INDICES_TYPE + 1 };

#define TYPE_INT4 17 /* number of INT4 in TensorType of the schema */
#define MAX_LEVELS (2 * CLEAVE_MAX_RANK)

/* A vector of integers of `size` bytes: 1, 2 or 4. */
typedef struct
{
  CleaveFlatVector items;
  gsize size;
} Numbers;

typedef struct
{
  gboolean is_sparse;
  guint dim;     /* the dimension of the tensor that the level stands for. A dimension that is
                  * divided into blocks has two levels: one for the indices of the blocks, one for
                  * the positions in a block */
  gint64 extent; /* number of indices of the level: the extent of a dimension, the number of blocks
                  * of a divided dimension, or the number of positions in a block */
  gint64 stride; /* distance, in elements of the dense tensor, from an index of the level to the
                  * next index */
  Numbers segments, indices;
} Level;

typedef struct
{
  Level levels[MAX_LEVELS];
  guint n_levels;
  const guint8 *from; /* elements of the tensor in the file */
  gsize n_from, size; /* number of elements in the file; bytes of an element */
  gsize at;           /* number of elements that have been copied so far */
  guint8 *to;
} Sparse;

static gint64
number (const Numbers *numbers, gint64 i)
{
  gint64 value = cleave_flat_integer (&numbers->items, numbers->size, (guint) i);

  return numbers->size == 1 ? value & G_MAXUINT8 : numbers->size == 2 ? value & G_MAXUINT16 : value;
}

/* Reads a union of vectors of integers. Integers of type 1 have 32 bits, of type 2 have 16 bits,
 * and of type 3 have 8 bits. */
static gboolean
read_numbers (const CleaveFlatTable *level, guint type_field, Numbers *numbers, GError **error)
{
  CleaveFlatTable table;
  gint64 type;

  if (!cleave_flat_get_integer (level, type_field, 1, 0, &type, error) ||
      !cleave_flat_get_table (level, type_field + 1, &table, error))
    return FALSE;
  if (type < 1 || type > 3)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "a sparse dimension has no list of indices");
  numbers->size = (gsize) 4 >> (type - 1);
  return cleave_flat_get_vector (&table, 0, numbers->size, &numbers->items, error);
}

/* Checks a sparse level whose parent level has `n_parents` nodes. The segments must give each
 * parent a range of the list of indices, in order, and these ranges must cover the list. All
 * indices must be below the extent of the level. Sets the error if not. */
static gboolean
check_numbers (const Level *level, gint64 n_parents, GError **error)
{
  gint64 n = level->indices.items.n, last = 0;

  if (level->segments.items.n != n_parents + 1 || number (&level->segments, 0) != 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "a sparse dimension has %u segments, it must have %" G_GINT64_FORMAT
                        ", the first of which is 0",
                        level->segments.items.n, n_parents + 1);
  for (gint64 p = 1; p <= n_parents; p++)
    {
      gint64 end = number (&level->segments, p);

      if (end < last || end > n)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "the segments of a sparse dimension do not ascend");
      last = end;
    }
  for (gint64 i = 0; i < n; i++)
    if (number (&level->indices, i) < 0 || number (&level->indices, i) >= level->extent)
      return cleave_fail (error, CLEAVE_ERROR_MODEL,
                          "an index of a sparse dimension is %" G_GINT64_FORMAT
                          ", it must be below %" G_GINT64_FORMAT,
                          number (&level->indices, i), level->extent);
  return last == n || cleave_fail (error, CLEAVE_ERROR_MODEL,
                                   "a sparse dimension has indices behind its last segment");
}

/* Reads one level of the tree from its table. Before the call, `n_nodes` is the number of parents;
 * after the call, the number of children. */
static gboolean
read_level (const CleaveFlatTable *table, Level *level, gint64 *n_nodes, GError **error)
{
  gint64 format, size;

  if (!cleave_flat_get_integer (table, LEVEL_FORMAT, 1, 0, &format, error) ||
      !cleave_flat_get_integer (table, LEVEL_SIZE, 4, 0, &size, error))
    return FALSE;
  level->is_sparse = format == 1;
  if (format != 0 && format != 1)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "a dimension has format %" G_GINT64_FORMAT,
                        format);
  if (!level->is_sparse)
    {
      if (size != level->extent)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "a dense dimension has the extent %" G_GINT64_FORMAT
                            ", it must be %" G_GINT64_FORMAT,
                            size, level->extent);
      *n_nodes *= size; /* cannot overflow, since both factors are below 2^31 */
      return *n_nodes <= G_MAXINT32 ||
             cleave_fail (error, CLEAVE_ERROR_MODEL, "it has too many elements");
    }
  if (!read_numbers (table, LEVEL_SEGMENTS_TYPE, &level->segments, error) ||
      !read_numbers (table, LEVEL_INDICES_TYPE, &level->indices, error) ||
      !check_numbers (level, *n_nodes, error))
    return FALSE;
  *n_nodes = level->indices.items.n;
  return TRUE;
}

/* The dimensions of a sparse tensor. The list `traversal` has the dimension of each level of the
 * tree in which the file stores the elements. */
typedef struct
{
  CleaveFlatVector traversal, block_map, levels;
  guint rank;
  gint64 blocks[CLEAVE_MAX_RANK]; /* extents of the blocks */
} Dimensions;

/* Checks that the traversal lists each dimension once, and the positions inside blocks last. Sets
 * the error if not. */
static gboolean
check_traversal (const Dimensions *d, GError **error)
{
  guint n = d->rank + d->block_map.n, seen = 0;

  if (d->block_map.n > CLEAVE_MAX_RANK || d->traversal.n != n || d->levels.n != n)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "it has %u dimensions and %u of blocks, but an order of %u and "
                        "formats of %u",
                        d->rank, d->block_map.n, d->traversal.n, d->levels.n);
  for (guint l = 0; l < n; l++)
    {
      gint64 dim = cleave_flat_integer (&d->traversal, 4, l);

      if (dim < 0 || dim >= n || (dim < d->rank) != (l < d->rank) || (seen >> dim & 1) != 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "the order of its dimensions is broken");
      seen |= 1u << dim;
    }
  for (guint b = 0; b < d->block_map.n; b++)
    {
      gint64 dim = cleave_flat_integer (&d->block_map, 4, b);

      if (dim < 0 || dim >= d->rank ||
          (b > 0 && dim <= cleave_flat_integer (&d->block_map, 4, b - 1)))
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "the dimensions that its blocks divide do not ascend");
    }
  return TRUE;
}

/* Reads the extents of the blocks. The last levels of the tree stand for the positions inside a
 * block, and the size of such a level is the extent of the blocks. These levels must be dense,
 * since a sparse level has no size. */
static gboolean
read_blocks (CleaveFlat *flat, const CleaveShape *shape, Dimensions *d, GError **error)
{
  for (guint l = d->rank; l < d->traversal.n; l++)
    {
      guint b = (guint) cleave_flat_integer (&d->traversal, 4, l) - d->rank;
      gint64 dim = cleave_flat_integer (&d->block_map, 4, b);
      CleaveFlatTable table;

      if (!cleave_flat_get_item (flat, &d->levels, l, &table, error) ||
          !cleave_flat_get_integer (&table, LEVEL_SIZE, 4, 0, &d->blocks[b], error))
        return FALSE;
      if (d->blocks[b] < 1 || shape->dim[dim] % d->blocks[b] != 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "its blocks have the extent %" G_GINT64_FORMAT
                            ", which does not divide %" G_GINT64_FORMAT,
                            d->blocks[b], shape->dim[dim]);
    }
  return TRUE;
}

/* Sets `dim`, `extent` and `stride` of a level of the tree in which the file stores the tensor.
 * `dim`: the dimension that the list `traversal` gives for this level. */
static void
set_extent (const Dimensions *d, const CleaveShape *shape, guint dim, Level *level)
{
  gboolean is_block = dim >= d->rank;
  gint64 block = 1;

  level->dim = is_block ? (guint) cleave_flat_integer (&d->block_map, 4, dim - d->rank) : dim;
  for (guint b = 0; b < d->block_map.n; b++)
    if (cleave_flat_integer (&d->block_map, 4, b) == level->dim)
      block = d->blocks[b];
  level->extent = is_block ? block : shape->dim[dim] / block;
  level->stride = is_block ? 1 : block;
  for (guint k = level->dim + 1; k < shape->rank; k++)
    level->stride *= shape->dim[k];
}

static gboolean
read_levels (CleaveTfliteImport *import, const CleaveTfliteTensor *t, Sparse *s, GError **error)
{
  CleaveFlat *flat = &import->model->flat;
  const CleaveShape *shape = &t->type.shape;
  Dimensions d = { .rank = shape->rank };
  gint64 n_nodes = 1;

  if (!cleave_flat_get_vector (&t->sparsity, SPARSITY_TRAVERSAL, 4, &d.traversal, error) ||
      !cleave_flat_get_vector (&t->sparsity, SPARSITY_BLOCK_MAP, 4, &d.block_map, error) ||
      !cleave_flat_get_vector (&t->sparsity, SPARSITY_LEVELS, 4, &d.levels, error) ||
      !check_traversal (&d, error) || !read_blocks (flat, shape, &d, error))
    return FALSE;
  s->n_levels = d.traversal.n;
  for (guint l = 0; l < s->n_levels; l++)
    {
      Level *level = &s->levels[l];
      CleaveFlatTable table;

      set_extent (&d, shape, (guint) cleave_flat_integer (&d.traversal, 4, l), level);
      if (!cleave_flat_get_item (flat, &d.levels, l, &table, error) ||
          !read_level (&table, level, &n_nodes, error))
        return FALSE;
    }
  if (t->type.element == CLEAVE_BOOL || t->type_code == TYPE_INT4)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "sparse elements of this type are not supported");
  s->size = cleave_element_size (t->type.element);
  s->from = t->data;
  if (t->n_bytes != (gsize) n_nodes * s->size)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "it has %zu bytes, its sparsity needs %zu",
                        t->n_bytes, (gsize) n_nodes * s->size);
  return TRUE;
}

/* Copies the elements of a subtree: the elements below node `parent` of the level before level `l`,
 * or all elements if `l` is 0. `offset` is the position, in the dense tensor, of the element with
 * the index 0 in all levels of the subtree. The recursion is at most MAX_LEVELS deep. */
static void
copy_level (Sparse *s, guint l, gint64 parent, gint64 offset)
{
  const Level *level = &s->levels[l];
  gint64 begin, end;

  if (l == s->n_levels)
    {
      memcpy (s->to + (gsize) offset * s->size, s->from + s->at++ * s->size, s->size);
      return;
    }
  begin = level->is_sparse ? number (&level->segments, parent) : parent * level->extent;
  end = level->is_sparse ? number (&level->segments, parent + 1) : begin + level->extent;
  for (gint64 i = begin; i < end; i++)
    {
      gint64 index = level->is_sparse ? number (&level->indices, i) : i - begin;

      copy_level (s, l + 1, i, offset + index * level->stride);
    }
}

CleaveTensor *
cleave_tflite_densify (CleaveTfliteImport *import, guint tensor, GError **error)
{
  const CleaveTfliteTensor *t = &import->subgraph->tensors[tensor];
  Sparse sparse = { .n_levels = 0 };
  CleaveTensor *dense = NULL;

  if (cleave_tflite_take_bytes (import, cleave_tensor_type_n_bytes (&t->type), error) &&
      read_levels (import, t, &sparse, error))
    dense = cleave_tensor_new (&t->type, error);
  if (dense == NULL)
    {
      g_prefix_error (error, "tensor %u '%s', which is sparse: ", tensor, import->names[tensor]);
      return NULL;
    }
  sparse.to = cleave_tensor_get_mutable_data (dense);
  memset (sparse.to, 0, (gsize) cleave_tensor_type_n_bytes (&t->type));
  copy_level (&sparse, 0, 0, 0);
  return dense;
}
