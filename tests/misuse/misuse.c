/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Calls every public function with wrong values of each argument. The function must complain or
 * fail, and never crash. misuse.py generates the calls from the headers. Each call runs in a
 * process of its own. */

#include "test.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../passes/split/plan.h"
#include "build-config.h"
#include "graphs.h"
#include "models.h"
#include "tflite-file.h"

typedef enum { GOOD, REFUSED, ALIVE, IMPOSSIBLE } Must;

typedef struct
{
  const char *title;
  Must must;
  void (*call) (void);
} Case;

/* Objects for valid arguments. The graph `other` and its values are wrong arguments in calls for
 * `graph`. */
static struct
{
  CleaveGraph *graph, *other;
  CleaveResult *x, *same, *kernel, *vector, *matrix, *other_x;
  CleaveNode *node, *unused, *other_node;
  CleaveOperand *operand, *other_operand;
  CleaveTensor *tensor, *image, *result, *scalar, *lengths;
  CleaveTiling *tiling;
  GArray *sizes;
  GHashTable *texts;
  CleavePipeline *pipeline;
  double numbers[8];
  char *folder, *model, *tflite, *text, *text_data, *out, *out_data, *data, *saved;
} world;

static GError *failure;

/* A CleaveReduceTest that returns TRUE for every graph. */
static gboolean
always (const CleaveGraph *graph, const char *passes, gpointer data)
{
  return TRUE;
}
static GError **const error = &failure;
static guint n_complaints;

static CleaveNode *
make_graph (CleaveGraph *graph, CleaveResult **x)
{
  const CleaveConvAttrs attrs = { .group = 1 };
  CleaveResult *wide = cleave_test_weights (graph, "wide", CLEAVE_SHAPE (16, 4, 1, 1));
  CleaveResult *narrow = cleave_test_weights (graph, "narrow", CLEAVE_SHAPE (4, 16, 1, 1));
  CleaveResult *y;

  *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 8, 8));
  y = cleave_test_add (graph, "Conv", "conv1", (CleaveResult *[]){ *x, wide }, 2, &attrs, NULL);
  y = cleave_test_add (graph, "Conv", "conv2", (CleaveResult *[]){ y, narrow }, 2, &attrs, NULL);
  y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, NULL);
  cleave_graph_add_output (graph, "y", y, NULL);
  return cleave_result_get_node (y);
}

static CleaveTensor *
make_integers (guint rank, gint64 value)
{
  CleaveTensorType type = { CLEAVE_INT64, { rank, { 1 } } };

  return cleave_tensor_new_copy (&type, &value, NULL);
}

static void
make_values (CleaveGraph *graph)
{
  world.same = cleave_graph_add_unary (graph, "Neg", "same", world.x, NULL, NULL);
  world.unused =
      cleave_result_get_node (cleave_graph_add_unary (graph, "Neg", "unused", world.x, NULL, NULL));
  world.kernel = cleave_test_weights (graph, "kernel", CLEAVE_SHAPE (4, 4, 3, 3));
  world.vector = cleave_test_weights (graph, "vector", CLEAVE_SHAPE (4));
  world.matrix = cleave_test_weights (graph, "matrix", CLEAVE_SHAPE (8, 8));
}

static void
make_world (void)
{
  const gint64 four = 4;

  world.graph = cleave_graph_new ("graph");
  world.other = cleave_graph_new ("other");
  world.node = make_graph (world.graph, &world.x);
  world.other_node = make_graph (world.other, &world.other_x);
  world.operand = cleave_node_get_operand (world.node, 0);
  world.other_operand = cleave_node_get_operand (world.other_node, 0);
  world.tensor = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 2), NULL);
  world.image = cleave_tensor_new (cleave_result_get_type (world.x), NULL);
  world.result = cleave_tensor_new (cleave_result_get_type (world.x), NULL);
  world.scalar = make_integers (0, 0);
  world.lengths = make_integers (1, 4);
  world.tiling = cleave_tiling_by_num_chunks ("2", (const gint64[]){ 2 }, 1);
  world.texts = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (world.texts, (gpointer) "max-memory", (gpointer) "64KiB");
  world.pipeline = cleave_pipeline_parse ("clean-up", NULL);
  world.sizes = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof four), &four, 1);
}

static CleaveProgram *
a_program (void)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("graph");
  CleaveResult *x;
  CleaveProgram *program;

  make_graph (graph, &x);
  program = cleave_program_new (graph, &(CleaveProgramOptions){ .n_threads = 1 }, NULL);
  cleave_program_bind (program, &world.image, 1, &world.result, 1, NULL);
  return program;
}

static CleaveGraph *
a_pooling (void)
{
  return cleave_graph_parse (
      "%x = Input : int8 1x2x8x8\n%y = MaxPool %x kernel_shape=2,2\noutput %y\n", NULL, NULL);
}

static CleaveBundle *
a_bundle (void)
{
  g_autoptr (CleaveGraph) graph = a_pooling ();

  return cleave_bundle_new (graph, NULL, NULL);
}

static CleavePartition *
a_partition (void)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (
      "%x = Input : float32 1x2x8x8\n%w = Constant seed=1 : float32 2x2x3x3\n"
      "%c = Conv %x, %w pads=1,1,1,1\n%r = Relu %c\n%s = Sigmoid %r\noutput %s\n",
      NULL, NULL);
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse ("split{node=r dims=H num-chunks=2 depth=2}", NULL);

  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL));
  return cleave_partition_new (graph, NULL);
}

/* Returns the dynamic part of a model with a NonZero of its input. */
static CleaveOnnxDynamic *
a_dynamic (void)
{
  const CleaveOnnxOptions options = { .dynamic = TRUE };
  g_autoptr (Model) model = model_new (17);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  model_add_input (model, "x", "4x4");
  model_add_node (model, "NonZero", "where", "x", "y");
  model_add_output (model, "y");
  bytes = model_pack (model);
  graph = cleave_onnx_parse (bytes, NULL, &options, NULL);
  return cleave_onnx_dynamic_ref (cleave_onnx_get_dynamic (graph));
}

static CleaveDynamicProgram *
a_dynamic_program (void)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveOnnxDynamic) dynamic = a_dynamic ();

  return cleave_dynamic_program_new (dynamic, &options);
}

static CleaveShapedProgram *
a_shaped_program (void)
{
  const CleaveProgramOptions options = { .n_threads = 1 };

  return cleave_shaped_program_new (world.model, NULL, &options, 1, NULL);
}

/* Returns a placement that alternates nodes between ranks, so that there are messages. */
static CleavePlacement *
a_placement (void)
{
  guint n = cleave_graph_get_n_nodes (world.graph);
  g_autofree guint *ranks = g_new (guint, n);
  CleavePlacement *placement;

  for (guint i = 0; i < n; i++)
    ranks[i] = i % 2;
  placement = cleave_placement_new_by_node (world.graph, 2, ranks, n, NULL);
  ck_assert_uint_gt (cleave_placement_get_n_messages (placement), 0);
  return placement;
}

static void
a_begin (gpointer data, guint message, const CleaveMessagePlace *place)
{
}

static gboolean
a_wait (gpointer data, guint message)
{
  return TRUE;
}

static CleaveFitPlan *
a_fit_plan (void)
{
  const CleaveFitOptions options = { 0 };
  CleaveFitPlan *plan = cleave_fit_plan_new (world.graph, &options, NULL);

  ck_assert_ptr_nonnull (plan);
  return plan;
}

static GVariant *
a_plan_data (void)
{
  g_autoptr (CleaveFitPlan) plan = a_fit_plan ();

  return cleave_fit_plan_to_data (plan);
}

static CleaveSplitReport *
a_report (void)
{
  CleaveGraph *graph = cleave_graph_new ("graph");
  CleaveResult *x;
  CleaveNode *relu = make_graph (graph, &x);
  CleaveResult *rows = cleave_graph_add_softmax (graph, "rows", x, 2, NULL);
  const CleaveConstraint constraint = { .max_schedule_memory = G_MAXINT64 };
  const CleaveSplitRequest requests[] = { { relu, world.tiling, &constraint },
                                          { cleave_result_get_node (rows), world.tiling, NULL } };

  return cleave_split_nodes (graph, requests, G_N_ELEMENTS (requests), NULL);
}

static CleavePlan *
a_plan (void)
{
  CleaveRange range = CLEAVE_RANGE (0, 1, 0, 4, 0, 8, 0, 8);

  return cleave_plan_new (world.node, &range, 1, NULL);
}

static GBytes *
a_model (void)
{
  return cleave_onnx_serialize (world.other, NULL);
}

static GBytes *
a_tflite_model (void)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();

  return g_bytes_ref (files->pdata[0]);
}

static CleaveDotLayout *
a_layout (void)
{
  const double sizes[] = { 9, 9, 9, 9 };
  const guint edges[] = { 0, 1 };

  return cleave_dot_layout_new (sizes, 4, edges, 2, NULL);
}

static GHashTable *
split_arguments (void)
{
  GHashTable *arguments = g_hash_table_new (g_str_hash, g_str_equal);

  g_hash_table_insert (arguments, "axis", "0");
  g_hash_table_insert (arguments, "num_splits", "1");
  return arguments;
}

static GBytes *
a_tensor_proto (void)
{
  g_autoptr (GError) none = NULL;
  Onnx__TensorProto *proto = tensor_new ("t", &CLEAVE_TYPE (CLEAVE_FLOAT32, 4), NULL);
  gsize size = onnx__tensor_proto__get_packed_size (proto);
  guint8 *data = g_malloc (size);

  onnx__tensor_proto__pack (proto, data);
  return g_bytes_new_take (data, size);
}

#include "misuse-cases.h"

/* The functions below run one call. */

static GLogWriterOutput
count_complaint (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  n_complaints += (level & G_LOG_LEVEL_CRITICAL) != 0;
  if ((level & G_LOG_LEVEL_ERROR) != 0)
    return G_LOG_WRITER_UNHANDLED;
  return G_LOG_WRITER_HANDLED;
}

/* Runs a case in a child process, which exits with the result. The address space is limited, except
 * with a sanitizer, which needs more address space than any useful limit. */
static G_NORETURN void
run_case (const Case *c)
{
  const struct rlimit memory = { G_GUINT64_CONSTANT (1) << 31, G_GUINT64_CONSTANT (1) << 31 };

  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_log_set_writer_func (count_complaint, NULL, NULL);
  make_world ();
  make_values (world.graph);
  if (!CLEAVE_SANITIZED)
    setrlimit (RLIMIT_AS, &memory);
  signal (SIGALRM, SIG_DFL);
  alarm (5);
  c->call ();
  _exit (n_complaints > 0 ? 2 : failure != NULL ? 3 : 1);
}

/* Returns a message if the exit status of a case is not the expected one, or NULL if it is. */
static char *
judge (const Case *c, int status)
{
  static const char *const came[] = { "?", "nothing was said", "it complained", "it failed" };
  int code = WIFEXITED (status) ? WEXITSTATUS (status) : 0;

  if (code < 1 || code > 3)
    return g_strdup_printf ("it died: signal %d", WIFSIGNALED (status) ? WTERMSIG (status) : -code);
  if ((c->must == GOOD && code != 1) || (c->must == REFUSED && code == 1))
    return g_strdup (came[code]);
  return NULL;
}

static char *
try_case (const Case *c)
{
  pid_t child;
  int status = 0;

  if (c->call == NULL)
    return g_strdup ("it is not tried");
  child = fork ();
  ck_assert (child >= 0);
  if (child == 0)
    run_case (c);
  ck_assert (waitpid (child, &status, 0) == child);
  return judge (c, status);
}

/* Returns whether the test runs a case. Without the module that draws pictures,
 * cleave_dot_layout_new() fails, so there is no layout for the other functions. */
static gboolean
is_tried (const Case *c)
{
#ifdef HAS_PICTURES
  return TRUE;
#else
  return c->must != GOOD || !g_str_has_prefix (c->title, "cleave_dot_layout_");
#endif
}

START_TEST (wrong_arguments_are_refused)
{
  guint n_failed = 0;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *wrong = is_tried (&cases[i]) ? try_case (&cases[i]) : NULL;

      if (wrong != NULL)
        g_printerr ("%s: %s\n", cases[i].title, wrong);
      n_failed += wrong != NULL;
    }
  ck_assert_msg (n_failed == 0, "%u of %u calls", n_failed, (guint) G_N_ELEMENTS (cases));
}
END_TEST

static void
make_files (void)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("graph");
  g_autoptr (GBytes) tflite = a_tflite_model ();
  CleaveResult *x;

  world.folder = g_dir_make_tmp ("cleave-misuse-XXXXXX", NULL);
  world.model = g_build_filename (world.folder, "model.onnx", NULL);
  world.tflite = g_build_filename (world.folder, "model.tflite", NULL);
  world.text = g_build_filename (world.folder, "model.cleave", NULL);
  world.text_data = g_strconcat (world.text, ".data", NULL);
  world.out = g_build_filename (world.folder, "out.dot", NULL);
  world.out_data = g_strconcat (world.out, ".data", NULL);
  world.data = g_build_filename (world.folder, "data", NULL);
  world.saved = g_build_filename (world.folder, "model.plan", NULL);
  make_graph (graph, &x);
  ck_assert (cleave_onnx_save (graph, world.model, NULL));
  ck_assert (g_file_set_contents (world.tflite, g_bytes_get_data (tflite, NULL),
                                  (gssize) g_bytes_get_size (tflite), NULL));
  ck_assert (cleave_graph_save_text (graph, world.text, NULL));
  ck_assert (cleave_graph_save_program (graph, NULL, world.saved, NULL));
}

static void
remove_files (void)
{
  g_unlink (world.model);
  g_unlink (world.tflite);
  g_unlink (world.text);
  g_unlink (world.text_data);
  g_unlink (world.out);
  g_unlink (world.out_data);
  g_unlink (world.data);
  g_unlink (world.saved);
  ck_assert_int_eq (g_rmdir (world.folder), 0);
}

static void
add_tests (Suite *suite)
{
  TCase *calls = tcase_create ("calls");

  tcase_set_timeout (calls, 280);
  tcase_add_checked_fixture (calls, make_files, remove_files);
  tcase_add_test (calls, wrong_arguments_are_refused);
  suite_add_tcase (suite, calls);
}

CLEAVE_TEST_SUITE ("misuse", add_tests)
