/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the passes of `simplify` on random chains of the patterns that they rewrite, and compares
 * bits. A chain is a text that grows line by line; lines that make no legal graph are left out. */

#include "graphs.h"
#include "test.h"

#include <string.h>

#include "interpret.h"

typedef struct
{
  GRand *random;
  GString *text;
  CleaveGraph *graph; /* the graph of `text`; its output is the last value of `text` */
  guint n;            /* number of values; the last is %n */
} Chain;

static gint
pick (Chain *chain, gint n)
{
  return g_rand_int_range (chain->random, 0, n);
}

static const CleaveShape *
shape_of (const Chain *chain)
{
  return &cleave_result_get_type (
              cleave_operand_get_result (cleave_graph_get_output (chain->graph, 0)))
              ->shape;
}

/* Appends `lines` to the text of the chain, if the text is then a legal graph. The last of the
 * lines must define value %(n + 1), where %n is the last value of the chain. Returns whether the
 * lines were appended. Frees `lines`. */
static gboolean
try_lines (Chain *chain, char *lines)
{
  g_autofree char *owned = lines;
  g_autofree char *text =
      g_strdup_printf ("%s%soutput %%%u\n", chain->text->str, lines, chain->n + 1);
  CleaveGraph *graph = cleave_graph_parse (text, NULL, NULL);

  if (graph == NULL)
    return FALSE;
  g_string_append (chain->text, lines);
  g_clear_pointer (&chain->graph, cleave_graph_unref);
  chain->graph = graph;
  chain->n++;
  return TRUE;
}

/* Returns a list of `n` random numbers below `limit`. If `is_order`, returns the numbers from 0 to
 * n - 1 in random order. */
static char *
random_list (Chain *chain, guint n, gint limit, gboolean is_order)
{
  GString *list = g_string_new (NULL);
  gint order[CLEAVE_MAX_RANK];

  for (guint d = 0; d < n; d++)
    {
      guint other = (guint) pick (chain, (gint) d + 1);

      order[d] = order[other];
      order[other] = (gint) d;
    }
  for (guint d = 0; d < n; d++)
    g_string_append_printf (list, "%s%d", d == 0 ? "" : ",",
                            is_order ? order[d] : pick (chain, limit));
  return g_string_free (list, FALSE);
}

static char *
make_transpose (Chain *chain)
{
  g_autofree char *perm = random_list (chain, shape_of (chain)->rank, 0, TRUE);

  return g_strdup_printf ("%%%u = Transpose %%%u perm=%s\n", chain->n + 1, chain->n, perm);
}

static char *
make_pad (Chain *chain)
{
  static const char *const values[] = { "0", "0", "-inf", "1" };
  g_autofree char *pads = random_list (chain, 4, 2, FALSE);
  g_autofree char *sides = g_strdup_printf ("0,0,%.3s,0,0,%.3s", pads, pads + 4);

  return g_strdup_printf ("%%%u = Pad %%%u pads=%s constant_value=%s\n", chain->n + 1, chain->n,
                          sides, values[pick (chain, 4)]);
}

static char *
make_pool (Chain *chain)
{
  return g_strdup_printf ("%%%u = %sPool %%%u kernel_shape=%d,%d pads=%d,0,0,0%s%s strides=1,%d\n",
                          chain->n + 1, pick (chain, 2) ? "Max" : "Average", chain->n,
                          1 + pick (chain, 3), 2 + pick (chain, 2), pick (chain, 2),
                          pick (chain, 2) ? " count_include_pad=1" : "",
                          pick (chain, 3) ? "" : " ceil_mode=1", 1 + pick (chain, 2));
}

static char *
make_along (Chain *chain)
{
  static const char *const ops[] = { "Softmax", "LogSoftmax", "LpNormalization", "Hardmax" };

  return g_strdup_printf ("%%%u = %s %%%u axis=%d\n", chain->n + 1, ops[pick (chain, 4)], chain->n,
                          pick (chain, 4));
}

static char *
make_reduction (Chain *chain)
{
  static const char *const ops[] = { "ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2" };
  g_autofree char *axes = random_list (chain, 1 + (guint) pick (chain, 2), 4, FALSE);

  return g_strdup_printf ("%%%u = %s %%%u axes=%s keepdims=%d\n", chain->n + 1,
                          ops[pick (chain, 4)], chain->n, axes, pick (chain, 2));
}

static char *
make_elementwise (Chain *chain)
{
  static const char *const ops[] = { "Relu", "Sigmoid", "Neg", "Clip" };
  static const char *const bounds[] = { "", " min=0", " min=0 max=0.5", " min=-0.25" };
  guint op = (guint) pick (chain, 4);

  return g_strdup_printf ("%%%u = %s %%%u%s\n", chain->n + 1, ops[op], chain->n,
                          op == 3 ? bounds[pick (chain, 4)] : "");
}

static char *
make_hard_swish (Chain *chain)
{
  return g_strdup_printf ("%%h%u = HardSigmoid %%%u alpha=%s\n%%%u = Mul %%%u, %%h%u\n", chain->n,
                          chain->n, pick (chain, 4) ? "0.166666672" : "0.25", chain->n + 1,
                          chain->n, chain->n);
}

/* Returns lines that quantize and dequantize a value. If a later QuantizeLinear has the same scale,
 * a pass may compute the nodes before that QuantizeLinear on the bytes. */
static char *
make_quantized (Chain *chain)
{
  guint s = (guint) pick (chain, 4) == 0;

  return g_strdup_printf ("%%q%u = QuantizeLinear %%%u, %%s%u, %%z\n"
                          "%%%u = DequantizeLinear %%q%u, %%s%u, %%z\n",
                          chain->n, chain->n, s, chain->n + 1, chain->n, s);
}

static char *
make_concat (Chain *chain)
{
  return g_strdup_printf ("%%%u = Concat %%%u, %%%u axis=%d\n", chain->n + 1, chain->n, chain->n,
                          pick (chain, 4));
}

static char *
make_reshape (Chain *chain)
{
  const CleaveShape *s = shape_of (chain);

  if (s->rank != 4 || pick (chain, 2) == 0)
    return g_strdup_printf ("%%%u = Reshape %%%u shape=1,3,4,-1\n", chain->n + 1, chain->n);
  return g_strdup_printf ("%%%u = Slice %%%u 0:%d,0:%d,0:%d,%d:%d\n", chain->n + 1, chain->n,
                          (gint) s->dim[0], (gint) s->dim[1], (gint) s->dim[2], s->dim[3] > 1,
                          (gint) s->dim[3]);
}

static Chain
random_chain (guint seed)
{
  static char *(*const makers[]) (Chain *) = {
    make_transpose, make_transpose, make_transpose,   make_pad,        make_pool,
    make_along,     make_reduction, make_elementwise, make_hard_swish, make_quantized,
    make_quantized, make_concat,    make_reshape,
  };
  Chain chain = { g_rand_new_with_seed (seed), g_string_new (NULL), NULL, 0 };

  g_string_append (chain.text, "%s0 = Constant value=0.1 : float32 scalar\n"
                               "%s1 = Constant value=0.3 : float32 scalar\n"
                               "%z = Constant value=100 : uint8 scalar\n"
                               "%0 = Input : float32 1x3x4x5\n");
  ck_assert (try_lines (&chain, g_strdup ("%1 = Identity %0\n")));
  for (guint i = 0; i < 9; i++)
    try_lines (&chain, makers[pick (&chain, G_N_ELEMENTS (makers))](&chain));
  return chain;
}

static void
chain_clear (Chain *chain)
{
  g_rand_free (chain->random);
  g_string_free (chain->text, TRUE);
  cleave_graph_unref (chain->graph);
}

static const char *const passes[] = {
  "repeat(merge-pads,remove-dead)",     "repeat(fuse-hard-swish,remove-dead)",
  "repeat(hoist-quantize,remove-dead)", "repeat(sink-transposes,remove-dead)",
  "repeat(merge-clips,remove-dead)",    "simplify",
};

static void
try_pass (const Chain *chain, guint seed, guint pass, guint *n_changed)
{
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (passes[pass], NULL);
  g_autoptr (CleaveGraph) graph = cleave_graph_copy (chain->graph);
  g_autoptr (CleaveTensor) x =
      cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, 0)), seed, TRUE);
  g_autoptr (GPtrArray) want = NULL, got = NULL;
  gboolean changed = FALSE;

  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, &changed, NULL));
  if (!changed)
    return;
  n_changed[pass]++;
  want = cleave_interpret (chain->graph, &x);
  got = cleave_interpret (graph, &x);
  if (!cleave_tensor_equal (want->pdata[0], got->pdata[0]))
    {
      g_autofree char *after = cleave_graph_print (graph);

      ck_abort_msg ("seed %u, %s:\n%s\nbecame\n%s", seed, passes[pass], chain->text->str, after);
    }
}

START_TEST (chains_keep_their_bits)
{
  guint n_changed[G_N_ELEMENTS (passes)] = { 0 };
  const guint n = CLEAVE_TRIALS (200);

  for (guint seed = 0; seed < n; seed++)
    {
      Chain chain = random_chain (seed);

      for (guint pass = 0; pass < G_N_ELEMENTS (passes); pass++)
        try_pass (&chain, seed, pass, n_changed);
      chain_clear (&chain);
    }
  for (guint pass = 0; pass < G_N_ELEMENTS (passes); pass++)
    ck_assert_msg (n_changed[pass] > n / 100, "%s changed %u of %u chains", passes[pass],
                   n_changed[pass], n);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "simplify", chains_keep_their_bits, NULL);
}

CLEAVE_TEST_SUITE ("simplify", add_tests)
