/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Einsum: each element of the result is a sum of products, which an equation of labels defines. The
 * dimensions of the result can be split. The summed dimensions cannot be split.
 *
 * Order of operations: loops over the summed labels, in the order in which they first appear in the
 * equation, the last one innermost. For two operands of floats, a sum begins with +0 and adds one
 * fused multiply-add for each product, as MatMul does (products.h). In all other cases, each
 * product is computed from the first operand to the last, then added; floats are computed in double
 * and rounded once, integers wrap around.
 *
 * Over 400 lines: this file has one op, with the parser of its equation. */

#include <string.h>

#include "../ir/op.h"
#include "einsum.h"
#include "elementwise-math.h"
#include "lines.h"
#include "products.h"

/* The functions below bring an equation to its normal form: no spaces, and an explicit result. */

static gboolean
is_label (char c)
{
  return g_ascii_isalpha (c);
}

/* Appends the implicit result: the labels that occur once, in alphabetical order. "ij,jk" becomes
 * "ij,jk->ik". */
static void
add_result (GString *text)
{
  gboolean ellipsis = strstr (text->str, "...") != NULL;
  gsize n = text->len;

  g_string_append (text, ellipsis ? "->..." : "->");
  for (char c = 'A'; c <= 'z'; c++)
    {
      const char *first = memchr (text->str, c, n);

      if (is_label (c) && first != NULL &&
          memchr (first + 1, c, n - (gsize) (first + 1 - text->str)) == NULL)
        g_string_append_c (text, c);
    }
}

static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveEinsumAttrs *a = attrs;
  g_autoptr (GString) text = g_string_new (NULL);

  if (a->equation == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "equation is missing");
  for (const char *c = a->equation; *c != '\0'; c++)
    if (*c != ' ')
      g_string_append_c (text, *c);
  if (strstr (text->str, "->") == NULL)
    add_result (text);
  g_free (a->equation);
  a->equation = g_string_free (g_steal_pointer (&text), FALSE);
  return TRUE;
}

/* The functions below parse the equation. They allocate nothing, since kernels parse the equation,
 * too. */

/* Parses one term of the equation into `term`, and moves `text` to the end of the term: a comma, an
 * arrow or the end of the equation. An ellipsis stands for `n_ellipsis` dimensions if `rank` is
 * NULL. If `rank` is not NULL, an ellipsis stands for the dimensions of an operand of rank `*rank`
 * that have no letter. */
static gboolean
read_term (const char **text, guint n_ellipsis, const guint *rank, CleaveTerm *term, GError **error)
{
  guint n_letters = 0;

  for (const char *c = *text; is_label (*c) || *c == '.'; c++)
    n_letters += is_label (*c) ? 1 : 0;
  if (rank != NULL)
    n_ellipsis = *rank > n_letters ? *rank - n_letters : 0;
  term->rank = 0;
  for (; is_label (**text) || **text == '.'; (*text)++)
    if (**text != '.')
      {
        if (term->rank == CLEAVE_MAX_RANK)
          return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                              "a term of equation has too many labels");
        term->label[term->rank++] =
            (guint8) (**text >= 'a' ? **text - 'a' + CLEAVE_N_LETTERS / 2 : **text - 'A');
      }
    else
      {
        if (strncmp (*text, "...", 3) != 0 || term->rank + n_ellipsis > CLEAVE_MAX_RANK)
          return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                              "an ellipsis of equation does not fit its operand: '%s'", *text);
        for (guint i = n_ellipsis; i-- > 0;)
          term->label[term->rank++] = (guint8) (CLEAVE_N_LETTERS + i);
        *text += 2;
      }
  return TRUE;
}

/* Sets the extents of the labels of an operand. Fails if a label has two different extents other
 * than 1. Dimensions of extent 1 are broadcast. */
static gboolean
fit_extents (CleaveEquation *e, const CleaveTerm *term, const CleaveShape *shape, GError **error)
{
  for (guint d = 0; d < term->rank; d++)
    {
      gint64 *extent = &e->extent[term->label[d]];

      if (term->label[d] >= CLEAVE_N_LETTERS)
        e->n_ellipsis = MAX (e->n_ellipsis, term->label[d] - CLEAVE_N_LETTERS + 1u);
      if (*extent == -1 || *extent == 1)
        *extent = shape->dim[d];
      else if (shape->dim[d] != *extent && shape->dim[d] != 1)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "a label of equation has both %" G_GINT64_FORMAT
                            " and %" G_GINT64_FORMAT " elements",
                            *extent, shape->dim[d]);
    }
  return TRUE;
}

static gboolean
read_operands (CleaveEquation *e,
               const char **text,
               const CleaveTensorType *operands,
               guint n_operands,
               GError **error)
{
  for (guint k = 0; k < n_operands; k++)
    {
      const CleaveShape *shape = &operands[k].shape;
      CleaveTerm *term = &e->operands[k];

      if (!read_term (text, 0, &shape->rank, term, error))
        return FALSE;
      if (term->rank != shape->rank)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "operand %u has rank %u, but %u labels in equation", k, shape->rank,
                            term->rank);
      if (!fit_extents (e, term, shape, error))
        return FALSE;
      if (strncmp (*text, k + 1 < n_operands ? "," : "->", k + 1 < n_operands ? 1 : 2) != 0)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "equation does not have %u operands, at '%s'", n_operands, *text);
      *text += k + 1 < n_operands ? 1 : 2;
    }
  return TRUE;
}

/* Checks that each label of the result occurs in the result once and occurs in an operand. Marks
 * all other labels as summed. */
static gboolean
sort_labels (CleaveEquation *e, guint n_operands, GError **error)
{
  gboolean done[CLEAVE_MAX_LABELS] = { FALSE };

  for (guint d = 0; d < e->result.rank; d++)
    {
      guint8 label = e->result.label[d];

      if (e->extent[label] == -1 || done[label])
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            done[label] ? "equation has a label twice in its result"
                                        : "equation has a label that is only in its result");
      done[label] = TRUE;
    }
  for (guint k = 0; k < n_operands; k++)
    for (guint d = 0; d < e->operands[k].rank; d++)
      if (!done[e->operands[k].label[d]])
        {
          done[e->operands[k].label[d]] = TRUE;
          e->summed[e->n_summed++] = e->operands[k].label[d];
        }
  return TRUE;
}

gboolean
cleave_equation_read (CleaveEquation *e, const CleaveCall *call, GError **error)
{
  const CleaveEinsumAttrs *a = call->attrs;
  const char *text = a->equation;

  e->n_ellipsis = e->n_summed = 0;
  for (guint l = 0; l < CLEAVE_MAX_LABELS; l++)
    e->extent[l] = -1;
  if (!read_operands (e, &text, call->operands, call->n_operands, error) ||
      !read_term (&text, e->n_ellipsis, NULL, &e->result, error))
    return FALSE;
  if (*text != '\0')
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "equation ends in '%s'", text);
  return sort_labels (e, call->n_operands, error);
}

/* The functions below belong to the record of Einsum. */

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveEquation e;

  if (call->n_operands > CLEAVE_EINSUM_OPERANDS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "takes up to %d operands, not %u",
                        CLEAVE_EINSUM_OPERANDS, call->n_operands);
  if (!cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error))
    return FALSE;
  for (guint k = 1; k < call->n_operands; k++)
    if (!cleave_call_check_same_element (call, 0, k, error))
      return FALSE;
  if (!cleave_equation_read (&e, call, error))
    return FALSE;
  results[0] = CLEAVE_SCALAR (call->operands[0].element);
  results[0].shape.rank = e.result.rank;
  for (guint d = 0; d < e.result.rank; d++)
    results[0].shape.dim[d] = e.extent[e.result.label[d]];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;
  CleaveEquation e;

  cleave_equation_read (&e, call, NULL);
  for (guint d = 0; d < own->rank; d++)
    {
      guint8 label = e.operands[operand].label[d];

      map[d] = cleave_dim_map_whole (own->dim[d]);
      for (guint r = 0; r < e.result.rank && own->dim[d] == e.extent[label]; r++)
        if (e.result.label[r] == label)
          map[d] = cleave_dim_map_same (r);
    }
}

/* Returns the number of multiply-accumulates; G_MAXINT64 if the number is larger. */
static gint64
macs (const CleaveCall *call)
{
  CleaveEquation e;
  gint64 n = MAX (call->n_operands, 2) - 1;

  cleave_equation_read (&e, call, NULL);
  for (guint l = 0; l < CLEAVE_MAX_LABELS; l++)
    if (e.extent[l] != -1)
      n = cleave_saturated_mul (n, e.extent[l]);
  return n;
}

/* The code below is the reference kernel of Einsum. */

/* A nest of loops over some labels, the last label innermost, and the stride of each label in each
 * operand. */
typedef struct
{
  guint n;
  gint64 extent[CLEAVE_MAX_LABELS], index[CLEAVE_MAX_LABELS];
  gint64 stride[CLEAVE_MAX_LABELS][CLEAVE_EINSUM_OPERANDS];
} Loop;

typedef struct
{
  const CleaveView *operands;
  guint n_operands;
  Loop rows, sums; /* `rows`: loops over the labels of the result except the last label; `sums`:
                    * loops over the summed labels */
  gint64 step[CLEAVE_EINSUM_OPERANDS]; /* stride of the last label of the result in each operand */
  gint64 offset[CLEAVE_EINSUM_OPERANDS];
  gboolean empty; /* whether a summed label has extent 0, so that each sum is 0 */
} Work;

static void
loop_add (Loop *loop, const CleaveEquation *e, guint8 label, const Work *work)
{
  guint at = loop->n++;

  loop->extent[at] = e->extent[label];
  loop->index[at] = 0;
  for (guint k = 0; k < work->n_operands; k++)
    {
      loop->stride[at][k] = 0;
      for (guint d = 0; d < e->operands[k].rank; d++)
        if (e->operands[k].label[d] == label && work->operands[k].type.shape.dim[d] != 1)
          loop->stride[at][k] += work->operands[k].stride[d];
    }
}

/* Moves a nest of loops to the next iteration, and updates the offset in each operand. After the
 * last iteration, returns FALSE and restores the offsets of the first iteration. */
static gboolean
loop_next (Loop *loop, gint64 *offset, guint n_operands)
{
  for (guint d = loop->n; d-- > 0;)
    {
      gboolean more = ++loop->index[d] < loop->extent[d];

      for (guint k = 0; k < n_operands; k++)
        offset[k] += more ? loop->stride[d][k] : -loop->stride[d][k] * (loop->extent[d] - 1);
      if (more)
        return TRUE;
      loop->index[d] = 0;
    }
  return FALSE;
}

/* Defines a function that computes n elements of a row of the result. The first of these elements
 * has the index `at` in the row. */
#define SUM(name, T, t, wide)                                                                      \
  static void name (Work *work, gint64 at, gint64 n, gpointer sums)                                \
  {                                                                                                \
    CleaveLineBuffer buffer;                                                                       \
    T product[CLEAVE_LINE], *sum = sums;                                                           \
    gboolean first = TRUE;                                                                         \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      sum[i] = 0;                                                                                  \
    if (work->empty)                                                                               \
      return;                                                                                      \
    do                                                                                             \
      {                                                                                            \
        for (guint k = 0; k < work->n_operands; k++)                                               \
          {                                                                                        \
            gint64 step = work->step[k];                                                           \
            const T *x = cleave_line_read (&work->operands[k], work->offset[k] + at * step, step,  \
                                           step == 0 ? 1 : n, wide, &buffer);                      \
                                                                                                   \
            for (gint64 i = 0; i < n; i++)                                                         \
              product[i] = k == 0 ? x[step == 0 ? 0 : i]                                           \
                                  : cleave_##t##_mul (product[i], x[step == 0 ? 0 : i]);           \
          }                                                                                        \
        for (gint64 i = 0; i < n; i++)                                                             \
          sum[i] = first ? product[i] : cleave_##t##_add (sum[i], product[i]);                     \
        first = FALSE;                                                                             \
      }                                                                                            \
    while (loop_next (&work->sums, work->offset, work->n_operands));                               \
  }
SUM (sum_f64, double, f64, CLEAVE_WIDE_F64)
SUM (sum_i64, gint64, i64, CLEAVE_WIDE_I64)
SUM (sum_u64, guint64, u64, CLEAVE_WIDE_U64)

static void
work_init (Work *work, const CleaveEquation *e, const CleaveView *operands, guint n_operands)
{
  Loop last = { .n = 0 };

  work->operands = operands;
  work->n_operands = n_operands;
  work->rows.n = work->sums.n = 0;
  work->empty = FALSE;
  for (guint d = 0; d + 1 < e->result.rank; d++)
    loop_add (&work->rows, e, e->result.label[d], work);
  for (guint s = 0; s < e->n_summed; s++)
    {
      loop_add (&work->sums, e, e->summed[s], work);
      work->empty = work->empty || e->extent[e->summed[s]] == 0;
    }
  if (e->result.rank > 0)
    loop_add (&last, e, e->result.label[e->result.rank - 1], work);
  for (guint k = 0; k < n_operands; k++)
    {
      work->step[k] = e->result.rank == 0 ? 0 : last.stride[0][k];
      work->offset[k] = 0;
    }
}

static void
compute_sums (const CleaveCall *call, const CleaveView *y, Work *work)
{
  static void (*const runs[CLEAVE_N_WIDES]) (Work *, gint64, gint64,
                                             gpointer) = { NULL, sum_f64, sum_i64, sum_u64 };
  CleaveShape rows = y->type.shape;
  gint64 length = rows.rank == 0 ? 1 : rows.dim[rows.rank - 1], i[CLEAVE_MAX_RANK];
  gint64 step = rows.rank == 0 ? 0 : y->stride[rows.rank - 1];
  CleaveWide wide = cleave_wide_of (y->type.element);
  CleaveLineBuffer sums;

  if (wide == CLEAVE_WIDE_F32)
    wide = CLEAVE_WIDE_F64;
  rows.rank -= rows.rank > 0;
  CLEAVE_EACH_INDEX (i, &rows)
    {
      gint64 to = cleave_index_offset (rows.rank, i, y->stride);

      for (gint64 at = 0; at < length; at += CLEAVE_LINE)
        {
          gint64 n = MIN (length - at, CLEAVE_LINE);

          runs[wide](work, at, n, &sums);
          cleave_line_write (y, to + at * step, step, n, wide, &sums);
        }
      loop_next (&work->rows, work->offset, work->n_operands);
    }
}

/* Computes element `at` of a row of the result. `last` is the innermost loop of the sum, which
 * ops->add() runs.
 */
static void
add_products (Work *work, const Loop *last, const CleaveSumOps *ops, gint64 at, gpointer y)
{
  const CleaveView *a = &work->operands[0], *b = &work->operands[1];
  CleaveSum sum;

  ops->begin (&sum, NULL);
  if (!work->empty)
    do
      ops->add (&sum, cleave_view_element (a, work->offset[0] + at * work->step[0]),
                last->stride[0][0], cleave_view_element (b, work->offset[1] + at * work->step[1]),
                last->stride[0][1], last->extent[0]);
    while (loop_next (&work->sums, work->offset, work->n_operands));
  ops->end (&sum, y);
}

static void
compute_products (const CleaveView *y, Work *work)
{
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  CleaveShape rows = y->type.shape;
  gint64 length = rows.rank == 0 ? 1 : rows.dim[rows.rank - 1], i[CLEAVE_MAX_RANK];
  gint64 step = rows.rank == 0 ? 0 : y->stride[rows.rank - 1];
  Loop last = { .n = 1, .extent = { 1 } };

  if (work->sums.n > 0)
    {
      last.extent[0] = work->sums.extent[--work->sums.n];
      memcpy (last.stride[0], work->sums.stride[work->sums.n], sizeof last.stride[0]);
    }
  rows.rank -= rows.rank > 0;
  CLEAVE_EACH_INDEX (i, &rows)
    {
      gint64 to = cleave_index_offset (rows.rank, i, y->stride);

      for (gint64 at = 0; at < length; at++)
        add_products (work, &last, ops, at, cleave_view_element (y, to + at * step));
      loop_next (&work->rows, work->offset, work->n_operands);
    }
}

static gboolean
is_product (const CleaveCall *call)
{
  return call->n_operands == 2 && cleave_element_is_float (call->results[0].element);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveEquation e;
  Work work;

  cleave_equation_read (&e, call, NULL);
  work_init (&work, &e, operands, call->n_operands);
  if (is_product (call))
    compute_products (&results[0], &work);
  else
    compute_sums (call, &results[0], &work);
}

/* Returns the fast kernel for two operands of an element type of CLEAVE_ELEMENTS_SUM (products.h),
 * else the reference kernel. Sums of integers wrap around, so their order does not matter. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  guint element = CLEAVE_ELEMENT_BIT (call->results[0].element);

  return call->n_operands == 2 && (element & CLEAVE_ELEMENTS_SUM) != 0 ? CLEAVE_KERNEL_EINSUM
                                                                       : CLEAVE_KERNEL_REFERENCE;
}

static const CleaveAttr einsum_attrs[] = {
  { "equation", CLEAVE_ATTR_STRING, CLEAVE_FIELD (CleaveEinsumAttrs, equation) },
  { 0 },
};

const CleaveOp cleave_op_einsum = {
  .name = "Einsum",
  .operands = (const char *const[]){ "Inputs", NULL },
  .results = (const char *const[]){ "Output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VARIADIC,
  .attrs_size = sizeof (CleaveEinsumAttrs),
  .attrs = einsum_attrs,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .macs = macs,
  .kernel = kernel,
  .compute = compute,
};
