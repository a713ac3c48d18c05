/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products and determinants. */

#include "trial.h"

#include "trial-ops.h"

/* Picks the type `b` of a second factor for a matrix of type `a`: its rank and batch dimensions.
 * Sets `y` to the type of the product, and `k` to the length of the sums. Returns FALSE if the
 * product is too much work. */
static gboolean
pick_factor (Trial *trial, const TrialType *a, TrialType *b, TrialType *y, gint64 *k)
{
  gint64 n = chance (trial, 20) ? 1 + pick (trial, 64) : pick_extent (trial);
  guint batch = a->rank > 2 ? (guint) pick (trial, a->rank - 1) : 0;
  TrialType matrix = { y->element, 0, { 0 } }, batches = { 0, 0, { 0 } };

  *k = a->dim[a->rank - 1];
  if (chance (trial, 6) && a->rank > 1) /* the second factor is a vector */
    {
      *b = type_make (b->element, 1, *k);
      *y = *a;
      y->element = matrix.element;
      y->rank--;
      return TRUE;
    }
  if (batch == 0 && chance (trial, 8))
    {
      batches = type_make (0, 1, pick_extent (trial));
      batch = 1;
    }
  else
    for (guint i = 0; i < batch; i++)
      batches.dim[i] = chance (trial, 35) ? 1 : a->dim[a->rank - 2 - batch + i];
  batches.rank = batch;
  *b = (TrialType){ b->element, batch + 2, { 0 } };
  for (guint i = 0; i < batch; i++)
    b->dim[i] = batches.dim[i];
  b->dim[batch] = *k;
  b->dim[batch + 1] = n;
  for (guint i = 0; i + 2 < a->rank; i++)
    matrix.dim[matrix.rank++] = a->dim[i];
  if (!trial_broadcast (&matrix, &batches))
    return FALSE;
  if (a->rank > 1)
    matrix.dim[matrix.rank++] = a->dim[a->rank - 2];
  if (matrix.rank >= TRIAL_MAX_RANK)
    return FALSE;
  matrix.dim[matrix.rank++] = n;
  *y = matrix;
  return TRUE;
}

static void
grow_matmul (Trial *trial, const char *op)
{
  guint a = use_any (trial, FLOATS | WIDE, 1, 5), b;
  TrialType type = type_of (trial, a), other = { type.element, 0, { 0 } }, y = type;
  gint64 k;

  if (!need (trial, pick_factor (trial, &type, &other, &y, &k)))
    return;
  b = use_type (trial, &other);
  add_node (trial, op);
  add_in (trial, a);
  add_in (trial, b);
  add_out (trial, &y);
  if (!trial->failed)
    add_work (trial, type_n_elements (&y) * k);
}

static void
grow_matmul_integer (Trial *trial, const char *op)
{
  guint a = use_any (trial, BYTES, 1, 5), b, zeros[2] = { 0, 0 };
  TrialType type = type_of (trial, a), other = { pick_element (trial, BYTES), 0, { 0 } };
  TrialType y = { I32, 0, { 0 } };
  gint64 k;

  if (!need (trial, pick_factor (trial, &type, &other, &y, &k)))
    return;
  y.element = I32;
  b = use_new (trial, &other, MODE_WIDE);
  if (chance (trial, 60))
    {
      TrialType zero = type_make (type.element, 0);

      if (type.rank == 2 && chance (trial, 30))
        zero = type_make (type.element, 1, type.dim[0]);
      zeros[0] = use_new (trial, &zero, MODE_ANY);
    }
  if (chance (trial, 60))
    {
      TrialType zero = type_make (other.element, 0);

      if (other.rank == 2 && chance (trial, 40))
        zero = type_make (other.element, 1, other.dim[1]);
      zeros[1] = use_new (trial, &zero, MODE_ANY);
    }
  add_node (trial, op);
  add_in (trial, a);
  add_in (trial, b);
  for (guint i = 0; i < 2; i++)
    add_in (trial, zeros[i]);
  add_out (trial, &y);
  if (!trial->failed)
    add_work (trial, type_n_elements (&y) * k);
}

static void
grow_qlinear_matmul (Trial *trial, const char *op)
{
  guint a = use_any (trial, BYTES, 1, 4), b, scales[3], zeros[3];
  TrialType type = type_of (trial, a), other = { pick_element (trial, BYTES), 0, { 0 } };
  TrialType y = { 0, 0, { 0 } };
  gint64 k;

  if (!need (trial, pick_factor (trial, &type, &other, &y, &k)))
    return;
  y.element = pick_element (trial, BYTES);
  b = use_new (trial, &other, MODE_WIDE);
  for (guint i = 0; i < 3; i++)
    {
      guint element = (guint[]){ type.element, other.element, y.element }[i];
      TrialType scale = type_make (F32, 0), zero = type_make (element, 0);

      if (i == 1 && other.rank == 2 && chance (trial, 30))
        {
          scale = type_make (F32, 1, other.dim[1]);
          zero = type_make (element, 1, other.dim[1]);
        }
      scales[i] = use_new (trial, &scale, MODE_POSITIVE);
      zeros[i] = use_new (trial, &zero, MODE_ANY);
    }
  add_node (trial, op);
  for (guint i = 0; i < 3; i++)
    {
      if (i < 2)
        add_in (trial, i == 0 ? a : b);
      add_in (trial, scales[i]);
      add_in (trial, zeros[i]);
    }
  add_out (trial, &y);
  if (!trial->failed)
    add_work (trial, type_n_elements (&y) * k);
}

/* Picks a scalar factor, such as the attribute alpha of Gemm. For integer types, the factor is an
   integer.
    */
static double
pick_factor_of (Trial *trial, guint element)
{
  return SET (element) & FLOATS ? pick_real (trial, 0, 2) : (double) pick (trial, 3);
}

static void
grow_gemm (Trial *trial, const char *op)
{
  guint a = use_any (trial, FLOATS | WIDE, 2, 2), b, c = 0;
  TrialType type = type_of (trial, a), other = type, y = type, add;
  gboolean ta = chance (trial, 40), tb = chance (trial, 40);
  gint64 m = type.dim[ta], k = type.dim[!ta], n = pick_extent (trial);

  other.dim[tb] = k;
  other.dim[!tb] = n;
  y.dim[0] = m;
  y.dim[1] = n;
  b = use_type (trial, &other);
  if (chance (trial, 70))
    {
      add = y;
      add.rank = (guint) pick (trial, 3);
      for (guint d = 0; d < add.rank; d++)
        add.dim[d] = chance (trial, 40) ? 1 : y.dim[2 - add.rank + d];
      c = use_type (trial, &add);
    }
  add_node (trial, op);
  add_in (trial, a);
  add_in (trial, b);
  if (c != 0)
    add_in (trial, c);
  if (ta)
    set_int (trial, "transA", 1);
  if (tb)
    set_int (trial, "transB", 1);
  if (chance (trial, 40))
    set_float (trial, "alpha", pick_factor_of (trial, type.element));
  if (chance (trial, 40))
    set_float (trial, "beta", pick_factor_of (trial, type.element));
  add_out (trial, &y);
  if (!trial->failed)
    add_work (trial, m * k * n);
}

/* Adds an Einsum with random letters for up to three operands. The result has some of the letters,
 * in any order. */
static void
grow_einsum (Trial *trial, const char *op)
{
  static const char letters[] = "abcdefg";
  gint64 extent[7] = { 0 }, work = 1;
  guint element = pick_element (trial, FLOATS | WIDE), n = 1 + pick (trial, 3);
  GString *equation = g_string_new (NULL);
  guint values[3], order[7], n_used = 0;
  gboolean used[7] = { FALSE };
  TrialType y = { element, 0, { 0 } };

  for (guint l = 0; l < 7; l++)
    extent[l] = pick_extent (trial) % 10;
  for (guint i = 0; i < n; i++)
    {
      TrialType type = { element, (guint) pick (trial, 5), { 0 } };

      g_string_append (equation, i > 0 ? "," : "");
      for (guint d = 0; d < type.rank; d++)
        {
          guint l = pick (trial, 7);

          g_string_append_c (equation, letters[l]);
          type.dim[d] = extent[l];
          if (!used[l])
            {
              order[n_used++] = l;
              work *= MAX (extent[l], 1);
            }
          used[l] = TRUE;
        }
      values[i] = use_type (trial, &type);
    }
  g_string_append (equation, "->");
  for (guint i = 0; i < n_used; i++)
    {
      guint j = i + (guint) pick (trial, n_used - i), l = order[j];

      order[j] = order[i];
      if (chance (trial, 40) || y.rank >= 6)
        continue;
      g_string_append_c (equation, letters[l]);
      y.dim[y.rank++] = extent[l];
    }
  g_ptr_array_add (trial->memory, equation->str);
  add_node (trial, op);
  for (guint i = 0; i < n; i++)
    add_in (trial, values[i]);
  set_string (trial, "equation", g_string_free (equation, FALSE));
  add_out (trial, &y);
  add_work (trial, work);
}

static void
grow_det (Trial *trial, const char *op)
{
  TrialType type = pick_type (trial, FLOATS, 0, 3), result = type;
  gint64 n = 1 + pick (trial, 6);
  guint x;

  result = type;
  type.dim[type.rank++] = n;
  type.dim[type.rank++] = n;
  x = use_type (trial, &type);
  add_node (trial, op);
  add_in (trial, x);
  add_out (trial, &result);
}

const TrialOp trial_products[] = {
  { "MatMul", grow_matmul, 20 },
  { "Gemm", grow_gemm, 12 },
  { "MatMulInteger", grow_matmul_integer, 5 },
  { "QLinearMatMul", grow_qlinear_matmul, 5 },
  { "Einsum", grow_einsum, 5 },
  { "Det", grow_det, 2 },
  { NULL, NULL, 0 },
};
