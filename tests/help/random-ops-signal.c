/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random transforms of signals, and ops that sample images at positions given by another value. */

#include "random-pick.h"

/* Returns the type of a real or complex signal. */
static CleaveTensorType
pick_signal (GRand *rand, guint rank)
{
  CleaveTensorType type = { pick_float (rand), { rank, { 0 } } };

  for (guint d = 0; d < rank; d++)
    type.shape.dim[d] = pick (rand, 1, 6);
  type.shape.dim[rank - 1] = pick (rand, 1, 2);
  return type;
}

static CleaveNode *
make_dft (CleaveGraph *graph, GRand *rand)
{
  guint rank = (guint) pick (rand, 2, 4);
  CleaveTensorType type = pick_signal (rand, rank);
  CleaveDftAttrs a = { .dft_length = pick (rand, 0, 1) == 0 ? 0 : pick (rand, 1, 70),
                       .axis = pick (rand, 0, (gint32) rank - 2),
                       .inverse = pick (rand, 0, 1) == 0,
                       .onesided = type.shape.dim[rank - 1] == 1 && pick (rand, 0, 1) == 0 };

  return add_node (graph, "DFT", add_input (graph, "x", &type), &a);
}

static CleaveNode *
make_stft (CleaveGraph *graph, GRand *rand)
{
  CleaveTensorType type = pick_signal (rand, 3), window;
  CleaveStftAttrs a = { pick (rand, 1, 4), pick (rand, 1, 8), pick (rand, 0, 1) == 0 };
  CleaveResult *operands[2];
  guint n = (guint) pick (rand, 1, 2);

  type.shape.dim[1] = a.frame_length + pick (rand, 0, 12);
  window = CLEAVE_TYPE (type.element, a.frame_length);
  operands[0] = add_input (graph, "signal", &type);
  operands[1] = n == 1 ? NULL : add_input (graph, "window", &window);
  if (n == 2 && pick (rand, 0, 1) == 0)
    a.frame_length = 0; /* 0: a frame has the length of the window */
  return cleave_graph_add (graph, cleave_op_lookup ("STFT"), NULL, operands, n, 1, &a, NULL);
}

static CleaveNode *
make_window (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveWindowFunctionAttrs a = { pick (rand, 1, 9), pick (rand, 0, 1) == 0, pick_float (rand) };

  return cleave_graph_add (graph, cleave_op_lookup (op), NULL, NULL, 0, 1, &a, NULL);
}

static CleaveNode *
make_hann (CleaveGraph *graph, GRand *rand)
{
  return make_window (graph, rand, "HannWindow");
}

static CleaveNode *
make_hamming (CleaveGraph *graph, GRand *rand)
{
  return make_window (graph, rand, "HammingWindow");
}

static CleaveNode *
make_blackman (CleaveGraph *graph, GRand *rand)
{
  return make_window (graph, rand, "BlackmanWindow");
}

static CleaveNode *
make_mel (CleaveGraph *graph, GRand *rand)
{
  CleaveMelAttrs a = { pick (rand, 1, 8), pick (rand, 4, 64), 8192, 0, 4096, CLEAVE_FLOAT32 };

  return cleave_graph_add (graph, cleave_op_lookup ("MelWeightMatrix"), NULL, NULL, 0, 1, &a, NULL);
}

static CleaveNode *
make_grid_sample (CleaveGraph *graph, GRand *rand)
{
  guint n = pick (rand, 0, 1) == 0 ? 2 : (guint) pick (rand, 1, 3);
  CleaveTensorType x = { pick_float (rand), { n + 2, { pick (rand, 1, 3), pick (rand, 1, 3) } } };
  CleaveTensorType grid = { CLEAVE_FLOAT32, { n + 2, { x.shape.dim[0] } } };
  CleaveGridSampleAttrs a = { (CleaveGridMode) pick (rand, 0, n == 2 ? 2 : 1),
                              (CleaveGridPadding) pick (rand, 0, 2), pick (rand, 0, 1) == 0 };
  CleaveResult *operands[2];

  for (guint d = 0; d < n; d++)
    {
      x.shape.dim[2 + d] = pick (rand, 1, 5);
      grid.shape.dim[1 + d] = pick (rand, 1, 4);
    }
  grid.shape.dim[1 + n] = n;
  operands[0] = add_input (graph, "x", &x);
  operands[1] = add_input (graph, "grid", &grid);
  return cleave_graph_add (graph, cleave_op_lookup ("GridSample"), NULL, operands, 2, 1, &a, NULL);
}

static CleaveNode *
make_roi_align (CleaveGraph *graph, GRand *rand)
{
  gint64 n_rois = pick (rand, 1, 4);
  CleaveTensorType x = CLEAVE_TYPE (pick_float (rand), pick (rand, 1, 3), pick (rand, 1, 3),
                                    pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveTensorType rois = CLEAVE_TYPE (x.element, n_rois, 4);
  CleaveTensorType batch = CLEAVE_TYPE (CLEAVE_INT64, n_rois);
  CleaveRoiAlignAttrs a = { (CleaveRoiMode) pick (rand, 0, 1),
                            (CleaveRoiCoordinates) pick (rand, 0, 1),
                            pick (rand, 1, 3),
                            pick (rand, 1, 3),
                            pick (rand, 0, 2),
                            g_rand_double_range (rand, 0.25, 2) };
  CleaveResult *operands[] = { add_input (graph, "x", &x), add_input (graph, "rois", &rois),
                               add_input (graph, "batch", &batch) };

  return cleave_graph_add (graph, cleave_op_lookup ("RoiAlign"), NULL, operands, 3, 1, &a, NULL);
}

/* Adds a MaxRoiPool. Property tests fill the operand rois with numbers between -1 and 1, which the
 * attribute spatial_scale spreads over the image. */
static CleaveNode *
make_max_roi_pool (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick (rand, 0, 2) > 0
                              ? CLEAVE_FLOAT32
                              : (CleaveElement) pick (rand, CLEAVE_FLOAT32, CLEAVE_FLOAT16);
  CleaveTensorType x = CLEAVE_TYPE (element, pick (rand, 1, 3), pick (rand, 1, 3),
                                    pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveTensorType rois = CLEAVE_TYPE (element, pick (rand, 1, 4), 5);
  CleaveMaxRoiPoolAttrs a = { CLEAVE_INTS (pick (rand, 1, 3), pick (rand, 1, 3)),
                              g_rand_double_range (rand, 0.25, 6) };
  CleaveResult *operands[] = { add_input (graph, "x", &x), add_input (graph, "rois", &rois) };

  return cleave_graph_add (graph, cleave_op_lookup ("MaxRoiPool"), NULL, operands, 2, 1, &a, NULL);
}

static CleaveNode *
make_max_unpool (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveTensorType x = { pick_float (rand), { n + 2, { pick (rand, 1, 3), pick (rand, 1, 3) } } };
  CleaveTensorType indices;
  CleaveMaxUnpoolAttrs a = { .kernel_shape.n = n, .strides.n = n };
  CleaveResult *operands[2];

  a.output_shape.n = pick (rand, 0, 1) == 0 ? 0 : n + 2;
  for (guint d = 0; d < n + 2; d++)
    {
      guint i = d < 2 ? 0 : d - 2;

      x.shape.dim[d] = pick (rand, 1, 3);
      a.output_shape.v[d] = x.shape.dim[d];
      if (d < 2)
        continue;
      a.kernel_shape.v[i] = pick (rand, 1, 3);
      a.strides.v[i] = pick (rand, 1, 3);
      a.output_shape.v[d] =
          (x.shape.dim[d] - 1) * a.strides.v[i] + a.kernel_shape.v[i] + pick (rand, 0, 2);
    }
  indices = (CleaveTensorType){ CLEAVE_INT64, x.shape };
  operands[0] = add_input (graph, "x", &x);
  operands[1] = add_input (graph, "i", &indices);
  return cleave_graph_add (graph, cleave_op_lookup ("MaxUnpool"), NULL, operands, 2, 1, &a, NULL);
}

static GArray *
array_of (const gint64 *numbers, guint n)
{
  return g_array_append_vals (g_array_new (FALSE, FALSE, sizeof (gint64)), numbers, n);
}

static CleaveNode *
make_tfidf (CleaveGraph *graph, GRand *rand)
{
  static const gint64 counts[] = { 0, 3 }, indexes[] = { 4, 0, 1, 1, 2, 3 };
  static const gint64 pool[] = { 0, 1, 2, 0, 1, 1, 1, 2, 0 };
  g_autoptr (GArray) ngram_counts = array_of (counts, G_N_ELEMENTS (counts));
  g_autoptr (GArray) ngram_indexes = array_of (indexes, G_N_ELEMENTS (indexes));
  g_autoptr (GArray) pool_int64s = array_of (pool, G_N_ELEMENTS (pool));
  CleaveTensorType x = CLEAVE_TYPE (pick (rand, 0, 1) == 0 ? CLEAVE_INT32 : CLEAVE_INT64,
                                    pick (rand, 1, 4), pick (rand, 1, 6));
  CleaveTfidfAttrs a = { CLEAVE_TFIDF_TF, pick (rand, 1, 2), 2,          pick (rand, 0, 2),
                         ngram_counts,    ngram_indexes,     pool_int64s };

  return add_node (graph, "TfIdfVectorizer", add_input (graph, "x", &x), &a);
}

/* clang-format off */
const CleaveRandomOp cleave_random_ops_signal[] = {
  { "BlackmanWindow", make_blackman },
  { "DFT", make_dft },
  { "GridSample", make_grid_sample },
  { "HammingWindow", make_hamming },
  { "HannWindow", make_hann },
  { "MaxRoiPool", make_max_roi_pool },
  { "MaxUnpool", make_max_unpool },
  { "MelWeightMatrix", make_mel },
  { "RoiAlign", make_roi_align },
  { "STFT", make_stft },
  { "TfIdfVectorizer", make_tfidf },
  { NULL, NULL },
};
