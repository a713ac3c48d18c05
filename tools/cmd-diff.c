/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave diff`: runs two models on the same inputs and compares their outputs. */

#include "arguments.h"
#include "commands.h"
#include "execute.h"
#include "inputs.h"
#include "json.h"
#include "model.h"
#include "sizes.h"

#include <math.h>
#include <stdio.h>

/* An output that is in both models, or is missing in one of them. */
typedef struct
{
  const char *name, *problem; /* `name`: name of the output; `problem`: reason why the output could
                               * not be compared; NULL: no problem */
  CleaveDifference difference;
} Comparison;

/* The functions below make the inputs of both models. */

/* Fails unless both models have the same inputs that are sequences or optional values, in the same
 * order. */
static gboolean
check_lists (const CleaveGraph *a, const CleaveGraph *b, GError **error)
{
  static const char *const none[] = { NULL };
  const CleaveOnnxDynamic *one = cleave_onnx_get_dynamic (a), *other = cleave_onnx_get_dynamic (b);

  return g_strv_equal (one == NULL ? none : cleave_onnx_dynamic_get_inputs (one),
                       other == NULL ? none : cleave_onnx_dynamic_get_inputs (other)) ||
         cleave_argument_fail (error, "the models have different inputs that are sequences or "
                                      "optional values");
}

/* Returns the inputs for the second model, `b`. For each input of `b`, takes the tensor that
 * `inputs` has for the input of `a` with the same name. Then appends the entries of `inputs` for
 * sequences and optional values. Returns NULL and the error unless both models have the same
 * inputs. */
static GPtrArray *
share_inputs (const CleaveGraph *a, const CleaveGraph *b, const GPtrArray *inputs, GError **error)
{
  g_autoptr (GPtrArray) shared = g_ptr_array_new ();
  guint n = cleave_graph_get_n_inputs (b), n_first = cleave_graph_get_n_inputs (a);

  if (n != n_first)
    {
      cleave_argument_fail (error, "the first model has %u inputs, the second %u", n_first, n);
      return NULL;
    }
  if (!check_lists (a, b, error))
    return NULL;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (b, i));
      gpointer tensor = NULL;

      for (guint j = 0; j < n && tensor == NULL; j++)
        {
          g_autofree char *other = cleave_result_dup_name (cleave_graph_get_input (a, j));

          if (g_str_equal (name, other))
            tensor = inputs->pdata[j];
        }
      if (tensor == NULL)
        {
          g_auto (GStrv) names = cleave_input_list_names (a);
          g_autofree char *hint = cleave_input_dup_hint (name, names);

          cleave_argument_fail (error, "the first model has no input '%s' of the second%s", name,
                                hint);
          return NULL;
        }
      g_ptr_array_add (shared, tensor);
    }
  for (guint i = n; i < inputs->len; i++)
    g_ptr_array_add (shared, inputs->pdata[i]);
  return g_steal_pointer (&shared);
}

/* The functions below compare the outputs. */

/* Returns a table that maps the name of each output to 1 plus its index. */
static GHashTable *
number_outputs (const CleaveExecution *execution)
{
  GHashTable *numbers = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < execution->outputs->len; i++)
    g_hash_table_insert (numbers, execution->names[i], GUINT_TO_POINTER (i + 1));
  return numbers;
}

static Comparison
compare_output (const char *name, CleaveTensor *a, CleaveTensor *b)
{
  Comparison comparison = { .name = name };

  if (!cleave_tensor_type_equal (cleave_tensor_get_type (a), cleave_tensor_get_type (b)))
    comparison.problem = "its type differs";
  else
    comparison.difference = cleave_compare (a, b);
  return comparison;
}

static GArray *
compare_outputs (const CleaveExecution *a, const CleaveExecution *b)
{
  GArray *comparisons = g_array_new (FALSE, FALSE, sizeof (Comparison));
  g_autoptr (GHashTable) names_a = number_outputs (a), names_b = number_outputs (b);

  for (guint i = 0; i < a->outputs->len; i++)
    {
      const char *name = a->names[i];
      guint j = GPOINTER_TO_UINT (g_hash_table_lookup (names_b, name));
      Comparison comparison = { .name = name, .problem = "it is missing in the second model" };

      if (j > 0)
        comparison = compare_output (name, a->outputs->pdata[i], b->outputs->pdata[j - 1]);
      g_array_append_val (comparisons, comparison);
    }
  for (guint i = 0; i < b->outputs->len; i++)
    {
      Comparison comparison = { b->names[i], "it is missing in the first model", { 0 } };

      if (!g_hash_table_contains (names_a, comparison.name))
        g_array_append_val (comparisons, comparison);
    }
  return comparisons;
}

static gboolean
is_equal (const Comparison *comparison)
{
  return comparison->problem == NULL && comparison->difference.n_different == 0;
}

/* Returns whether an output is within the tolerance. A NaN in only one of two elements exceeds any
 * tolerance. */
static gboolean
is_near (const Comparison *comparison, double tolerance)
{
  return is_equal (comparison) ||
         (comparison->problem == NULL && comparison->difference.largest <= tolerance);
}

static gboolean
parse_tolerance (const char *text, double *tolerance, GError **error)
{
  char *end;

  if (text == NULL)
    return TRUE;
  *tolerance = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(*tolerance >= 0) || isinf (*tolerance))
    return cleave_argument_fail (error, "--tolerance expects a number such as 1e-5, not '%s'",
                                 text);
  return TRUE;
}

/* The functions below print the differences. */

static void
print_json (const GArray *comparisons, gboolean equal)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_bool (json, "equal", equal);
  cleave_json_begin_list (json, "outputs");
  for (guint i = 0; i < comparisons->len; i++)
    {
      const Comparison *c = &g_array_index (comparisons, Comparison, i);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", c->name);
      cleave_json_bool (json, "equal", is_equal (c));
      if (c->problem != NULL)
        cleave_json_string (json, "message", c->problem);
      else
        {
          cleave_json_int (json, "different_elements", c->difference.n_different);
          cleave_json_double (json, "largest_difference", c->difference.largest);
        }
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_print (json);
}

static void
print_text (const GArray *comparisons)
{
  for (guint i = 0; i < comparisons->len; i++)
    {
      const Comparison *c = &g_array_index (comparisons, Comparison, i);

      if (c->problem != NULL)
        printf ("%s: %s\n", c->name, c->problem);
      else if (is_equal (c))
        printf ("%s: equal, bit for bit\n", c->name);
      else
        printf ("%s: %" G_GINT64_FORMAT " element%s differ%s, by %.9g at most\n", c->name,
                c->difference.n_different, CLEAVE_PLURAL (c->difference.n_different),
                c->difference.n_different == 1 ? "s" : "", c->difference.largest);
    }
}

typedef struct
{
  CleaveModelOptions model;
  CleaveInputOptions inputs;
  char *tolerance_text;
  double tolerance;
  gboolean as_json;
} Options;

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    CLEAVE_INPUT_OPTIONS (o->inputs),
    { "tolerance", 0, 0, G_OPTION_ARG_STRING, &o->tolerance_text,
      "accept differences up to this number (default: 0, every bit counts)", "T" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = {
    entries, cleave_input_needs, "A.onnx B.onnx",
    "Run two models on the same inputs and compare every output bit for bit.\nThe exit status is 1 "
    "if an output differs by more than the tolerance.",
    2
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL || !parse_tolerance (o->tolerance_text, &o->tolerance, error))
    return NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_diff (int argc, char **argv, GError **error)
{
  Options o = { .model.has_dynamic = TRUE };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) a = NULL, b = NULL;
  g_autoptr (GPtrArray) inputs = NULL, shared = NULL;
  g_auto (CleaveExecution) of_a = { 0 }, of_b = { 0 };
  g_autoptr (GArray) comparisons = NULL;
  gboolean equal = TRUE;

  if (files == NULL)
    return CLEAVE_WRONG;
  a = cleave_model_load_for_inputs (files[0], &o.model, &o.inputs, error);
  b = a == NULL ? NULL : cleave_model_load_for_inputs (files[1], &o.model, &o.inputs, error);
  inputs = b == NULL ? NULL : cleave_make_inputs (a, &o.inputs, error);
  shared = inputs == NULL ? NULL : share_inputs (a, b, inputs, error);
  if (shared == NULL || !cleave_execute (a, inputs, 1, 1, &of_a, error) ||
      !cleave_execute (b, shared, 1, 1, &of_b, error))
    return CLEAVE_WRONG;
  comparisons = compare_outputs (&of_a, &of_b);
  for (guint i = 0; i < comparisons->len; i++)
    equal = equal && is_near (&g_array_index (comparisons, Comparison, i), o.tolerance);
  if (o.as_json)
    print_json (comparisons, equal);
  else
    print_text (comparisons);
  return equal ? CLEAVE_DONE : CLEAVE_NO;
}
