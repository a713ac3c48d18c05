/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Einsum, whose equation labels the dimensions of operands and result. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

static const double steps[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static const struct
{
  const char *equation;
  CleaveShape a, b; /* b has rank 0 if the equation has one operand */
  double y[8];
} cases[] = {
  { "ij->ji", { 2, { 2, 3 } }, { 0, { 0 } }, { 1, 4, 2, 5, 3, 6 } },
  { "ij", { 2, { 2, 3 } }, { 0, { 0 } }, { 1, 2, 3, 4, 5, 6 } },
  { "ba", { 2, { 2, 3 } }, { 0, { 0 } }, { 1, 4, 2, 5, 3, 6 } },
  { "ij->i", { 2, { 2, 3 } }, { 0, { 0 } }, { 6, 15 } },
  { "ij ->", { 2, { 2, 3 } }, { 0, { 0 } }, { 21 } },
  { "ii->i", { 2, { 2, 2 } }, { 0, { 0 } }, { 1, 4 } },
  { "ii", { 2, { 2, 2 } }, { 0, { 0 } }, { 5 } },
  { "...ii->...i", { 3, { 2, 2, 2 } }, { 0, { 0 } }, { 1, 4, 5, 8 } },
  { "...->...", { 1, { 3 } }, { 0, { 0 } }, { 1, 2, 3 } },
  { "i,i->i", { 1, { 3 } }, { 1, { 3 } }, { 1, 4, 9 } },
  { "i,i", { 1, { 3 } }, { 1, { 3 } }, { 14 } },
  { "i,j->ij", { 1, { 2 } }, { 1, { 3 } }, { 1, 2, 3, 2, 4, 6 } },
  { "ij, jk", { 2, { 2, 2 } }, { 2, { 2, 2 } }, { 7, 10, 15, 22 } },
  { "ik,jk->ji", { 2, { 2, 2 } }, { 2, { 2, 2 } }, { 5, 11, 11, 25 } },
  { "bij,bjk->bik", { 3, { 2, 1, 2 } }, { 3, { 2, 2, 1 } }, { 5, 25 } },
  { "...i,...i->...", { 2, { 2, 2 } }, { 1, { 2 } }, { 5, 11 } },
  { "i...,i...", { 2, { 2, 2 } }, { 2, { 2, 1 } }, { 7, 10 } },
  { "aA->Aa", { 2, { 2, 2 } }, { 0, { 0 } }, { 1, 3, 2, 4 } },
  { "ij,i->i", { 2, { 1, 3 } }, { 1, { 2 } }, { 6, 12 } },
};

START_TEST (the_equation_selects_the_sums)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_BFLOAT16,
                                            CLEAVE_INT8, CLEAVE_UINT32 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], cases[_i].a, steps);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (elements[e], cases[_i].b, steps);
      CleaveEinsumAttrs attrs = { (char *) cases[_i].equation };
      g_autoptr (CleaveTensor) y = cleave_apply ("Einsum", (CleaveTensor *[]){ a, b },
                                                 cases[_i].b.rank == 0 ? 1 : 2, &attrs);

      cleave_apply_check (cases[_i].equation, y, cases[_i].y, 0);
    }
}
END_TEST

START_TEST (long_rows_and_empty_sums)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1000),
                   empty = CLEAVE_TYPE (CLEAVE_INT32, 3, 0);
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&type, NULL),
                           none = cleave_tensor_new (&empty, NULL);
  CleaveEinsumAttrs square = { (char *) "i,i->i" }, sum = { (char *) "ij->i" };
  g_autoptr (CleaveTensor) y = NULL, zeros = NULL;
  static const double nothing[] = { 0, 0, 0 };

  for (int i = 0; i < 1000; i++)
    ((float *) cleave_tensor_get_mutable_data (x))[i] = (float) i;
  y = cleave_apply ("Einsum", (CleaveTensor *[]){ x, x }, 2, &square);
  for (int i = 0; i < 1000; i++)
    ck_assert_double_eq (cleave_apply_at (y, i), (double) i * i);
  zeros = cleave_apply ("Einsum", &none, 1, &sum);
  cleave_apply_check ("ij->i", zeros, nothing, 0);
}
END_TEST

/* An Einsum multiplies three operands: (1, 2) * (3, 4) * (10, 20). */
START_TEST (any_number_of_operands_is_allowed)
{
  static const double a[] = { 1, 2 }, b[] = { 3, 4 }, c[] = { 10, 20 }, y[] = { 30 + 160 };
  g_autoptr (CleaveTensor) one = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (2), a);
  g_autoptr (CleaveTensor) two = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (2), b);
  g_autoptr (CleaveTensor) three = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (2), c);
  CleaveEinsumAttrs attrs = { (char *) "i,i,i->" };
  g_autoptr (CleaveTensor) got =
      cleave_apply ("Einsum", (CleaveTensor *[]){ one, two, three }, 3, &attrs);

  cleave_apply_check ("i,i,i->", got, y, 0);
}
END_TEST

START_TEST (labels_of_the_result_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (4, 5, 6));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (1, 6, 7));
  CleaveResult *c = cleave_case_input (graph, "c", CLEAVE_SHAPE (5, 5));
  CleaveResult *y = cleave_test_add (graph, "Einsum", NULL, (CleaveResult *[]){ a, b }, 2,
                                     &(CleaveEinsumAttrs){ "...ij, ...jk" }, NULL);

  cleave_assert_chunk (y, "1:3,2:5,3:4", "1:3,2:5,0:6 0:1,0:6,3:4 equation=...ij,...jk->...ik");
  y = cleave_test_add (graph, "Einsum", NULL, &c, 1, &(CleaveEinsumAttrs){ "ii->i" }, NULL);
  cleave_assert_chunk (y, "1:4", "1:4,1:4 equation=ii->i");
  y = cleave_test_add (graph, "Einsum", NULL, &c, 1, &(CleaveEinsumAttrs){ "ij->j" }, NULL);
  cleave_assert_chunk (y, "1:4", "0:5,1:4 equation=ij->j");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  static const struct
  {
    const char *equation, *message;
  } wrong[] = {
    { "ij,jk->ik", "equation does not have 1 operands, at ',jk->ik'" },
    { "ijk->i", "operand 0 has rank 2, but 3 labels in equation" },
    { "ii->i", "a label of equation has both 2 and 3 elements" },
    { "ij->ik", "equation has a label that is only in its result" },
    { "ij->ii", "equation has a label twice in its result" },
    { "ij->i,j", "equation ends in ',j'" },
    { "i1->i", "operand 0 has rank 2, but 1 labels in equation" },
    { "i..->i", "an ellipsis of equation does not fit its operand: '..->i'" },
    { "abcdefghi->a", "a term of equation has too many labels" },
    { NULL, "equation is missing" },
  };

  for (guint k = 0; k < G_N_ELEMENTS (wrong); k++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3));
      g_autofree char *message = g_strdup_printf ("Einsum 'e': %s", wrong[k].message);
      g_autoptr (GError) error = NULL;

      cleave_assert_infers (cleave_test_add (graph, "Einsum", "e", &x, 1,
                                             &(CleaveEinsumAttrs){ (char *) wrong[k].equation },
                                             &error),
                            &error, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("table");

  tcase_add_loop_test (tables, the_equation_selects_the_sums, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "einsum", long_rows_and_empty_sums, any_number_of_operands_is_allowed,
                   labels_of_the_result_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("einsum", add_tests)
