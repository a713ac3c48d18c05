/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ONNX's own operator tests: models with operands and expected results. The test imports every
 * model that it can, runs it by the reference kernels, and compares the results with a tolerance,
 * since another system computed the expected numbers.
 *
 * If the import must know the value of an input, such as the k of TopK, that input becomes a
 * constant with the value of the test, as with --fix. No other input becomes a constant. Such a
 * case also runs unmodified, with a dynamic part. Any other case also runs with all its nodes in
 * the dynamic part.
 *
 * Over 400 lines: the test is one program with its tables. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/onnx/wire.h"
#include "../../lib/ops/reference.h"
#include "interpret.h"
#include "models.h"

#define DATA "/usr/share/libonnx-testdata/data"
#define RTOL 1e-3
#define ATOL 1e-7
/* The tolerance for bfloat16, one unit in the last place: the tests' numbers are truncated, while a
 * cast rounds to nearest. */
#define RTOL_BFLOAT16 0x1p-7
/* The groups of cases, and the smallest number of cases of each group that must pass in each way.
 * The ways are: unmodified, with fixed inputs, unmodified with a dynamic part, and with all nodes
 * in the dynamic part. The group `real` only has links to models. */
static const struct
{
  const char *name;
  guint as_is, fixed, dynamic, all_dynamic;
} groups[] = {
  { "node", 729, 150, 146, 727 },
  { "simple", 10, 5, 5, 6 },
  { "pytorch-operator", 35, 0, 0, 30 },
  { "pytorch-converted", 82, 0, 0, 39 },
};

/* Reasons for which cases are refused: a part of the message, the reason, and the number of cases.
 */
static const struct
{
  const char *says, *why;
  guint n;
} refusals[] = {
  { "random numbers", "a run gives the same results again", 6 },
  { "drops at random", "a run gives the same results again", 4 },
  { "element type string", "elements are numbers", 5 },
  { "strings and labels are not supported", "a static tensor has numbers", 1 },
  { "strings are not supported", "elements are numbers", 12 },
  { "is a sequence: give its tensors", "an output is one tensor", 1 },
  { "sequences that are not equally long", "an output is one tensor", 1 },
  { "is not a tensor", "an input is one tensor", 22 },
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
  guint n_as_is, n_fixed, n_dynamic, n_all_dynamic, n_failed,
      n_refused; /* numbers of cases that passed in each way, failed or were refused */
  guint n_of_refusal[G_N_ELEMENTS (refusals)];
  guint n_unexplained;
  gboolean verbose;
} Score;

static GPtrArray *
read_tensors (const char *folder, const char *kind, GError **error)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0;; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/test_data_set_0/%s_%u.pb", folder, kind, i);
      g_autoptr (GBytes) bytes = NULL;
      CleaveTensor *tensor;
      char *text;
      gsize n;

      if (!g_file_get_contents (path, &text, &n, NULL))
        return g_steal_pointer (&tensors);
      bytes = g_bytes_new_take (text, n);
      tensor = n == 0 ? NULL : cleave_onnx_parse_tensor (bytes, error);
      if (tensor == NULL)
        {
          if (n == 0)
            g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL, "empty %s", kind);
          return NULL;
        }
      g_ptr_array_add (tensors, tensor);
    }
}

/* Makes a tensor of bfloat16 of a tensor of uint16, since the tests store bfloat16 as uint16. Frees
 * the old tensor. */
static CleaveTensor *
as_bfloat16 (CleaveTensor *tensor)
{
  CleaveTensorType type = *cleave_tensor_get_type (tensor);
  CleaveTensor *turned;

  if (type.element != CLEAVE_UINT16)
    return tensor;
  type.element = CLEAVE_BFLOAT16;
  turned = cleave_tensor_new_copy (&type, cleave_tensor_get_data (tensor), NULL);
  cleave_tensor_unref (tensor);
  return turned;
}

static void
fix_type (GPtrArray *tensors, guint index, const CleaveTensorType *as)
{
  if (as->element == CLEAVE_BFLOAT16)
    tensors->pdata[index] = as_bfloat16 (tensors->pdata[index]);
}

/* Makes each input whose `is_fixed` is TRUE an initializer with the value of the test. */
static void
fix_inputs (Model *model, const GPtrArray *inputs, const gboolean *is_fixed)
{
  Onnx__GraphProto *graph = model->graph;

  /* A parsed list has no room for more elements. */
  graph->initializer =
      g_renew (Onnx__TensorProto *, graph->initializer, 2 * graph->n_initializer + 1);
  for (guint i = 0; i < inputs->len && i < model->graph->n_input; i++)
    {
      const Onnx__TypeProto *type = model->graph->input[i]->type;
      g_autoptr (CleaveTensor) dense =
          is_fixed[i] ? cleave_tensor_dup_dense (inputs->pdata[i]) : NULL;

      if (dense != NULL && type != NULL &&
          type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
          type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
        dense = as_bfloat16 (g_steal_pointer (&dense));
      if (dense != NULL)
        model_add_initializer (model, model->graph->input[i]->name, cleave_tensor_get_type (dense),
                               cleave_tensor_get_data (dense));
    }
}

static CleaveGraph *
import (GBytes *bytes,
        const GPtrArray *inputs,
        const gboolean *is_fixed,
        gboolean dynamic,
        GError **error)
{
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", error);
  g_autofree CleaveOnnxShape *shapes = g_new0 (CleaveOnnxShape, inputs->len + 1);
  g_autoptr (GBytes) packed = NULL;
  CleaveOnnxOptions options = { .shapes = shapes, .dynamic = dynamic };

  if (model == NULL)
    return NULL;
  fix_inputs (model, inputs, is_fixed);
  for (guint i = 0; i < inputs->len && i < model->graph->n_input; i++)
    if (!is_fixed[i])
      shapes[options.n_shapes++] =
          (CleaveOnnxShape){ model->graph->input[i]->name,
                             cleave_tensor_get_type (inputs->pdata[i])->shape };
  packed = model_pack (model);
  return cleave_onnx_parse (packed, NULL, &options, error);
}

/* Imports the model unmodified. If that fails, fixes the inputs whose values the import needs, and
 * removes them from the list. */
static CleaveGraph *
import_somehow (GBytes *bytes, GPtrArray *inputs, gboolean *any_fixed, GError **error)
{
  g_autofree gboolean *is_fixed = g_new0 (gboolean, inputs->len + 1);
  CleaveGraph *graph = import (bytes, inputs, is_fixed, FALSE, NULL);

  *any_fixed = graph == NULL;
  if (graph != NULL)
    return graph;
  for (guint i = 0; i < inputs->len; i++)
    is_fixed[i] = TRUE;
  graph = import (bytes, inputs, is_fixed, FALSE, error);
  for (guint i = 0; i < inputs->len && graph != NULL; i++)
    {
      CleaveGraph *with;

      is_fixed[i] = FALSE;
      with = import (bytes, inputs, is_fixed, FALSE, NULL);
      is_fixed[i] = with == NULL;
      if (with != NULL)
        {
          cleave_graph_unref (graph);
          graph = with;
        }
    }
  for (guint i = inputs->len; i-- > 0 && graph != NULL;)
    if (is_fixed[i])
      g_ptr_array_remove_index (inputs, i);
  return graph;
}

static gboolean
is_close (CleaveElement element, gconstpointer a, gconstpointer b)
{
  double x = cleave_real_load (element, a), y = cleave_real_load (element, b);
  double rtol = element == CLEAVE_BFLOAT16 ? RTOL_BFLOAT16 : RTOL;

  if (!cleave_element_is_float (element))
    return memcmp (a, b, cleave_element_size (element)) == 0;
  return (isnan (x) && isnan (y)) || x == y || fabs (x - y) <= ATOL + rtol * fabs (y);
}

static char *
compare (CleaveTensor *got, CleaveTensor *want)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_dup_dense (got);
  const CleaveTensorType *type = cleave_tensor_get_type (x);
  const char *a = cleave_tensor_get_data (x), *b = cleave_tensor_get_data (want);
  gsize size = cleave_element_size (type->element);
  gint64 n = cleave_shape_n_elements (&type->shape);

  if (!cleave_tensor_type_equal (type, cleave_tensor_get_type (want)))
    {
      g_autofree char *one = cleave_tensor_type_to_string (type);
      g_autofree char *two = cleave_tensor_type_to_string (cleave_tensor_get_type (want));

      return g_strdup_printf ("the result is %s, not %s", one, two);
    }
  for (gint64 i = 0; i < n; i++)
    if (!is_close (type->element, a + (gsize) i * size, b + (gsize) i * size))
      return g_strdup_printf ("element %" G_GINT64_FORMAT " is %g, not %g", i,
                              cleave_real_load (type->element, a + (gsize) i * size),
                              cleave_real_load (type->element, b + (gsize) i * size));
  return NULL;
}

/* Runs the graph, and its dynamic part if it has one. Returns the outputs, or NULL on error. */
static GPtrArray *
run_all (const CleaveGraph *graph, GPtrArray *inputs, GError **error)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  GPtrArray *got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata), *all;
  g_autoptr (GPtrArray) names = NULL, values = NULL;

  if (dynamic == NULL)
    return got;
  names = g_ptr_array_new_with_free_func (g_free);
  values = g_ptr_array_new ();
  for (guint i = 0; i < inputs->len; i++)
    {
      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
      g_ptr_array_add (values, inputs->pdata[i]);
    }
  for (guint i = 0; i < got->len; i++)
    {
      g_ptr_array_add (names, g_strdup (cleave_graph_get_output_name (graph, i)));
      g_ptr_array_add (values, got->pdata[i]);
    }
  all = cleave_onnx_dynamic_run (dynamic, (const char *const *) names->pdata,
                                 (CleaveTensor *const *) values->pdata, values->len, NULL, NULL,
                                 NULL, error);
  g_ptr_array_unref (got);
  return all;
}

/* Returns the first mistake in the outputs as text, or NULL. */
static char *
run (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs)
{
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GError) error = NULL;

  if (!cleave_graph_validate (graph, &error))
    return g_strdup (error->message);
  if (cleave_graph_get_n_inputs (graph) != inputs->len)
    return g_strdup ("other inputs");
  for (guint i = 0; i < inputs->len; i++)
    fix_type (inputs, i, cleave_result_get_type (cleave_graph_get_input (graph, i)));
  for (guint i = 0; i < inputs->len; i++)
    if (!cleave_tensor_type_equal (cleave_tensor_get_type (inputs->pdata[i]),
                                   cleave_result_get_type (cleave_graph_get_input (graph, i))))
      return g_strdup_printf ("input %u has another type", i);
  got = run_all (graph, inputs, &error);
  if (got == NULL)
    return g_strdup (error->message);
  if (got->len != outputs->len)
    return g_strdup ("other outputs");
  for (guint i = 0; i < got->len; i++)
    {
      char *wrong;

      fix_type (outputs, i, cleave_tensor_get_type (got->pdata[i]));
      wrong = compare (got->pdata[i], outputs->pdata[i]);

      if (wrong != NULL)
        return wrong;
    }
  return NULL;
}

/* Asserts the same bits after export and import. Returns the first mistake as text, or NULL. */
static char *
run_again (const CleaveGraph *graph, GPtrArray *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  const CleaveOnnxOptions options = { .dynamic = cleave_onnx_get_dynamic (graph) != NULL };
  g_autoptr (CleaveGraph) again =
      bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, &options, &error);
  g_autoptr (GPtrArray) one = NULL, two = NULL;

  if (again == NULL)
    return g_strdup_printf ("written and read again: %s", error->message);
  one = run_all (graph, inputs, &error);
  two = one == NULL ? NULL : run_all (again, inputs, &error);
  if (two == NULL)
    return g_strdup_printf ("written and run again: %s", error->message);
  for (guint i = 0; i < one->len; i++)
    if (!cleave_tensor_equal (one->pdata[i], two->pdata[i]))
      return g_strdup_printf ("written and read again, output %u is another", i);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    if (strcmp (cleave_graph_get_output_name (graph, i), cleave_graph_get_output_name (again, i)) !=
        0)
      return g_strdup_printf ("written and read again, output %u has another name", i);
  return NULL;
}

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

/* Returns the error message of the import, for a model whose operands are not tensors. Returns NULL
 * if the import succeeds. */
static char *
refusal (GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, &error);

  return graph == NULL ? g_strdup (error->message) : NULL;
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
  g_autoptr (GPtrArray) inputs = read_tensors (path, "input", NULL);
  g_autoptr (GPtrArray) outputs = read_tensors (path, "output", NULL);
  g_autofree gboolean *is_fixed = inputs == NULL ? NULL : g_new0 (gboolean, inputs->len + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      inputs == NULL || outputs == NULL ? NULL : import (bytes, inputs, is_fixed, TRUE, &error);
  g_autofree char *wrong = NULL;

  if (graph != NULL && cleave_onnx_get_dynamic (graph) == NULL)
    return;
  wrong = graph == NULL ? g_strdup (error == NULL ? "no tensors" : error->message)
                        : run (graph, inputs, outputs);
  if (wrong == NULL)
    wrong = run_again (graph, inputs);
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

/* Returns the model with a Compress behind each input. Its condition is a further input that keeps
 * all rows, so all shapes depend on data. Adds tensors for the conditions to `inputs`. Returns NULL
 * if the model lists weights as inputs. */
static GBytes *
make_dynamic (GBytes *bytes, GPtrArray *inputs)
{
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", NULL);
  Onnx__GraphProto *graph = model->graph;
  const guint n = inputs->len;

  if (n != graph->n_input)
    return NULL;
  /* A parsed list has no room for more elements. */
  graph->node = g_renew (Onnx__NodeProto *, graph->node, 2 * graph->n_node + 1);
  graph->input = g_renew (Onnx__ValueInfoProto *, graph->input, 2 * graph->n_input + 1);
  for (guint i = 0; i < n; i++)
    {
      const CleaveShape *shape = &cleave_tensor_get_type (inputs->pdata[i])->shape;
      g_autofree char *name = g_strdup (graph->input[i]->name);
      g_autofree char *raw = g_strconcat (name, ".raw", NULL);
      g_autofree char *keep = g_strconcat (name, ".keep", NULL);
      g_autofree char *operands = g_strconcat (raw, " ", keep, NULL);
      g_autofree char *rows = NULL;

      if (shape->rank == 0 || cleave_shape_n_elements (shape) == 0 || strchr (name, ' ') != NULL)
        continue;
      rows = g_strdup_printf ("%" G_GINT64_FORMAT, shape->dim[0]);
      g_free (graph->input[i]->name);
      graph->input[i]->name = g_strdup (raw);
      model_add_input (model, keep, rows)->type->tensor_type->elem_type =
          ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
      node_add_int (model_add_node (model, "Compress", raw, operands, name), "axis", 0);
      g_ptr_array_add (inputs, cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_BOOL, shape->dim[0]), NULL));
      memset (cleave_tensor_get_mutable_data (inputs->pdata[inputs->len - 1]), 1,
              (gsize) shape->dim[0]);
    }
  return model_pack (model);
}

/* Runs a case that has passed once more, with all its nodes in the dynamic part. */
static void
try_all_dynamic (Score *score, GBytes *bytes, const char *path, const char *name)
{
  g_autoptr (GPtrArray) inputs = read_tensors (path, "input", NULL);
  g_autoptr (GPtrArray) outputs = read_tensors (path, "output", NULL);
  g_autoptr (GBytes) changed = make_dynamic (bytes, inputs);
  g_autofree gboolean *is_fixed = g_new0 (gboolean, inputs->len + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      changed == NULL ? NULL : import (changed, inputs, is_fixed, TRUE, &error);
  g_autofree char *wrong = NULL;

  if (changed == NULL || (graph != NULL && cleave_onnx_get_dynamic (graph) == NULL))
    return;
  wrong = graph == NULL ? g_strdup (error->message) : run (graph, inputs, outputs);
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
  inputs = read_tensors (path, "input", &error);
  if (inputs != NULL)
    outputs = read_tensors (path, "output", &error);
  if (outputs != NULL)
    graph = import_somehow (bytes, inputs, &any_fixed, &error);
  if (graph == NULL || any_fixed)
    try_dynamic (score, bytes, path, name);
  if (graph == NULL)
    {
      g_autofree char *why = outputs == NULL ? refusal (bytes) : NULL;

      note_refused (score, name, why == NULL ? error->message : why);
      return;
    }
  if (find_custom (graph) != NULL)
    {
      g_autofree char *why =
          g_strdup_printf ("%s cannot be run", cleave_node_get_custom_op (find_custom (graph)));

      note_refused (score, name, why);
      return;
    }
  wrong = run (graph, inputs, outputs);
  if (wrong == NULL)
    wrong = run_again (graph, inputs);
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

/* Returns whether each refusal has a reason of the table, and each reason has the number of cases
 * of the table. */
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
  score.passed_ops = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    good = try_group (&score, i) && good;
  good = check_refusals (&score) && good;
  good = count_missing (&score) == 0 && good;
  g_hash_table_unref (score.passed_ops);
  return good ? 0 : 1;
}
