/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes of reductions, and of ops on signals and texts. cleave_graph_add() takes an attribute
 * struct, and each node stores one. cleave-ops.h says which values stand for defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveWindowFunctionAttrs:
 * @size: number of elements
 * @periodic: periodic, not symmetric; %TRUE by default
 * @output_datatype: element type, float32 by default
 *
 * Attributes of HannWindow, HammingWindow and BlackmanWindow, which have no operand.
 */
typedef struct
{
  gint64 size;
  gboolean periodic;
  CleaveElement output_datatype;
} CleaveWindowFunctionAttrs;

/**
 * CleaveMelAttrs:
 * @num_mel_bins: number of mel bins
 * @dft_length: length of the DFT
 * @sample_rate: samples per second
 * @lower_edge_hertz: lowest frequency, in Hz
 * @upper_edge_hertz: highest frequency, in Hz
 * @output_datatype: element type, float32 by default
 *
 * Attributes of MelWeightMatrix, which has no operand.
 */
typedef struct
{
  gint64 num_mel_bins, dft_length, sample_rate;
  double lower_edge_hertz, upper_edge_hertz;
  CleaveElement output_datatype;
} CleaveMelAttrs;

/**
 * CleaveDftAttrs:
 * @dft_length: number of points; 0 for the extent of the operand
 * @axis: the dimension that is transformed, 1 by default
 * @inverse: whether to compute the inverse transform
 * @onesided: return the first half of the spectrum
 *
 * Attributes of DFT.
 */
typedef struct
{
  gint64 dft_length;
  gint64 axis;
  gboolean inverse, onesided;
} CleaveDftAttrs;

/**
 * CleaveStftAttrs:
 * @frame_step: samples from the beginning of a frame to the beginning of the next frame
 * @frame_length: samples of a frame; 0 for the length of the window
 * @onesided: return the first half of the spectrum, %TRUE by default; for a complex signal, the
 * result always contains both halves
 *
 * Attributes of STFT.
 */
typedef struct
{
  gint64 frame_step;
  gint64 frame_length;
  gboolean onesided;
} CleaveStftAttrs;

/**
 * CleaveTfidfMode:
 * @CLEAVE_TFIDF_TF: term frequency
 * @CLEAVE_TFIDF_IDF: inverse document frequency
 * @CLEAVE_TFIDF_TFIDF: product of term frequency and inverse document frequency
 *
 * The weights that TfIdfVectorizer returns.
 */
typedef enum {
  CLEAVE_TFIDF_TF,
  CLEAVE_TFIDF_IDF,
  CLEAVE_TFIDF_TFIDF,
} CleaveTfidfMode;

/**
 * CleaveTfidfAttrs:
 * @mode: must be %CLEAVE_TFIDF_TF
 * @min_gram_length: length of the shortest n-grams
 * @max_gram_length: length of the longest n-grams
 * @max_skip_count: largest number of elements that may be skipped between two elements of an n-gram
 * @ngram_counts: (element-type gint64): for each length from 1, the index in @pool_int64s at which
 * the n-grams of this length begin
 * @ngram_indexes: (element-type gint64): for each n-gram, the index of the result element that
 * counts this n-gram
 * @pool_int64s: (element-type gint64): the elements of all n-grams, one n-gram after the other
 *
 * Attributes of TfIdfVectorizer, for n-grams of integers. The importer adds a Mul for weights.
 */
typedef struct
{
  CleaveTfidfMode mode;
  gint64 min_gram_length, max_gram_length, max_skip_count;
  GArray *ngram_counts, *ngram_indexes, *pool_int64s;
} CleaveTfidfAttrs;

/**
 * CleaveReduceAttrs:
 * @axes: the dimensions to reduce; empty for all
 * @keepdims: retain reduced dimensions with extent 1, %TRUE by default
 * @noop_with_empty_axes: if @axes is empty, reduce no dimension instead of all
 *
 * Attributes of ReduceMean, ReduceSum, ReduceMax and the other reductions.
 */
typedef struct
{
  CleaveInts axes;
  gboolean keepdims;
  gboolean noop_with_empty_axes;
} CleaveReduceAttrs;

/**
 * CleaveArgAttrs:
 * @axis: the dimension to reduce
 * @keepdims: whether to retain the reduced dimension with extent 1, %TRUE by default
 * @select_last_index: select the last of several equal elements instead of the first
 *
 * Attributes of ArgMax and ArgMin.
 */
typedef struct
{
  gint64 axis;
  gboolean keepdims;
  gboolean select_last_index;
} CleaveArgAttrs;

/**
 * CleaveTopkAttrs:
 * @k: number of elements
 * @axis: the dimension along which elements are selected, -1 by default
 * @largest: select the largest elements instead of the smallest
 * @sorted: return the elements in order
 *
 * Attributes of TopK.
 */
typedef struct
{
  gint64 k, axis;
  gboolean largest, sorted;
} CleaveTopkAttrs;

/**
 * CleaveCumsumAttrs:
 * @axis: the dimension along which elements are added up
 * @exclusive: do not include an element in its own sum
 * @reverse: sum from the end of the dimension
 *
 * Attributes of CumSum.
 */
typedef struct
{
  gint64 axis;
  gboolean exclusive, reverse;
} CleaveCumsumAttrs;

G_END_DECLS
