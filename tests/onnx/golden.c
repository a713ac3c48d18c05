/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ONNX's own operator tests: models with operands and expected results. The test imports every
 * model that it can, runs it by the reference kernels, and compares the results with a tolerance,
 * since another system computed the expected numbers.
 *
 * If the import must know the value of an input, such as the k of TopK, that input becomes a
 * constant with the value of the test, as with --fix. No other input becomes a constant. A case
 * with a constant of this kind also runs unmodified, with a dynamic part. A case with strings,
 * sequences or optional values runs with a dynamic part only. Any other case also runs with all its
 * nodes in the dynamic part. */

#include "golden-case.h"
#include "golden-values.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/onnx/wire.h"

#define DATA "/usr/share/libonnx-testdata/data"
/* The groups of cases, and for each group the smallest number of cases that must pass in each of
 * four ways. The folder `real` is no group, since it only has links to models. */
static const struct
{
  const char *name;
  guint as_is;       /* the model is unmodified, and has no dynamic part */
  guint fixed;       /* inputs whose values the import needs become constants */
  guint dynamic;     /* the model is unmodified, and has a dynamic part */
  guint all_dynamic; /* a Compress behind each input puts all nodes into the dynamic part */
} groups[] = {
  { "node", 729, 150, 179, 727 },
  { "simple", 10, 5, 11, 6 },
  { "pytorch-operator", 35, 0, 0, 30 },
  { "pytorch-converted", 82, 0, 0, 39 },
};

/* The reasons for which the import refuses cases: a text that the message contains, the reason, and
 * the number of cases with this reason. */
static const struct
{
  const char *says, *why;
  guint n;
} refusals[] = {
  { "random numbers", "a run gives the same results again", 6 },
  { "drops at random", "a run gives the same results again", 4 },
  { "'0.60484552', not '0.6048455'", "a cast prints 8 digits, as in ONNX Runtime", 3 },
  { "ai.onnx.preview.training:",
    "a gradient or an optimizer passes through whole, and has no kernel", 9 },
};

/* At least one test of each of these ops must pass. */
static const char *const wanted[] = {
  "Add",
  "AveragePool",
  "BatchNormalization",
  "Cast",
  "Clip",
  "Concat",
  "Constant",
  "ConstantOfShape",
  "Conv",
  "ConvTranspose",
  "DepthToSpace",
  "Div",
  "Dropout",
  "Exp",
  "Flatten",
  "Gather",
  "Gemm",
  "GlobalAveragePool",
  "HardSigmoid",
  "Identity",
  "LeakyRelu",
  "Log",
  "MatMul",
  "MaxPool",
  "Mul",
  "PRelu",
  "Pad",
  "Pow",
  "ReduceMax",
  "ReduceMean",
  "ReduceMin",
  "ReduceSum",
  "Relu",
  "Reshape",
  "Resize",
  "Shape",
  "Sigmoid",
  "Slice",
  "Softmax",
  "SpaceToDepth",
  "Split",
  "Sqrt",
  "Squeeze",
  "Sub",
  "Tanh",
  "Transpose",
  "Unsqueeze",
};

typedef struct
{
  GHashTable *passed_ops;
  guint n_as_is, n_fixed, n_dynamic, n_all_dynamic; /* numbers of cases that passed in each of the
                                                     * four ways of `groups` */
  guint n_failed, n_refused;
  guint n_of_refusal[G_N_ELEMENTS (refusals)];
  guint n_unexplained;
  gboolean verbose;
} Score;

static void
note_passed (Score *score, GBytes *bytes, gboolean any_fixed)
{
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", NULL);

  if (any_fixed)
    score->n_fixed++;
  else
    score->n_as_is++;
  for (size_t i = 0; i < model->graph->n_node; i++)
    g_hash_table_add (score->passed_ops, g_strdup (model->graph->node[i]->op_type));
}

static void
note_refused (Score *score, const char *name, const char *message)
{
  guint i = 0;

  score->n_refused++;
  while (i < G_N_ELEMENTS (refusals) && strstr (message, refusals[i].says) == NULL)
    i++;
  if (i < G_N_ELEMENTS (refusals))
    score->n_of_refusal[i]++;
  else
    score->n_unexplained++;
  if (score->verbose || i == G_N_ELEMENTS (refusals))
    printf ("refused: %s: %s: %s\n", name, message,
            i == G_N_ELEMENTS (refusals) ? "no reason is known" : refusals[i].why);
}

/* Returns the first node without an op record, which cannot be run; NULL if there is none. */
static const CleaveNode *
find_custom (const CleaveGraph *graph)
{
  const CleaveNode *node = cleave_graph_get_first_node (graph);

  while (node != NULL && cleave_node_get_custom_op (node) == NULL)
    node = cleave_node_get_next (node);
  return node;
}

/* Returns whether a message is one of the refusals with a known reason. */
static gboolean
is_known_refusal (const char *message)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (strstr (message, refusals[i].says) != NULL)
      return TRUE;
  return FALSE;
}

/* Runs an unmodified case that has a dynamic part. */
static void
try_dynamic (Score *score, GBytes *bytes, const char *path, const char *name)
{
  g_autoptr (GPtrArray) inputs = golden_read_tensors (path, "input", NULL);
  g_autoptr (GPtrArray) outputs = golden_read_tensors (path, "output", NULL);
  g_autofree gboolean *is_fixed = inputs == NULL ? NULL : g_new0 (gboolean, inputs->len + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = inputs == NULL || outputs == NULL
                                      ? NULL
                                      : golden_import (bytes, inputs, is_fixed, TRUE, &error);
  g_autofree char *wrong = NULL;

  if (graph != NULL && cleave_onnx_get_dynamic (graph) == NULL)
    return;
  wrong = graph == NULL ? g_strdup (error == NULL ? "no tensors" : error->message)
                        : golden_run (graph, inputs, outputs);
  if (wrong == NULL)
    wrong = golden_run_again (graph, inputs);
  if (wrong == NULL)
    score->n_dynamic++;
  else if (graph != NULL && !is_known_refusal (wrong))
    {
      printf ("FAILED: %s, with a dynamic part: %s\n", name, wrong);
      score->n_failed++;
    }
  else if (score->verbose)
    printf ("refused: %s, with a dynamic part: %s\n", name, wrong);
}

/* Runs a case whose inputs or outputs are strings, sequences or optional values. The graph of the
 * case has a dynamic part. */
static void
try_values (Score *score, GBytes *bytes, const char *path, const char *name)
{
  g_autofree char *wrong = golden_run_values (bytes, path);

  if (wrong == NULL)
    score->n_dynamic++;
  else if (is_known_refusal (wrong))
    note_refused (score, name, wrong);
  else
    {
      printf ("FAILED: %s: %s\n", name, wrong);
      score->n_failed++;
    }
}

/* Runs a case again, with all its nodes in the dynamic part. The case has passed before with nodes
 * in the static part. */
static void
try_all_dynamic (Score *score, GBytes *bytes, const char *path, const char *name)
{
  g_autoptr (GPtrArray) inputs = golden_read_tensors (path, "input", NULL);
  g_autoptr (GPtrArray) outputs = golden_read_tensors (path, "output", NULL);
  g_autoptr (GBytes) changed = golden_make_dynamic (bytes, inputs);
  g_autofree gboolean *is_fixed = g_new0 (gboolean, inputs->len + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      changed == NULL ? NULL : golden_import (changed, inputs, is_fixed, TRUE, &error);
  g_autofree char *wrong = NULL;

  if (changed == NULL || (graph != NULL && cleave_onnx_get_dynamic (graph) == NULL))
    return;
  wrong = graph == NULL ? g_strdup (error->message) : golden_run (graph, inputs, outputs);
  if (wrong == NULL)
    {
      score->n_all_dynamic++;
      return;
    }
  printf ("FAILED: %s, with all nodes in the dynamic part: %s\n", name, wrong);
  score->n_failed++;
}

static void
try_case (Score *score, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *file = g_build_filename (path, "model.onnx", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) mapped = g_mapped_file_new (file, FALSE, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GPtrArray) inputs = NULL, outputs = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autofree char *wrong = NULL;
  gboolean any_fixed = FALSE;

  if (mapped == NULL)
    return;
  bytes = g_mapped_file_get_bytes (mapped);
  inputs = golden_read_tensors (path, "input", &error);
  if (inputs != NULL)
    outputs = golden_read_tensors (path, "output", &error);
  if (outputs != NULL)
    graph = golden_import_somehow (bytes, inputs, &any_fixed, &error);
  if (outputs == NULL)
    {
      try_values (score, bytes, path, name);
      return;
    }
  if (graph == NULL || any_fixed)
    try_dynamic (score, bytes, path, name);
  if (graph == NULL)
    {
      note_refused (score, name, error->message);
      return;
    }
  if (find_custom (graph) != NULL)
    {
      g_autofree char *why =
          g_strdup_printf ("%s cannot be run", cleave_node_get_custom_op (find_custom (graph)));

      note_refused (score, name, why);
      return;
    }
  wrong = golden_run (graph, inputs, outputs);
  if (wrong == NULL)
    wrong = golden_run_again (graph, inputs);
  if (wrong == NULL)
    {
      note_passed (score, bytes, any_fixed);
      if (!any_fixed)
        try_all_dynamic (score, bytes, path, name);
      return;
    }
  printf ("FAILED: %s: %s\n", name, wrong);
  score->n_failed++;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
try_folder (Score *score, const char *kind)
{
  g_autofree char *folder = g_build_filename (DATA, kind, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    try_case (score, folder, names->pdata[i]);
}

/* Runs the cases of a group. Returns whether no case fails, and enough cases pass. */
static gboolean
try_group (Score *score, guint group)
{
  const char *name = groups[group].name;

  score->n_as_is = score->n_fixed = score->n_dynamic = score->n_all_dynamic = 0;
  score->n_failed = score->n_refused = 0;
  try_folder (score, name);
  printf (
      "%-17s %3u passed, %3u with inputs fixed, %3u with a dynamic part, %3u with all nodes in it, "
      "%u failed, %u refused\n",
      name, score->n_as_is, score->n_fixed, score->n_dynamic, score->n_all_dynamic, score->n_failed,
      score->n_refused);
  if (score->n_as_is < groups[group].as_is)
    printf ("%s: fewer than %u passed as they are\n", name, groups[group].as_is);
  if (score->n_as_is + score->n_fixed < groups[group].as_is + groups[group].fixed)
    printf ("%s: fewer than %u passed with inputs fixed\n", name, groups[group].fixed);
  if (score->n_dynamic < groups[group].dynamic)
    printf ("%s: fewer than %u passed with a dynamic part\n", name, groups[group].dynamic);
  if (score->n_all_dynamic < groups[group].all_dynamic)
    printf ("%s: fewer than %u passed with all nodes in the dynamic part\n", name,
            groups[group].all_dynamic);
  return score->n_failed == 0 && score->n_dynamic >= groups[group].dynamic &&
         score->n_all_dynamic >= groups[group].all_dynamic &&
         score->n_as_is >= groups[group].as_is &&
         score->n_as_is + score->n_fixed >= groups[group].as_is + groups[group].fixed;
}

/* Returns whether each refused case has a reason in `refusals`, and whether each reason occurs as
 * often as its `n` in `refusals` says. */
static gboolean
check_refusals (const Score *score)
{
  gboolean good = score->n_unexplained == 0;

  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (score->n_of_refusal[i] != refusals[i].n)
      {
        printf ("%u cases are refused by '%s', not %u\n", score->n_of_refusal[i], refusals[i].says,
                refusals[i].n);
        good = FALSE;
      }
  return good;
}

static guint
count_missing (const Score *score)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    if (!g_hash_table_contains (score->passed_ops, wanted[i]))
      {
        printf ("no case of %s passed\n", wanted[i]);
        n++;
      }
  return n;
}

int
main (int argc, char **argv)
{
  Score score = { .verbose = argc > 1 };
  gboolean good = TRUE;

  if (!g_file_test (DATA, G_FILE_TEST_IS_DIR))
    {
      printf ("SKIP: libonnx-testdata is not installed\n");
      return 77;
    }
  /* treat all nodes of the dynamic part as expensive, so that run_dynamic() tests chains of nodes
   * that run together */
  g_setenv ("CLEAVE_DEBUG", "expensive", TRUE);
  score.passed_ops = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    good = try_group (&score, i) && good;
  good = check_refusals (&score) && good;
  good = count_missing (&score) == 0 && good;
  g_hash_table_unref (score.passed_ops);
  return good ? 0 : 1;
}
