/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sparse constants of TensorFlow Lite files. The test encodes matrices in random sparse forms. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))
#define ROWS 6
#define COLUMNS 8
#define MAX_LEVELS 4
#define MAX_NODES (ROWS * COLUMNS + 1)

/* A matrix, and its sparse form: a tree of up to four levels. */
typedef struct
{
  gint16 dense[ROWS * COLUMNS], values[ROWS * COLUMNS];
  guint n_values;
  gint block[2]; /* extents of blocks along rows and columns */
  TfliteSparsity sparsity;
  guint8 segments[MAX_LEVELS][MAX_NODES + 1], indices[MAX_LEVELS][MAX_NODES];
} Matrix;

/* Returns the extent of dimension `dim`: rows, columns, or a dimension of the blocks. */
static gint
extent_of (const Matrix *m, gint dim)
{
  gint of = dim < 2 ? dim : m->sparsity.blocks[dim - 2];

  return dim >= 2 ? m->block[of] : (of == 0 ? ROWS : COLUMNS) / m->block[of];
}

/* Returns the index of an element along dimension `dim`. */
static gint
index_of (const Matrix *m, gint dim, gint element)
{
  gint of = dim < 2 ? dim : m->sparsity.blocks[dim - 2];
  gint at = of == 0 ? element / COLUMNS : element % COLUMNS;

  return dim >= 2 ? at % m->block[of] : at / m->block[of];
}

/* The sparse form of a matrix is a tree. Returns the number of the first element in the subtree of
 * a node, or -1. `node` has the indices of the node on the first `n` levels. If `nonzero`, skips
 * elements that are 0. */
static gint
find_below (const Matrix *m, const gint *node, guint n, gboolean nonzero)
{
  for (gint e = 0; e < ROWS * COLUMNS; e++)
    {
      guint l = 0;

      while (l < n && index_of (m, m->sparsity.order[l], e) == node[l])
        l++;
      if (l == n && (!nonzero || m->dense[e] != 0))
        return e;
    }
  return -1;
}

/* Sets the levels and the values of the sparse form, which is a tree. On a sparse level, the tree
 * leaves out each node below which all elements are 0. */
static void
encode (Matrix *m, GRand *rand)
{
  gint nodes[2][MAX_NODES][MAX_LEVELS] = { { { 0 } } };
  guint n_nodes = 1, n_levels = m->sparsity.n_levels;

  for (guint l = 0; l < n_levels; l++)
    {
      gint extent = extent_of (m, m->sparsity.order[l]);
      gboolean is_sparse = l < 2 && g_rand_boolean (rand);
      guint n = 0;

      for (guint p = 0; p < n_nodes; p++)
        {
          m->segments[l][p] = (guint8) n;
          for (gint i = 0; i < extent; i++)
            {
              gint *node = nodes[(l + 1) % 2][n];

              memcpy (node, nodes[l % 2][p], sizeof (nodes[0][0]));
              node[l] = i;
              if (!is_sparse || find_below (m, node, l + 1, TRUE) >= 0)
                m->indices[l][n++] = (guint8) i;
            }
        }
      m->segments[l][n_nodes] = (guint8) n;
      m->sparsity.levels[l] =
          is_sparse ? (TfliteLevel){ 0, m->segments[l], m->indices[l], n_nodes + 1, n }
                    : (TfliteLevel){ extent, NULL, NULL, 0, 0 };
      n_nodes = n;
    }
  for (guint i = 0; i < n_nodes; i++)
    m->values[i] = m->dense[find_below (m, nodes[n_levels % 2][i], n_levels, FALSE)];
  m->n_values = n_nodes;
}

/* Makes a matrix with few elements that are not 0, in a random sparse form. */
static void
draw (Matrix *m, GRand *rand)
{
  static const gint rows[] = { 1, 2, 3 }, columns[] = { 1, 2, 4, 8 };
  gboolean is_turned = g_rand_boolean (rand), blocks_turned = g_rand_boolean (rand);
  guint n = 0;

  *m = (Matrix){ .n_values = 0 };
  for (gint i = 0; i < ROWS * COLUMNS; i++)
    m->dense[i] =
        (gint16) (g_rand_int_range (rand, 0, 5) == 0 ? g_rand_int_range (rand, 1, 999) : 0);
  m->block[0] = rows[g_rand_int_range (rand, 0, 3)];
  m->block[1] = columns[g_rand_int_range (rand, 0, 4)];
  for (gint d = 0; d < 2; d++)
    if (m->block[d] > 1)
      m->sparsity.blocks[n++] = d;
  m->sparsity.n_blocks = n;
  m->sparsity.n_levels = 2 + n;
  m->sparsity.order[0] = is_turned;
  m->sparsity.order[1] = !is_turned;
  m->sparsity.order[2] = n == 2 && blocks_turned ? 3 : 2;
  m->sparsity.order[3] = m->sparsity.order[2] == 2 ? 3 : 2;
  encode (m, rand);
}

static GBytes *
write_matrix (const Matrix *m)
{
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "6x8" },
    { .name = "sparse",
      .type = TFLITE_INT16,
      .shape = "6x8",
      .data = m->values,
      .n_bytes = m->n_values * 2,
      .sparsity = &m->sparsity },
    { .name = "dense", .type = TFLITE_INT16, .shape = "6x8" },
    { .name = "y", .type = TFLITE_INT16, .shape = "6x8" },
  };
  const TfliteOperator operators[] = {
    { 124, NULL, { 1 }, 1, { 2 }, 1, 0, { { 0 } } },
    { 55, NULL, { 0, 2 }, 2, { 3 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph file = { .tensors = tensors,
                             .n_tensors = N (tensors),
                             .operators = operators,
                             .n_operators = N (operators),
                             .n_inputs = 1,
                             .outputs = { 3 },
                             .n_outputs = 1 };

  return tflite_file_new (&file);
}

START_TEST (a_sparse_constant_has_the_value_that_was_encoded)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (124);
  guint n_sparse = 0;

  for (guint i = 0; i < 200; i++)
    {
      Matrix m;
      g_autoptr (GBytes) file = NULL;
      g_autoptr (CleaveGraph) graph = NULL;
      g_autoptr (GPtrArray) inputs =
          g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
      g_autoptr (GPtrArray) outputs = NULL;
      GError *error = NULL;

      draw (&m, rand);
      if (m.n_values == 0)
        continue;
      n_sparse += m.n_values < ROWS * COLUMNS;
      file = write_matrix (&m);
      graph = cleave_tflite_parse (file, &error);
      ck_assert_msg (graph != NULL, "%u: %s", i, error == NULL ? "" : error->message);
      g_ptr_array_add (inputs,
                       cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_INT16, ROWS, COLUMNS), NULL));
      memset (cleave_tensor_get_mutable_data (inputs->pdata[0]), 0, sizeof (m.dense));
      outputs = run_graph (graph, inputs, 1);
      ck_assert_msg (
          memcmp (cleave_tensor_get_data (outputs->pdata[0]), m.dense, sizeof (m.dense)) == 0,
          "matrix %u", i);
    }
  ck_assert_uint_gt (n_sparse, 50);
}
END_TEST

/* Each case changes one part of a good sparse matrix. */
START_TEST (a_broken_sparse_constant_is_refused)
{
  static const char prefix[] = "operator 0, DENSIFY 'dense': tensor 1 'sparse', which is sparse: ";
  static const struct
  {
    const char *message;
    guint8 segment, index;
    gint order, block, size, n_values;
  } cases[] = {
    { "an index of a sparse dimension is 4, it must be below 4", 2, 4, 1, 1, 6, 24 },
    { "the segments of a sparse dimension do not ascend", 9, 0, 1, 1, 6, 24 },
    { "the order of its dimensions is broken", 2, 0, 0, 1, 6, 24 },
    { "the dimensions that its blocks divide do not ascend", 2, 0, 1, 2, 6, 24 },
    { "a dense dimension has the extent 5, it must be 6", 2, 0, 1, 1, 5, 24 },
    { "it has 46 bytes, its sparsity needs 48", 2, 0, 1, 1, 6, 23 },
    { NULL, 2, 0, 1, 1, 6, 24 },
  };
  static const guint8 good[7] = { 0, 2, 4, 6, 8, 10, 12 };
  static const guint8 list[12] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 };

  for (guint i = 0; i < N (cases); i++)
    {
      Matrix m = { .n_values = (guint) cases[i].n_values };
      g_autoptr (CleaveGraph) graph = NULL;
      g_autoptr (GBytes) file = NULL;
      g_autofree char *message = NULL;
      GError *error = NULL;

      memcpy (m.segments[1], good, sizeof (good));
      memcpy (m.indices[1], list, sizeof (list));
      m.segments[1][1] = cases[i].segment;
      m.indices[1][0] = cases[i].index;
      m.sparsity = (TfliteSparsity){ { 0, cases[i].order, 2 },
                                     { cases[i].block },
                                     1,
                                     3,
                                     { { cases[i].size, NULL, NULL, 0, 0 },
                                       { 0, m.segments[1], m.indices[1], 7, 12 },
                                       { 2, NULL, NULL, 0, 0 } } };
      file = write_matrix (&m);
      graph = cleave_tflite_parse (file, &error);
      ck_assert_int_eq (graph != NULL, cases[i].message == NULL);
      if (graph != NULL)
        continue;
      message = g_strconcat (prefix, cases[i].message, NULL);
      cleave_assert_error (&error, CLEAVE_ERROR_MODEL, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sparse", a_sparse_constant_has_the_value_that_was_encoded,
                   a_broken_sparse_constant_is_refused, NULL);
}

CLEAVE_TEST_SUITE ("tflite sparse", add_tests)
