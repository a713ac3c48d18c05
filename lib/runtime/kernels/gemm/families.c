/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel families of float convolutions and matrix products, with the code that these families
 * share. The plan of each instance is a CleaveBrgemm (plans.h). */

#include "plans.h"

void
cleave_brgemm_add_columns (CleaveProduct *product,
                           const CleavePanels *panels,
                           gint64 first,
                           gint64 n_groups,
                           gint64 group_in,
                           gint64 group_out)
{
  gint64 panel_floats = panels->width * cleave_panels_n_rows (panels);

  for (gint64 i = 0, end; i < n_groups * group_out; i = end)
    {
      gint64 at = (first + i) % panels->width;
      CleaveColumns columns = { .a_offset = (first + i) / panels->width * panel_floats + at,
                                .x_offset = i / group_out * group_in,
                                .y_offset = i };

      end = MIN (i + panels->width - at, (i / group_out + 1) * group_out);
      columns.m = end - i;
      cleave_product_add_columns (product, &columns);
    }
}

gboolean
cleave_brgemm_nests (const CleaveBrgemm *brgemm, gint64 size)
{
  for (guint d = brgemm->n_batch_dims; d-- > 0;)
    {
      if (brgemm->extent[d] == 1)
        continue;
      if (brgemm->y_step[d] < size)
        return FALSE;
      size = brgemm->extent[d] * brgemm->y_step[d];
    }
  return TRUE;
}

/* The kernel families that this file defines. levels.h lists them for lib/runtime/kernels.c. */

static void
brgemm_free (gpointer state)
{
  CleaveBrgemm *brgemm = state;

  cleave_product_free (brgemm->product);
  cleave_narrow_free (brgemm->narrow);
  g_free (brgemm->blockwise);
  g_free (brgemm);
}

/* Returns the size in bytes of the weights that each run packs into scratch. The scratch of the
 * narrow kernel begins after these bytes. */
static gsize
bytes_of_panels (const CleaveBrgemm *brgemm)
{
  return brgemm->panels.width == 0 ? 0 : (cleave_panels_n_bytes (&brgemm->panels) + 63) / 64 * 64;
}

static gsize
bytes_of_rows (const CleavePackedRows *rows)
{
  return (gsize) (MIN (rows->n, rows->n_per_band) * rows->k) * sizeof (float);
}

static gsize
bytes_apart (const CleaveBrgemm *brgemm)
{
  return brgemm->apart.type.shape.rank == 0
             ? 0
             : (gsize) cleave_shape_n_elements (&brgemm->apart.type.shape) * sizeof (float);
}

static void
pack_rows (const CleavePackedRows *rows, guint band, const float *x, float *to)
{
  gint64 first = band * rows->n_per_band;
  CleaveTensorType type =
      CLEAVE_TYPE (CLEAVE_FLOAT32, MIN (rows->n_per_band, rows->n - first), rows->k);
  CleaveView from = { .data = (gpointer) (x + first * rows->row_step),
                      .type = type,
                      .stride = { rows->row_step, rows->column_step } };
  CleaveView packed = { .data = to, .type = type, .stride = { rows->k, 1 } };

  cleave_view_copy (&packed, &from);
}

/* Calls `plan` for an instance. If the plan contains a product of floats (gemm.h), prepares the
 * product. Returns FALSE if `plan` returns FALSE, since the family does not serve the instance. */
static gboolean
prepare (gboolean (*plan) (const CleaveKernelInstance *instance,
                           CleaveWeights *weights,
                           CleaveBrgemm *brgemm),
         const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  CleaveBrgemm *brgemm = g_new0 (CleaveBrgemm, 1);

  if (!plan (instance, weights, brgemm))
    {
      brgemm_free (brgemm);
      return FALSE;
    }
  if (brgemm->product != NULL)
    cleave_product_prepare (brgemm->product);
  *n_scratch = bytes_of_panels (brgemm) + bytes_of_rows (&brgemm->rows) + bytes_apart (brgemm);
  if (brgemm->narrow != NULL)
    *n_scratch += cleave_narrow_n_scratch (brgemm->narrow);
  if (brgemm->blockwise != NULL)
    *n_scratch += cleave_blockwise_n_scratch ();
  *state = brgemm;
  return TRUE;
}

/* Advances `index` to the next index of the batch. Returns FALSE after the last index. */
static gboolean
next_batch (const CleaveBrgemm *brgemm, gint64 *index)
{
  for (guint d = brgemm->n_batch_dims; d-- > 0;)
    {
      if (++index[d] < brgemm->extent[d])
        return TRUE;
      index[d] = 0;
    }
  return FALSE;
}

static gint64
batch_offset (const CleaveBrgemm *brgemm, const gint64 *index, const gint64 *step)
{
  gint64 offset = 0;

  for (guint d = 0; d < brgemm->n_batch_dims; d++)
    offset += index[d] * step[d];
  return offset;
}

static void
run_bands (const CleaveBrgemm *brgemm,
           const CleaveKernelInstance *instance,
           const float *x,
           const float *a,
           const float *bias,
           gint64 y_at,
           float *scratch)
{
  for (guint band = 0; band < cleave_product_n_bands (brgemm->product); band++)
    {
      if (brgemm->rows.n != 0)
        pack_rows (&brgemm->rows, band, x, scratch);
      cleave_product_run (brgemm->product, band, brgemm->rows.n != 0 ? scratch : x, a, bias,
                          instance, y_at);
    }
}

/* Runs a product whose result is dense in scratch, and copies the result from scratch to y. */
static void
run_bands_in_scratch (const CleaveBrgemm *brgemm,
                      const CleaveKernelInstance *instance,
                      const float *x,
                      const float *a,
                      gint64 y_at,
                      float *scratch)
{
  CleaveView y = brgemm->apart, made = { .type = y.type };

  made.data = scratch + bytes_of_rows (&brgemm->rows) / sizeof (float);
  cleave_shape_strides (&made.type.shape, made.stride);
  y.data = (float *) instance->results[0].data + y_at;
  for (guint band = 0; band < cleave_product_n_bands (brgemm->product); band++)
    {
      if (brgemm->rows.n != 0)
        pack_rows (&brgemm->rows, band, x, scratch);
      cleave_product_run_band (brgemm->product, band, brgemm->rows.n != 0 ? scratch : x, a, NULL,
                               made.data);
    }
  cleave_view_copy (&y, &made);
}

static void
run_batch (const CleaveBrgemm *brgemm,
           const CleaveKernelInstance *instance,
           const gint64 *index,
           char *scratch)
{
  gint64 y_at = batch_offset (brgemm, index, brgemm->y_step);
  const float *x = (const float *) instance->operands[brgemm->operand_x].data +
                   batch_offset (brgemm, index, brgemm->x_step);
  const float *a = brgemm->a;
  const float *bias =
      brgemm->operand_bias == 0 ? NULL : instance->operands[brgemm->operand_bias].data;
  float *rest = (float *) (gpointer) (scratch + bytes_of_panels (brgemm));

  if (a == NULL && brgemm->blockwise == NULL)
    a = (const float *) instance->operands[brgemm->operand_a].data +
        batch_offset (brgemm, index, brgemm->a_step);
  if (brgemm->panels.width != 0)
    {
      cleave_panels_pack (&brgemm->panels, a, (float *) (gpointer) scratch);
      a = (const float *) (gpointer) scratch;
    }
  if (brgemm->blockwise != NULL)
    cleave_blockwise_run (brgemm->blockwise, x, instance, y_at, rest);
  else if (brgemm->narrow != NULL)
    cleave_narrow_run (brgemm->narrow, x, a, bias, instance, y_at, rest);
  else if (brgemm->apart.type.shape.rank != 0)
    run_bands_in_scratch (brgemm, instance, x, a, y_at, rest);
  else
    run_bands (brgemm, instance, x, a, bias, y_at, rest);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveBrgemm *brgemm = state;
  gint64 index[CLEAVE_MAX_RANK] = { 0 };

  if (cleave_shape_n_elements (&instance->results[0].type.shape) == 0)
    return;
  do
    run_batch (brgemm, instance, index, scratch);
  while (next_batch (brgemm, index));
  if (brgemm->finish != NULL)
    brgemm->finish (instance);
}

static gboolean
reports_progress (gconstpointer state)
{
  const CleaveBrgemm *brgemm = state;

  return brgemm->nests;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const CleaveBrgemm *brgemm = state;

  return operand != brgemm->operand_a || (brgemm->a == NULL && brgemm->blockwise == NULL);
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const CleaveBrgemm *brgemm = state;

  if (brgemm->product != NULL)
    cleave_product_add_memory (brgemm->product, lines);
}

static gboolean
does_epilogue (gconstpointer state, const CleaveKernelInstance *instance, guint *along)
{
  const CleaveBrgemm *brgemm = state;

  *along = brgemm->columns_dim;
  return brgemm->finish == NULL && brgemm->blockwise == NULL && brgemm->apart.type.shape.rank == 0;
}

/* clang-format off */
#define FAMILY(op, operand)                                                                               \
  static gboolean prepare_##op (const CleaveKernelInstance *instance, CleaveWeights *weights, gpointer *state,   \
                                gsize *n_scratch)                                                  \
  {                                                                                                \
    return prepare (cleave_brgemm_plan_##op, instance, weights, state, n_scratch);                     \
  }                                                                                                \
  extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_##op);         \
  const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_##op) = { .prepare = prepare_##op,       \
                                                                    .run = run,                    \
                                                                    .free = brgemm_free,           \
                                                                    .reports_progress = reports_progress,                \
                                                                    .does_epilogue = does_epilogue,    \
                                                                    .packs = operand,    \
                                                                    .reads = reads,                \
                                                                    .n_state = sizeof (CleaveBrgemm), \
                                                                    .add_memory = add_memory };
FAMILY (conv, 1)
FAMILY (conv_transpose, 1)
FAMILY (matmul, 0)
FAMILY (gemm, 0)
#undef FAMILY
/* clang-format on */
