/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints docs/operators.md: every op with its opsets, element types, dimensions that split, and
 * kernels. The program calls the functions of op records with the types and attributes of random
 * nodes. ONNX's own header has the list of ONNX ops and the opsets that changed them. A test
 * compares the page with this output. */

#include <stdio.h>
#include <string.h>

#include "../../lib/ir/graph-private.h"
#include "../../lib/onnx/import/texts.h"
#include "cuts.h"
#include "refusals.h"

#define LAST_OPSET 17
#define MAX_OPERANDS 16

static const char *const kernels[CLEAVE_N_KERNELS] = {
  [CLEAVE_KERNEL_CONV] = "conv",
  [CLEAVE_KERNEL_CONV_TRANSPOSE] = "conv-transpose",
  [CLEAVE_KERNEL_MATMUL] = "matmul",
  [CLEAVE_KERNEL_GEMM] = "gemm",
  [CLEAVE_KERNEL_COPY] = "copy",
  [CLEAVE_KERNEL_DEPTHWISE] = "depthwise",
  [CLEAVE_KERNEL_NARROW_CONV] = "narrow conv",
  [CLEAVE_KERNEL_GROUPED_CONV] = "grouped conv",
  [CLEAVE_KERNEL_BATCH_NORM] = "batch-norm",
  [CLEAVE_KERNEL_POOL] = "pool",
  [CLEAVE_KERNEL_NEAREST] = "nearest",
  [CLEAVE_KERNEL_RESIZE] = "resize",
  [CLEAVE_KERNEL_CONVERT] = "convert",
  [CLEAVE_KERNEL_INTEGER_CONV] = "integer conv",
  [CLEAVE_KERNEL_INTEGER_DEPTHWISE] = "integer depthwise",
  [CLEAVE_KERNEL_INTEGER_MATMUL] = "integer matmul",
  [CLEAVE_KERNEL_PRODUCTS_MATMUL] = "products",
  [CLEAVE_KERNEL_PRODUCTS_GEMM] = "products",
  [CLEAVE_KERNEL_UPCAST_CONV] = "upcast conv",
  [CLEAVE_KERNEL_UPCAST_DEPTHWISE] = "upcast depthwise",
  [CLEAVE_KERNEL_UPCAST_MATMUL] = "upcast matmul",
  [CLEAVE_KERNEL_UPCAST_GEMM] = "upcast gemm",
  [CLEAVE_KERNEL_UPCAST_PIECES] = "upcast pieces",
  [CLEAVE_KERNEL_EINSUM] = "einsum",
  [CLEAVE_KERNEL_GRID_SAMPLE] = "grid-sample",
  [CLEAVE_KERNEL_ROI_ALIGN] = "roi-align",
  [CLEAVE_KERNEL_DEFORM_CONV] = "deform-conv",
  [CLEAVE_KERNEL_DFT] = "dft",
  [CLEAVE_KERNEL_TOPK] = "topk",
  [CLEAVE_KERNEL_SCATTER] = "scatter",
  [CLEAVE_KERNEL_SOFTMAX] = "softmax",
  [CLEAVE_KERNEL_LAYER_NORM] = "layer-norm",
  [CLEAVE_KERNEL_REDUCE] = "reduce",
  [CLEAVE_KERNEL_RECURRENT] = "recurrent",
  [CLEAVE_KERNEL_ELEMENTWISE] = "elementwise",
  [CLEAVE_KERNEL_LOG_SOFTMAX] = "log-softmax",
  [CLEAVE_KERNEL_INSTANCE_NORM] = "instance-norm",
  [CLEAVE_KERNEL_LRN] = "lrn",
  [CLEAVE_KERNEL_ARG] = "arg",
  [CLEAVE_KERNEL_CHOOSE] = "choose",
  [CLEAVE_KERNEL_WINOGRAD] = "winograd",
};

/* The properties of an op. Sets of element types consist of CLEAVE_ELEMENT_BIT values. */
typedef struct
{
  guint operands[MAX_OPERANDS];
  guint kernels[CLEAVE_N_KERNELS]; /* for each kernel family: the set of types of operand 0 that the
                                      family can compute */
  guint later; /* bit i is set if some node needs opset i and i is larger than LAST_OPSET */
} Facts;

/* The functions below read the list of ops in ONNX's header. */

static int
compare_names (gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
  return g_strcmp0 (a, b);
}

/* Returns versions such as "1, 6, 13" by op name. */
static GTree *
read_versions (const char *header)
{
  GTree *versions = g_tree_new_full (compare_names, NULL, g_free, g_free);
  g_autoptr (GRegex) entry =
      g_regex_new ("class ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME\\(\\s*Onnx,\\s*([0-9]+),\\s*"
                   "([A-Za-z0-9]+)\\)",
                   0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  for (g_regex_match (entry, header, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *version = g_match_info_fetch (match, 1);
      char *op = g_match_info_fetch (match, 2);
      const char *before = g_tree_lookup (versions, op);

      if (g_ascii_strtoll (version, NULL, 10) > LAST_OPSET)
        g_free (op);
      else
        g_tree_replace (versions, op,
                        before == NULL ? g_strdup (version)
                                       : g_strdup_printf ("%s, %s", before, version));
    }
  return versions;
}

/* The functions below read the properties of an op record. */

static gboolean
is_accepted (const CleaveCall *call)
{
  g_autofree CleaveTensorType *results = g_new0 (CleaveTensorType, call->n_results);
  gpointer attrs = cleave_attrs_copy (call->op, call->attrs);
  CleaveCall asked = *call;
  gboolean good;

  asked.attrs = attrs;
  good = cleave_call_infer (&asked, attrs, results, NULL);
  cleave_attrs_free (call->op, attrs);
  return good;
}

/* Calls the type inference of the op with the element type `element` for one operand, and then for
 * all operands that have the same type as this operand. If the op accepts the types, adds `element`
 * to `facts`. */
static void
try_element (const CleaveCall *call,
             CleaveTensorType *types,
             guint operand,
             CleaveElement element,
             Facts *facts)
{
  CleaveElement old = call->operands[operand].element;

  for (guint all = 0; all < 2; all++)
    {
      CleaveCall changed = *call;

      memcpy (types, call->operands, (call->n_operands + call->n_results) * sizeof *types);
      for (guint i = 0; i < call->n_operands; i++)
        if (i == operand || (all && types[i].element == old))
          types[i].element = element;
      for (guint i = 0; i < call->n_results; i++)
        if (types[call->n_operands + i].element == old)
          types[call->n_operands + i].element = element;
      changed.operands = types;
      changed.results = types + call->n_operands;
      if (!is_accepted (&changed))
        continue;
      facts->operands[MIN (operand, MAX_OPERANDS - 1)] |= CLEAVE_ELEMENT_BIT (element);
      if (operand == 0)
        facts->kernels[call->op->kernel == NULL ? 0 : call->op->kernel (&changed)] |=
            CLEAVE_ELEMENT_BIT (element);
    }
}

static void
gather (const CleaveRandomOp *op, Facts *facts)
{
  for (guint32 seed = 0; seed < N_CUT_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_auto (CleaveNodeCall) node_call;
      const CleaveCall *call = cleave_node_call_init (&node_call, op->make (graph, rand));
      g_autofree CleaveTensorType *types =
          g_new (CleaveTensorType, call->n_operands + call->n_results);

      if (call->op->since != NULL)
        facts->later |= 1u << call->op->since (call);
      for (guint i = 0; i < call->n_operands; i++)
        for (guint e = CLEAVE_NONE + 1; e < CLEAVE_N_ELEMENTS; e++)
          if (cleave_call_has (call, i))
            try_element (call, types, i, (CleaveElement) e, facts);
    }
}

/* The functions below print the page. */

/* Appends short names of types, since the table is wide: "f32 f64 i8", or the name of a whole
 * class. */
static void
add_elements (GString *out, guint elements)
{
  static const struct
  {
    const char *name;
    guint elements;
  } classes[] = {
    { "all", ((1u << CLEAVE_N_ELEMENTS) - 1) & ~CLEAVE_ELEMENT_BIT (CLEAVE_NONE) },
    { "float", CLEAVE_ELEMENTS_FLOAT },
    { "signed", CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_INT16) |
                    CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64) },
    { "unsigned", CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16) |
                      CLEAVE_ELEMENT_BIT (CLEAVE_UINT32) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT64) },
  };
  const char *between = "";

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if ((elements & classes[i].elements) == classes[i].elements)
      {
        g_string_append_printf (out, "%s%s", between, classes[i].name);
        elements &= ~classes[i].elements;
        between = " ";
      }
  for (guint e = 0; e < CLEAVE_N_ELEMENTS; e++)
    if ((elements & CLEAVE_ELEMENT_BIT (e)) != 0)
      {
        g_string_append_printf (out, "%s%s", between, cleave_element_get_name ((CleaveElement) e));
        between = " ";
      }
}

/* Returns a text such as "X W B: float; indices: int32 int64". Operands with the same types are in
 * one group. */
static char *
describe_operands (const CleaveOp *op, const Facts *facts)
{
  GString *out = g_string_new (NULL);
  gboolean done[MAX_OPERANDS] = { FALSE };

  for (guint i = 0; i < MAX_OPERANDS; i++)
    {
      if (done[i] || facts->operands[i] == 0)
        continue;
      g_string_append (out, out->len == 0 ? "" : "; ");
      for (guint j = i; j < MAX_OPERANDS; j++)
        if (facts->operands[j] == facts->operands[i])
          {
            const char *name = cleave_op_operand_name (op, j);

            done[j] = TRUE;
            if (j == 0 || strcmp (name, cleave_op_operand_name (op, j - 1)) != 0)
              g_string_append_printf (out, "%s%s", j == i ? "" : " ", name);
          }
      g_string_append (out, ": ");
      add_elements (out, facts->operands[i]);
    }
  return g_string_free (out, FALSE);
}

/* Returns a text such as "conv (float32), depthwise (float32)". */
static char *
describe_kernels (const Facts *facts)
{
  GString *out = g_string_new (NULL);

  for (guint k = CLEAVE_KERNEL_REFERENCE + 1; k < CLEAVE_N_KERNELS; k++)
    if (facts->kernels[k] != 0)
      {
        g_assert_nonnull (kernels[k]);
        g_string_append_printf (out, "%s%s (", out->len == 0 ? "" : ", ", kernels[k]);
        add_elements (out, facts->kernels[k]);
        g_string_append_c (out, ')');
      }
  return g_string_free (out, FALSE);
}

/* Returns a text such as "1, 7, 10, 11, 19". */
static char *
describe_opsets (const char *known, const Facts *facts)
{
  GString *out = g_string_new (known);

  for (guint opset = LAST_OPSET + 1; opset < 32; opset++)
    if ((facts->later & 1u << opset) != 0)
      g_string_append_printf (out, "%s%u", out->len == 0 ? "" : ", ", opset);
  if (out->len == 0)
    g_string_append (out, "ours");
  return g_string_free (out, FALSE);
}

static gboolean
describe_dimension (gpointer key, gpointer data, gpointer out)
{
  const char *letter = g_str_equal (key, "*") ? "any" : key;
  const CutDimension *dimension = data;

  if (dimension->accepted > 0)
    g_string_append_printf (out, dimension->refused == 0 ? "%s%s" : "%s(%s)",
                            ((GString *) out)->len == 0 ? "" : " ", letter);
  return FALSE;
}

static void
print_op (const CleaveRandomOp *random, GTree *versions)
{
  const CleaveOp *op = cleave_op_lookup (random->op);
  g_autoptr (GTree) dimensions = cut_dimensions (random);
  g_autoptr (GString) splits = g_string_new (NULL);
  g_autofree char *types = NULL, *fast = NULL, *opsets = NULL;
  Facts facts = { 0 };

  gather (random, &facts);
  types = describe_operands (op, &facts);
  fast = describe_kernels (&facts);
  opsets = describe_opsets (g_tree_lookup (versions, random->op), &facts);
  g_tree_foreach (dimensions, describe_dimension, splits);
  printf ("| %s | %s | %s | %s | %s |\n", random->op, opsets, types,
          splits->len == 0 ? "no" : splits->str, *fast == '\0' ? "reference" : fast);
}

/* Prints the name and the opsets of an ONNX op that has no record. If `known` is TRUE, prints only
 * ops that the import handles in another way, such as by a rewrite. Otherwise, prints only ops that
 * the import refuses. */
static gboolean
print_rest (gpointer name, gpointer versions, gpointer known)
{
  const CleaveOp *op = cleave_op_lookup (name);

  if ((op == NULL || (op->flags & CLEAVE_OP_NOT_ONNX) != 0) &&
      (cleave_onnx_upgrade_knows (name) || cleave_onnx_is_sequence_op (name) ||
       cleave_onnx_is_text_op (name)) == GPOINTER_TO_INT (known))
    printf ("- %s: %s\n", (char *) name, (char *) versions);
  return FALSE;
}

/* Prints the ops and the forms of models that the import refuses, and what a user can do. */
static void
print_refusals (GTree *versions)
{
  printf ("\n## Not supported\n\n");
  g_tree_foreach (versions, print_rest, GINT_TO_POINTER (FALSE));
  printf ("\n| refused | what you can do |\n|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    printf ("| %s | %s |\n", refusals[i].what, refusals[i].remedy);
  printf ("\nThese messages of the importers name a form of a model that Cleave does not support. "
          "`…` stands for a name or a number:\n\n| message | what you can do |\n|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (refusal_messages); i++)
    printf ("| `%s` | %s |\n", refusal_messages[i].message, refusal_messages[i].remedy);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) ops = cut_ops ();
  g_autofree char *header = NULL;
  g_autoptr (GTree) versions = NULL;

  if (argc != 2 || !g_file_get_contents (argv[1], &header, NULL, NULL))
    return 1;
  versions = read_versions (header);
  printf (
      "Title: Operators\n\n"
      "# Operators\n\n"
      "This reference page lists every op. The program `operators` of the tests makes this page "
      "from the op records and\n%d random nodes of each op. The table has these columns:\n"
      "\n"
      "- *opsets*: the opsets up to %d in which ONNX's default domain changed the op, and later "
      "opsets with a form that the\n  op record supports. The importer also reads "
      "older forms: [ONNX](onnx.md#opsets-and-ops) lists the opsets.\n"
      "- *element types*: the types of each operand. \"float\" means float16, bfloat16, float32 "
      "and float64. Some combinations\n  of types are not legal. The column does not list constant "
      "operands of ONNX that Cleave stores as attributes.\n"
      "- *splits along*: dimensions of result 0, by the letters of the layout if the op has a "
      "layout. A dimension in\n  parentheses splits only under a condition. [Splittable "
      "dimensions](split-table.md) gives the most frequent reason\n  of a refusal.\n"
      "- *fast kernel*: the family that serves the op, with its types. For all other types, the "
      "reference kernel runs the op,\n  with the same bits.\n"
      "\n"
      "| op | opsets | element types | splits along | fast kernel |\n|---|---|---|---|---|\n",
      N_CUT_SEEDS, LAST_OPSET);
  for (guint i = 0; i < ops->len; i++)
    print_op (g_ptr_array_index (ops, i), versions);
  printf (
      "\n## Imported as other ops\n\n"
      "The importer replaces these ops by other ops. If the shapes of a node depend on data, the "
      "node is\n[dynamic](onnx.md#the-dynamic-part): `cleave run` runs a dynamic node, and a "
      "written file contains it, but no split\nchanges it.\n\n");
  g_tree_foreach (versions, print_rest, GINT_TO_POINTER (TRUE));
  print_refusals (versions);
  return 0;
}
