/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-views [FOLDER]: measures splits and joins of 1x256x128x128 float32 along each axis, into
 * few and many parts. In some graphs, the parts are values inside the graph, and views move no
 * data. In other graphs, the parts are inputs or outputs. Each measurement alternates with a memcpy
 * of the same size, and each figure is the best of N_ROUNDS measurements. No figure makes the
 * program fail. With FOLDER, the program only writes the models to FOLDER, for peers/views.mjs. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <string.h>

#define N_ROUNDS 40

static const CleaveTensorType whole_type = { CLEAVE_FLOAT32, { 4, { 1, 256, 128, 128 } } };

static const struct
{
  guint axis, n_parts;
} cases[] = {
  { 0, 1 }, { 1, 2 },   { 1, 8 }, { 1, 256 }, { 2, 2 },
  { 2, 8 }, { 2, 128 }, { 3, 2 }, { 3, 8 },   { 3, 128 },
};

static double
milliseconds (void)
{
  return (double) g_get_monotonic_time () * 1e-3;
}

static CleaveTensorType
part_type (guint axis, guint n_parts)
{
  CleaveTensorType type = whole_type;

  type.shape.dim[axis] /= n_parts;
  return type;
}

static CleaveNode *
add_split (CleaveGraph *graph, CleaveResult *x, guint axis, guint n_parts)
{
  g_autofree gint64 *sizes = g_new (gint64, n_parts);

  for (guint i = 0; i < n_parts; i++)
    sizes[i] = part_type (axis, n_parts).shape.dim[axis];
  return cleave_graph_add_split (graph, "split", x, axis, sizes, n_parts, NULL);
}

static CleaveResult *
add_unary (CleaveGraph *graph, const char *op, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, op, NULL, x, NULL, NULL);
}

static void
add_output (CleaveGraph *graph, CleaveResult *value)
{
  g_autofree char *name = g_strdup_printf ("y%u", cleave_graph_get_n_outputs (graph));

  cleave_graph_add_output (graph, name, value, NULL);
}

/* Makes a Neg of the whole value, a Split of its result, and a Relu of each part. */
static CleaveGraph *
make_inside (guint axis, guint n_parts)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &whole_type, NULL);
  g_autofree CleaveResult **parts = g_new (CleaveResult *, n_parts);
  CleaveNode *split;

  x = add_unary (graph, "Neg", x);
  split = add_split (graph, x, axis, n_parts);
  for (guint i = 0; i < n_parts; i++)
    parts[i] = add_unary (graph, "Relu", cleave_node_get_result (split, i));
  add_output (graph, cleave_graph_add_concat (graph, "concat", parts, n_parts, axis, NULL));
  return graph;
}

static CleaveGraph *
make_split (guint axis, guint n_parts)
{
  CleaveGraph *graph = cleave_graph_new ("split");
  CleaveResult *x = cleave_graph_add_input (graph, "x", &whole_type, NULL);
  CleaveNode *split = add_split (graph, x, axis, n_parts);

  for (guint i = 0; i < n_parts; i++)
    add_output (graph, cleave_node_get_result (split, i));
  return graph;
}

static CleaveGraph *
make_join (guint axis, guint n_parts)
{
  CleaveGraph *graph = cleave_graph_new ("join");
  CleaveTensorType type = part_type (axis, n_parts);
  g_autofree CleaveResult **parts = g_new (CleaveResult *, n_parts);

  for (guint i = 0; i < n_parts; i++)
    {
      g_autofree char *name = g_strdup_printf ("x%u", i);

      parts[i] = cleave_graph_add_input (graph, name, &type, NULL);
    }
  add_output (graph, cleave_graph_add_concat (graph, "concat", parts, n_parts, axis, NULL));
  return graph;
}

static GPtrArray *
make_tensors (guint n)
{
  return g_ptr_array_new_full (n, (GDestroyNotify) cleave_tensor_unref);
}

static void
add_tensor (GPtrArray *tensors, const CleaveTensorType *type)
{
  CleaveTensor *tensor = cleave_tensor_new (type, NULL);

  memset (cleave_tensor_get_mutable_data (tensor), 1, (gsize) cleave_tensor_type_n_bytes (type));
  g_ptr_array_add (tensors, tensor);
}

/* Makes a program for one thread, and binds a new tensor to each input and output. */
static CleaveProgram *
make_program (CleaveGraph *graph)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  CleaveProgram *program = cleave_program_new (graph, &options, NULL);
  guint n_inputs = cleave_graph_get_n_inputs (graph),
        n_outputs = cleave_graph_get_n_outputs (graph);
  g_autoptr (GPtrArray) inputs = make_tensors (n_inputs), outputs = make_tensors (n_outputs);

  for (guint i = 0; i < n_inputs; i++)
    add_tensor (inputs, cleave_result_get_type (cleave_graph_get_input (graph, i)));
  for (guint i = 0; i < n_outputs; i++)
    add_tensor (outputs, cleave_result_get_type (
                             cleave_operand_get_result (cleave_graph_get_output (graph, i))));
  cleave_program_bind (program, (CleaveTensor **) inputs->pdata, n_inputs,
                       (CleaveTensor **) outputs->pdata, n_outputs, NULL);
  cleave_graph_unref (graph);
  return program;
}

static void
time_run (CleaveProgram *program, double *best)
{
  double begin = milliseconds ();

  cleave_program_run (program);
  *best = MIN (*best, milliseconds () - begin);
}

static void
measure (guint axis, guint n_parts, char *to, const char *from)
{
  gsize n_bytes = (gsize) cleave_tensor_type_n_bytes (&whole_type);
  g_autoptr (CleaveProgram) inside = make_program (make_inside (axis, n_parts));
  g_autoptr (CleaveProgram) whole = make_program (make_inside (axis, 1));
  g_autoptr (CleaveProgram) split = make_program (make_split (axis, n_parts));
  g_autoptr (CleaveProgram) join = make_program (make_join (axis, n_parts));
  double copy = 1e9, in = 1e9, out = 1e9, apart = 1e9, joined = 1e9;
  gint64 run = 4;
  CleaveProgramStats stats;

  for (guint d = axis; d < 4; d++)
    run *= part_type (axis, n_parts).shape.dim[d];
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      double begin = milliseconds ();

      memcpy (to, from, n_bytes);
      copy = MIN (copy, milliseconds () - begin);
      time_run (split, &apart);
      time_run (join, &joined);
      time_run (inside, &in);
      time_run (whole, &out);
    }
  cleave_program_get_stats (inside, &stats);
  printf ("| %u | %u | %" G_GINT64_FORMAT
          " | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %" G_GINT64_FORMAT " | %.2f |\n",
          axis, n_parts, run, copy, apart, copy / apart, joined, copy / joined, in - out,
          stats.copied_bytes, (in - out) * 1e3 / (n_parts + 1));
}

/* Measures the overhead of a node, in runs on tiny values. One graph is a chain of nodes. In the
 * other graph, the nodes read parts of a Split, and a Concat joins their results. */
static void
measure_nodes (void)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 256, 4);
  const guint n_rounds = 2000, n_layers = 100;
  double best[2] = { 1e9, 1e9 };
  CleaveProgram *programs[2];

  for (guint k = 0; k < 2; k++)
    {
      CleaveGraph *graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);

      for (guint i = 0; i < n_layers; i++)
        {
          const gint64 sizes[] = { 128, 128 };
          CleaveNode *split =
              k == 0 ? NULL : cleave_graph_add_split (graph, NULL, x, 0, sizes, 2, NULL);
          CleaveResult *parts[2];

          if (k == 0)
            {
              x = add_unary (graph, "Neg", add_unary (graph, "Abs", x));
              continue;
            }
          parts[0] = add_unary (graph, "Abs", cleave_node_get_result (split, 0));
          parts[1] = add_unary (graph, "Neg", cleave_node_get_result (split, 1));
          x = cleave_graph_add_concat (graph, NULL, parts, 2, 0, NULL);
        }
      add_output (graph, x);
      programs[k] = make_program (graph);
    }
  for (guint round = 0; round < n_rounds; round++)
    for (guint k = 0; k < 2; k++)
      time_run (programs[k], &best[k]);
  printf (
      "\n%u layers of two element-wise nodes on 256x4: %.1f us; each node on a part of a Split, "
      "and a Concat: %.1f us; %.3f us for each Split and each Concat\n",
      n_layers, best[0] * 1e3, best[1] * 1e3, (best[1] - best[0]) * 1e3 / (2 * n_layers));
  for (guint k = 0; k < 2; k++)
    cleave_program_unref (programs[k]);
}

static void
write_model (CleaveGraph *graph, const char *folder, const char *what, guint axis, guint n_parts)
{
  g_autofree char *name = g_strdup_printf ("%s-%u-%u.onnx", what, axis, n_parts);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  if (!cleave_onnx_save (graph, path, &error))
    g_printerr ("%s\n", error->message);
  cleave_graph_unref (graph);
}

int
main (int argc, char **argv)
{
  g_autofree char *from = g_malloc0 ((gsize) cleave_tensor_type_n_bytes (&whole_type));
  g_autofree char *to = g_malloc0 ((gsize) cleave_tensor_type_n_bytes (&whole_type));

  if (argc == 1)
    printf ("| axis | parts | run bytes | memcpy ms | split ms | of memcpy | join ms | of memcpy | "
            "inside ms more | copied bytes | us a node "
            "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (argc == 1)
      measure (cases[i].axis, cases[i].n_parts, to, from);
    else
      {
        write_model (make_split (cases[i].axis, cases[i].n_parts), argv[1], "split", cases[i].axis,
                     cases[i].n_parts);
        write_model (make_join (cases[i].axis, cases[i].n_parts), argv[1], "join", cases[i].axis,
                     cases[i].n_parts);
      }
  if (argc == 1)
    measure_nodes ();
  return 0;
}
