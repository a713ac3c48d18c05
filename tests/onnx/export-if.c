/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Wheres that select between whole values are exported as an If, which is imported as Wheres
 * again. */

#include "test.h"

#include "../../lib/onnx/wire.h"
#include "interpret.h"
#include "models.h"

/* Prints a line "Op(a,b)->c" for each node. The branches of an If follow its line, each with its
 * outputs. */
static void
list_nodes (const Onnx__GraphProto *graph, const char *indent, GString *out)
{
  g_autofree char *deeper = g_strconcat (indent, "  ", NULL);

  for (size_t i = 0; i < graph->n_node; i++)
    {
      const Onnx__NodeProto *node = graph->node[i];
      g_autofree char *reads = NULL, *makes = NULL;
      g_auto (GStrv) inputs = g_new0 (char *, node->n_input + 1);
      g_auto (GStrv) outputs = g_new0 (char *, node->n_output + 1);

      for (size_t k = 0; k < node->n_input; k++)
        inputs[k] = g_strdup (node->input[k]);
      for (size_t k = 0; k < node->n_output; k++)
        outputs[k] = g_strdup (node->output[k]);
      reads = g_strjoinv (",", inputs);
      makes = g_strjoinv (",", outputs);
      g_string_append_printf (out, "%s%s(%s)->%s\n", indent, node->op_type, reads, makes);
      for (size_t k = 0; k < node->n_attribute; k++)
        if (node->attribute[k]->g != NULL)
          {
            const Onnx__GraphProto *branch = node->attribute[k]->g;

            g_string_append_printf (out, "%s%s:", indent, node->attribute[k]->name);
            for (size_t o = 0; o < branch->n_output; o++)
              g_string_append_printf (out, " %s", branch->output[o]->name);
            g_string_append_c (out, '\n');
            list_nodes (branch, deeper, out);
          }
    }
}

static GPtrArray *
interpret (const CleaveGraph *graph, guint seed)
{
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs, cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, i)),
                                      seed + i, TRUE));
  return cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
}

/* Exports the graph `text`. Asserts that the file has the nodes `expected`. Also asserts that the
 * imported file computes the same bits as `text`, for both values of the condition. */
static void
assert_written (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error), again = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Model) model = NULL;
  g_autoptr (GString) nodes = g_string_new (NULL);

  cleave_assert_no_error (error);
  bytes = cleave_onnx_serialize (graph, &error);
  cleave_assert_no_error (error);
  model = cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", &error);
  cleave_assert_no_error (error);
  list_nodes (model->graph, "", nodes);
  ck_assert_str_eq (nodes->str, expected);
  again = cleave_onnx_parse (bytes, NULL, NULL, &error);
  cleave_assert_no_error (error);
  for (guint seed = 0; seed < 4; seed++)
    {
      g_autoptr (GPtrArray) one = interpret (graph, seed), two = interpret (again, seed);

      for (guint i = 0; i < one->len; i++)
        ck_assert_msg (cleave_tensor_equal (one->pdata[i], two->pdata[i]), "output %u of\n%s", i,
                       nodes->str);
    }
}

/* Two Wheres become one If. The Tanh stays outside the branches, since a node outside the If also
 * reads its result. */
START_TEST (each_side_becomes_a_branch)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%t = Tanh %x\n"
                  "%m = MatMul %t, %w\n"
                  "%a = Relu %m\n"
                  "%b = Neg %x\n"
                  "%y = Where %q, %a, %b\n"
                  "%z = Where %q, %m, %t\n"
                  "%o = Add %z, %t\n"
                  "output %y\n"
                  "output %o\n",
                  "Tanh(x)->t\n"
                  "If(q)->y,z\n"
                  "then_branch: a m\n"
                  "  MatMul(t,w)->m\n"
                  "  Relu(m)->a\n"
                  "else_branch: b z.else\n"
                  "  Neg(x)->b\n"
                  "  Identity(t)->z.else\n"
                  "Add(z,t)->o\n");
}
END_TEST

/* A branch returns a value of the outer graph through an Identity, since ONNX requires that a node
 * of the branch computes each output. A value that is two outputs of a branch also passes through
 * an Identity. */
START_TEST (an_outer_value_is_passed_through_a_branch)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%m = MatMul %x, %w\n"
                  "%y = Where %q, %x, %m\n"
                  "%z = Where %q, %x, %m\n"
                  "output %y\n"
                  "output %z\n",
                  "If(q)->y,z\n"
                  "then_branch: y.then z.then\n"
                  "  Identity(x)->y.then\n"
                  "  Identity(x)->z.then\n"
                  "else_branch: m z.else\n"
                  "  MatMul(x,w)->m\n"
                  "  Identity(m)->z.else\n");
}
END_TEST

START_TEST (cheap_nodes_stay_outside_of_the_branches)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%a = Relu %x\n"
                  "%b = Neg %x\n"
                  "%y = Where %q, %a, %b\n"
                  "output %y\n",
                  "Relu(x)->a\n"
                  "Neg(x)->b\n"
                  "Where(q,a,b)->y\n");
}
END_TEST

START_TEST (nodes_that_both_sides_or_outputs_read_stay_outside)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%m = MatMul %x, %w\n"
                  "%n = MatMul %w, %x\n"
                  "%a = Relu %m\n"
                  "%b = Neg %m\n"
                  "%y = Where %q, %a, %b\n"
                  "%z = Where %q, %n, %x\n"
                  "output %y\n"
                  "output %z\n"
                  "output %n\n",
                  "MatMul(x,w)->m\n"
                  "MatMul(w,x)->n\n"
                  "Relu(m)->a\n"
                  "Neg(m)->b\n"
                  "Where(q,a,b)->y\n"
                  "Where(q,n,x)->z\n");
}
END_TEST

/* Two Wheres that depend on each other stay Wheres, since no position in the file suits one If for
 * both Wheres. */
START_TEST (wheres_that_depend_on_each_other_stay)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%m = MatMul %x, %w\n"
                  "%y = Where %q, %m, %x\n"
                  "%n = MatMul %y, %w\n"
                  "%z = Where %q, %x, %n\n"
                  "output %z\n",
                  "MatMul(x,w)->m\n"
                  "Where(q,m,x)->y\n"
                  "MatMul(y,w)->n\n"
                  "Where(q,x,n)->z\n");
}
END_TEST

START_TEST (wheres_of_two_conditions_that_depend_on_each_other_stay)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%p = Input : bool scalar\n"
                  "%m = MatMul %x, %w\n"
                  "%n = MatMul %w, %x\n"
                  "%a = Where %q, %m, %x\n"
                  "%b = Where %p, %n, %x\n"
                  "%c = Add %a, %w\n"
                  "%d = Add %b, %w\n"
                  "%e = Where %p, %c, %x\n"
                  "%f = Where %q, %d, %x\n"
                  "output %e\n"
                  "output %f\n",
                  "MatMul(x,w)->m\n"
                  "MatMul(w,x)->n\n"
                  "Where(q,m,x)->a\n"
                  "Where(p,n,x)->b\n"
                  "Add(a,w)->c\n"
                  "Add(b,w)->d\n"
                  "Where(p,c,x)->e\n"
                  "Where(q,d,x)->f\n");
}
END_TEST

/* A value of a branch depends on another Where. That Where becomes an If of its own before the
 * first If, not inside the branch. */
START_TEST (a_where_inside_a_branch_is_computed_before_the_if)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%p = Input : bool scalar\n"
                  "%m = MatMul %x, %w\n"
                  "%a = Where %p, %m, %x\n"
                  "%n = MatMul %a, %w\n"
                  "%y = Where %q, %n, %x\n"
                  "output %y\n",
                  "If(p)->a\n"
                  "then_branch: m\n"
                  "  MatMul(x,w)->m\n"
                  "else_branch: a.else\n"
                  "  Identity(x)->a.else\n"
                  "If(q)->y\n"
                  "then_branch: n\n"
                  "  MatMul(a,w)->n\n"
                  "else_branch: y.else\n"
                  "  Identity(x)->y.else\n");
}
END_TEST

START_TEST (a_condition_with_rows_is_not_exported_as_an_if)
{
  assert_written ("%x = Input : float32 2x2\n"
                  "%q = Input : bool 1\n"
                  "%w = Constant seed=1 : float32 2x2\n"
                  "%r = Input : bool 2x1\n"
                  "%m = MatMul %x, %w\n"
                  "%y = Where %r, %m, %x\n"
                  "%n = MatMul %w, %x\n"
                  "%s = Slice %n 0:1,0:2\n"
                  "%z = Where %q, %s, %x\n"
                  "output %y\n"
                  "output %z\n",
                  "MatMul(x,w)->m\n"
                  "Where(r,m,x)->y\n"
                  "MatMul(w,x)->n\n"
                  "Slice(n,s.starts,s.ends,,s.steps)->s\n"
                  "Where(q,s,x)->z\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "export-if", each_side_becomes_a_branch, an_outer_value_is_passed_through_a_branch,
      cheap_nodes_stay_outside_of_the_branches, nodes_that_both_sides_or_outputs_read_stay_outside,
      wheres_that_depend_on_each_other_stay,
      wheres_of_two_conditions_that_depend_on_each_other_stay,
      a_where_inside_a_branch_is_computed_before_the_if,
      a_condition_with_rows_is_not_exported_as_an_if, NULL);
}

CLEAVE_TEST_SUITE ("export-if", add_tests)
