/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For every op: a chunk of a random legal node is computed from its slices of the operands. The
 * computed chunk equals the same range of the whole result bit for bit, or the op refuses the chunk
 * with a reason. */

#include "test.h"

#include <string.h>

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"
#include "empty-ops.h"

#define N_SEEDS CLEAVE_TRIALS (150)
#define N_CHUNKS 12

typedef struct
{
  guint accepted, refused;
} Count;

/* A node, and dense tensors with the values of its operands and results. */
typedef struct
{
  const CleaveNode *node;
  CleaveNodeCall call;
  CleaveTensor **operands, **results;
  guint32 seed;
} Whole;

static CleaveTensor *
value_of (const CleaveResult *result, guint32 seed)
{
  CleaveTensor *constant = result == NULL ? NULL : cleave_node_get_constant (result->node);

  if (result == NULL)
    return NULL;
  return constant != NULL ? cleave_tensor_dup_dense (constant)
                          : cleave_random_tensor (&result->type, seed, TRUE);
}

static CleaveView
view_of (CleaveTensor *tensor)
{
  return tensor == NULL ? (CleaveView){ 0 } : cleave_view_tensor (tensor);
}

static void
compute (const CleaveCall *call, CleaveTensor **operands, CleaveTensor **results)
{
  g_autofree CleaveView *from = g_new0 (CleaveView, MAX (call->n_operands, 1));
  g_autofree CleaveView *to = g_new0 (CleaveView, call->n_results);

  for (guint i = 0; i < call->n_operands; i++)
    from[i] = view_of (operands[i]);
  for (guint i = 0; i < call->n_results; i++)
    to[i] = view_of (results[i]);
  call->op->compute (call, from, to);
}

static void
whole_init (Whole *whole, const CleaveNode *node, guint32 seed)
{
  const CleaveCall *call = cleave_node_call_init (&whole->call, node);

  whole->node = node;
  whole->seed = seed;
  whole->operands = g_new0 (CleaveTensor *, MAX (call->n_operands, 1));
  whole->results = g_new0 (CleaveTensor *, call->n_results);
  for (guint i = 0; i < call->n_operands; i++)
    {
      /* If the node reads a value twice, both operands are one tensor. */
      for (guint j = 0; j < i && whole->operands[i] == NULL; j++)
        if (node->operands[j].result == node->operands[i].result && whole->operands[j] != NULL)
          whole->operands[i] = cleave_tensor_ref (whole->operands[j]);
      if (whole->operands[i] == NULL)
        whole->operands[i] = value_of (node->operands[i].result, seed + i);
    }
  for (guint i = 0; i < call->n_results; i++)
    whole->results[i] = cleave_tensor_new (&call->results[i], NULL);
  compute (call, whole->operands, whole->results);
}

static void
whole_clear (Whole *whole)
{
  for (guint i = 0; i < whole->call.call.n_operands; i++)
    cleave_tensor_unref (whole->operands[i]);
  for (guint i = 0; i < whole->call.call.n_results; i++)
    cleave_tensor_unref (whole->results[i]);
  g_free (whole->operands);
  g_free (whole->results);
  cleave_node_call_clear (&whole->call);
}

static void
tell (const Whole *whole, const CleaveRange *range, const char *what)
{
  g_autofree char *chunk = cleave_range_to_string (range);
  g_autofree char *dump = cleave_graph_print (whole->node->graph);

  ck_abort_msg ("seed %u, chunk %s: %s\n%s", whole->seed, chunk, what, dump);
}

/* Returns a tensor filled with garbage, so that elements that a piece does not compute are
 * detected. */
static CleaveTensor *
poisoned (const CleaveTensorType *type)
{
  CleaveTensor *tensor = cleave_tensor_new (type, NULL);

  memset (cleave_tensor_get_mutable_data (tensor), 0xa5, (gsize) cleave_tensor_type_n_bytes (type));
  return tensor;
}

static CleaveRange
random_chunk (GRand *rand, const CleaveShape *shape)
{
  CleaveRange range = cleave_range_whole (shape);

  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] > 1 && g_rand_int_range (rand, 0, 3) > 0)
      {
        gint64 begin = g_rand_int_range (rand, 0, (gint32) shape->dim[d]);
        gint64 end = g_rand_int_range (rand, (gint32) begin + 1, (gint32) shape->dim[d] + 1);

        if (g_rand_int_range (rand, 0, 3) == 0) /* make begin and end even: more ops can be cut
                                                   before an even index than before an odd index */
          {
            begin &= ~1;
            end = MIN ((end + 1) & ~1, shape->dim[d]);
          }
        range.dim[d] = (CleaveSpan){ begin, end };
      }
  return range;
}

/* Asserts that the piece of a chunk computes the same bits as the whole op computes for this chunk.
 * If `rand` is not NULL, also checks a piece of the piece, since a piece may have attributes that
 * occur in no model. */
static void
check_chunk (const Whole *whole, const CleaveChunk *chunk, GRand *rand)
{
  const CleaveCall *call = &whole->call.call;
  g_autoptr (GPtrArray) operands =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) results =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, MAX (call->n_operands, 1));
  CleaveCall piece = *call;

  for (guint i = 0; i < call->n_operands; i++)
    {
      if (chunk->has[i])
        {
          CleaveTensor *slice =
              cleave_tensor_new_slice (whole->operands[i], &chunk->slices[i].range);

          types[operands->len] = *cleave_tensor_get_type (slice);
          g_ptr_array_add (operands, slice);
        }
      else if ((call->op->flags & CLEAVE_OP_VARIADIC) == 0)
        g_ptr_array_add (operands, NULL);
    }
  for (guint i = 0; i < call->n_results; i++)
    g_ptr_array_add (results, poisoned (&chunk->results[i]));
  piece.attrs = chunk->attrs;
  piece.n_operands = operands->len;
  piece.operands = types;
  piece.results = chunk->results;
  compute (&piece, (CleaveTensor **) operands->pdata, (CleaveTensor **) results->pdata);

  for (guint i = 0; i < call->n_results; i++)
    {
      CleaveRange range = cleave_call_result_range (call, i, &chunk->range);
      g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (whole->results[i], &range);

      if (!cleave_tensor_equal (part, g_ptr_array_index (results, i)))
        tell (whole, &chunk->range, "the piece differs from that part of the whole");
    }
  if (rand != NULL)
    {
      const Whole part = { .node = whole->node,
                           .call.call = piece,
                           .operands = (CleaveTensor **) operands->pdata,
                           .results = (CleaveTensor **) results->pdata,
                           .seed = whole->seed };
      CleaveRange range = random_chunk (rand, &chunk->results[0].shape);
      CleaveChunk inner;

      if (!cleave_chunk_init (&inner, &piece, &range, NULL))
        return;
      check_chunk (&part, &inner, NULL);
      cleave_chunk_clear (&inner, call->op);
    }
}

static void
try_chunks (const CleaveNode *node, GRand *rand, guint32 seed, Count *count)
{
  Whole whole;

  whole_init (&whole, node, seed);
  for (guint i = 0; i < N_CHUNKS; i++)
    {
      CleaveRange range = random_chunk (rand, &node->results[0].type.shape);
      g_autoptr (GString) why = g_string_new (NULL);
      CleaveChunk chunk;

      if (cleave_chunk_init (&chunk, &whole.call.call, &range, why))
        {
          check_chunk (&whole, &chunk, rand);
          cleave_chunk_clear (&chunk, node->op);
          count->accepted++;
          continue;
        }
      if (why->len == 0)
        tell (&whole, &range, "refused without a reason");
      count->refused++;
    }
  whole_clear (&whole);
}

/* Checks chunks of empty values, and of values that are computed from empty values. */
static void
try_emptied (const CleaveRandomOp *op, GRand *rand, guint32 seed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = cleave_random_op_emptied (op, graph, rand);
  Count count = { 0 };

  if (node != NULL)
    try_chunks (node, rand, seed, &count);
}

static void
try_ops (const CleaveRandomOp *ops)
{
  for (const CleaveRandomOp *op = ops; op->op != NULL; op++)
    {
      Count count = { 0 };
      const CleaveOp *record = cleave_op_lookup (op->op);

      ck_assert_msg (record != NULL, "there is no op %s", op->op);
      for (guint32 seed = 0; seed < N_SEEDS; seed++)
        {
          g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
          g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
          CleaveNode *node = op->make (graph, rand);
          g_autoptr (GError) error = NULL;

          ck_assert_msg (node != NULL, "%s, seed %u: no node was made", op->op, seed);
          ck_assert_ptr_eq (node->op, record);
          cleave_graph_validate (graph, &error);
          cleave_assert_no_error (error);
          try_chunks (node, rand, seed, &count);
          try_emptied (op, rand, seed);
        }
      g_print ("%-20s %5u accepted %5u refused\n", op->op, count.accepted, count.refused);
      ck_assert_msg ((record->maps != NULL) == (count.accepted > 0),
                     "%s: %u chunks accepted, %u refused", op->op, count.accepted, count.refused);
    }
}

START_TEST (chunks_of_convolutions_pools_and_products_equal_the_whole)
{
  try_ops (cleave_random_ops_conv);
}
END_TEST

START_TEST (chunks_of_moved_data_equal_the_whole) { try_ops (cleave_random_ops_move); }
END_TEST

START_TEST (chunks_of_indexed_data_equal_the_whole) { try_ops (cleave_random_ops_index); }
END_TEST

START_TEST (chunks_of_signals_and_samples_equal_the_whole) { try_ops (cleave_random_ops_signal); }
END_TEST

START_TEST (chunks_of_elementwise_ops_equal_the_whole) { try_ops (cleave_random_ops_elementwise); }
END_TEST

START_TEST (chunks_of_ops_along_axes_equal_the_whole) { try_ops (cleave_random_ops_axes); }
END_TEST

START_TEST (chunks_of_quantized_ops_equal_the_whole) { try_ops (cleave_random_ops_quantized); }
END_TEST

START_TEST (chunks_of_tflite_ops_equal_the_whole) { try_ops (cleave_random_ops_tflite); }
END_TEST

/* Every op has a maker of random nodes. An op without a maker would not be tested. */
START_TEST (every_op_has_a_maker)
{
  guint n_ops;
  const CleaveOp *const *ops = cleave_op_list (&n_ops);

  for (guint i = 0; i < n_ops; i++)
    {
      gboolean found = (ops[i]->flags & CLEAVE_OP_NOT_ONNX) != 0;

      for (guint l = 0; cleave_random_op_lists[l] != NULL; l++)
        for (const CleaveRandomOp *op = cleave_random_op_lists[l]; op->op != NULL; op++)
          found = found || g_str_equal (op->op, ops[i]->name);
      ck_assert_msg (found, "nothing makes a random %s", ops[i]->name);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "chunks", chunks_of_convolutions_pools_and_products_equal_the_whole,
      chunks_of_moved_data_equal_the_whole, chunks_of_indexed_data_equal_the_whole,
      chunks_of_signals_and_samples_equal_the_whole, chunks_of_elementwise_ops_equal_the_whole,
      chunks_of_ops_along_axes_equal_the_whole, chunks_of_quantized_ops_equal_the_whole,
      chunks_of_tflite_ops_equal_the_whole, every_op_has_a_maker, NULL);
}

CLEAVE_TEST_SUITE ("op-properties", add_tests)
