/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the number of channels in a block, and the channels that are padding, before the nodes of a
 * graph are read (nchwc.h). The file states neither:
 *
 *     Conv, 16 outputs -> QuickGelu -> ReorderOutput, 10 channels     channels 10 to 15 are padding
 *
 * The scan goes through the nodes from the last to the first, so it knows how many channels the
 * readers of a value need. The scan tries the block sizes 8 and 16, and rejects a size that
 * contradicts the file.
 */

#include "nchwc.h"

#include <string.h>

#define LONG_BLOCK 16
#define SHORT_BLOCK 8

gboolean
cleave_onnx_keeps_blocks (const char *op)
{
  static const char *const ops[] = {
    "Abs",      "Add",         "Clip",      "Concat",    "Div",       "Elu", "Erf",  "Exp", "Gelu",
    "FastGelu", "Sub",         "HardSwish", "LeakyRelu", "QuickGelu", "Max", "Min",  "Mul", "Neg",
    "Relu",     "HardSigmoid", "Sigmoid",   "Softplus",  "Sqrt",      "Sum", "Tanh", NULL
  };

  return op != NULL && g_strv_contains (ops, op);
}

gint64
cleave_onnx_n_read (const CleaveOnnxBlocked *blocked, const char *name)
{
  const gint64 *n = g_hash_table_lookup (blocked->n_read, name);

  return n == NULL ? G_MAXINT64 : *n;
}

typedef struct
{
  CleaveOnnxImport *import;
  const Onnx__GraphProto *graph;
  GArray *order;          /* guint: indices of all nodes; each node comes after the nodes that
                           * compute its operands */
  GHashTable *is_blocked; /* set of the names of values whose channels are in blocks */
  GHashTable *is_stated;  /* set of the names of values for which a ReorderOutput states the number
                           * of channels */
  CleaveOnnxBlocked *found;
  gboolean contradicts;    /* whether the file contradicts the block size of this scan */
  gboolean has_zero_block; /* whether the last 8 channels of a convolution have only zero
                            * weights; blocks then have 16 channels */
} Scan;

static gboolean
is_blocked_op (const Onnx__NodeProto *node)
{
  return g_strcmp0 (node->domain, CLEAVE_ONNX_NCHWC) == 0;
}

static gint64
find_int (const Onnx__NodeProto *node, const char *name, gint64 fallback)
{
  for (size_t i = 0; i < node->n_attribute; i++)
    if (g_strcmp0 (node->attribute[i]->name, name) == 0)
      return node->attribute[i]->i;
  return fallback;
}

gboolean
cleave_onnx_is_filter (const CleaveTensor *weights)
{
  const CleaveTensorType *type = cleave_tensor_get_type (weights);

  return type->element == CLEAVE_FLOAT32 && type->shape.rank == 4 &&
         cleave_tensor_is_dense (weights);
}

/* Adds to `is_blocked` the names of the values in blocks: results of ops of com.microsoft.nchwc
 * other than ReorderOutput, and results of element-wise ops on values in blocks. */
static void
find_blocked (Scan *scan)
{
  for (guint k = 0; k < scan->order->len; k++)
    {
      const Onnx__NodeProto *node = scan->graph->node[g_array_index (scan->order, guint, k)];
      gboolean is_blocked = is_blocked_op (node) && g_strcmp0 (node->op_type, "ReorderOutput") != 0;

      for (size_t i = 0; i < node->n_input && cleave_onnx_keeps_blocks (node->op_type); i++)
        is_blocked = is_blocked || g_hash_table_contains (scan->is_blocked, node->input[i]);
      if (is_blocked && node->n_output > 0)
        g_hash_table_add (scan->is_blocked, node->output[0]);
    }
}

/* Records that a node reads the first `n` channels of a value. `is_stated`: a ReorderOutput states
 * this number. */
static void
note_read (Scan *scan, const char *name, gint64 n, gboolean is_stated)
{
  gint64 *known = g_hash_table_lookup (scan->found->n_read, name);

  if (is_stated)
    g_hash_table_add (scan->is_stated, (gpointer) name);
  if (known != NULL)
    *known = MAX (*known, n);
  else
    g_hash_table_insert (scan->found->n_read, g_strdup (name), g_memdup2 (&n, sizeof n));
}

static gboolean
is_zero (const CleaveOnnxFilter *f, const float *w, CleaveSpan outputs, CleaveSpan inputs)
{
  for (gint64 o = outputs.begin; o < outputs.end; o++)
    for (gint64 i = inputs.begin; i < inputs.end; i++)
      for (gint64 tap = 0; tap < f->n_taps; tap++)
        if (w[cleave_onnx_filter_index (f, o, i, tap)] != 0)
          return FALSE;
  return TRUE;
}

/* Returns the number of operand channels up to the last channel with a nonzero weight. */
static gint64
count_inputs (const CleaveOnnxFilter *f, const float *w)
{
  gint64 n = f->n_inputs;

  while (n > 1 && is_zero (f, w, (CleaveSpan){ 0, f->n_outputs }, (CleaveSpan){ n - 1, n }))
    n--;
  return n;
}

static void
read_conv (Scan *scan, const Onnx__NodeProto *node, const CleaveShape *shape, const float *w)
{
  gint64 block = scan->found->block, group = find_int (node, "group", 1);
  gint64 n_all = shape->dim[0], n = cleave_onnx_n_read (scan->found, node->output[0]);
  gboolean is_blocked = g_hash_table_contains (scan->is_blocked, node->input[0]),
           is_depthwise = group > 1 && shape->dim[1] == 1,
           is_stated = g_hash_table_contains (scan->is_stated, node->output[0]);
  CleaveOnnxFilter f = { block, is_blocked && !is_depthwise, n_all, shape->dim[1],
                         shape->dim[2] * shape->dim[3] };
  const CleaveSpan all_inputs = { 0, f.n_inputs };

  scan->contradicts |= n_all % block != 0 || (f.has_blocked_inputs && f.n_inputs % block != 0) ||
                       (!is_blocked && group == 1 && f.n_inputs >= block);
  if (scan->contradicts)
    return;
  scan->has_zero_block |= n_all > SHORT_BLOCK &&
                          is_zero (&f, w, (CleaveSpan){ n_all - SHORT_BLOCK, n_all }, all_inputs);
  scan->contradicts |=
      is_stated && n < n_all &&
      (n_all - n >= block || !is_zero (&f, w, (CleaveSpan){ n, n_all }, all_inputs));
  if (node->n_input > 3)
    note_read (scan, node->input[3], n, is_stated);
  if (is_depthwise)
    note_read (scan, node->input[0], n, is_stated);
  else if (is_blocked)
    note_read (scan, node->input[0], group > 1 ? G_MAXINT64 : count_inputs (&f, w), FALSE);
}

static void
read_node (Scan *scan, const Onnx__NodeProto *node)
{
  const char *out;
  gint64 n;
  CleaveOnnxValue *w;

  if (node->n_input == 0 || node->n_output == 0) /* an error, which the import reports when it reads
                                                  * the node */
    return;
  out = node->output[0];
  n = cleave_onnx_n_read (scan->found, out);
  if (is_blocked_op (node) && g_strcmp0 (node->op_type, "Conv") == 0 && node->n_input > 1)
    {
      w = cleave_onnx_lookup (scan->import, node->input[1]);
      if (w != NULL && w->constant != NULL && cleave_onnx_is_filter (w->constant))
        read_conv (scan, node, cleave_onnx_value_shape (w), cleave_tensor_get_data (w->constant));
    }
  else if (is_blocked_op (node) && g_strcmp0 (node->op_type, "ReorderOutput") == 0)
    note_read (scan, node->input[0], find_int (node, "channels", G_MAXINT64), TRUE);
  else if (is_blocked_op (node) || cleave_onnx_keeps_blocks (node->op_type))
    for (size_t i = 0; i < node->n_input; i++)
      note_read (scan, node->input[i], g_strcmp0 (node->op_type, "Concat") == 0 ? G_MAXINT64 : n,
                 g_hash_table_contains (scan->is_stated, out));
}

static CleaveOnnxBlocked *
blocked_new (gint64 block)
{
  CleaveOnnxBlocked *blocked = g_new0 (CleaveOnnxBlocked, 1);

  blocked->block = block;
  blocked->n_read = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return blocked;
}

void
cleave_onnx_blocked_free (CleaveOnnxBlocked *blocked)
{
  g_hash_table_unref (blocked->n_read);
  g_free (blocked);
}

/* Scans the graph with a block size. Returns NULL if the file contradicts this size. */
static CleaveOnnxBlocked *
try_block (Scan *scan, gint64 block)
{
  scan->found = blocked_new (block);
  scan->contradicts = scan->has_zero_block = FALSE;
  g_hash_table_remove_all (scan->is_stated);
  for (size_t i = 0; i < scan->graph->n_output; i++)
    if (scan->graph->output[i]->name != NULL)
      note_read (scan, scan->graph->output[i]->name, G_MAXINT64, FALSE);
  for (guint k = scan->order->len; k-- > 0 && !scan->contradicts;)
    read_node (scan, scan->graph->node[g_array_index (scan->order, guint, k)]);
  if (scan->contradicts)
    g_clear_pointer (&scan->found, cleave_onnx_blocked_free);
  return g_steal_pointer (&scan->found);
}

/* Returns the block size that ONNX Runtime would use on this machine. */
static gint64
find_own_block (void)
{
#ifdef __x86_64__
  return __builtin_cpu_supports ("avx512f") ? LONG_BLOCK : SHORT_BLOCK;
#else
  return LONG_BLOCK;
#endif
}

/* Scans the graph with both block sizes, 16 and 8, and returns the result that does not contradict
 * the file. If both results fit the file, takes 16 if a convolution has 8 channels of zero weights
 * at its end (`has_zero_block`). If none has, takes the size that ONNX Runtime would use on this
 * machine, and adds a warning. */
static CleaveOnnxBlocked *
choose (Scan *scan)
{
  CleaveOnnxBlocked *with_long = try_block (scan, LONG_BLOCK), *with_short;
  gboolean is_padded = scan->has_zero_block;
  gint64 own = is_padded ? LONG_BLOCK : find_own_block ();

  with_short = try_block (scan, SHORT_BLOCK);
  if (with_long != NULL && with_short != NULL && !is_padded)
    cleave_onnx_origin_take_warning (
        scan->import->origin,
        g_strdup_printf ("the weights are in blocks of 8 or of 16 channels, and the file does not "
                         "say which: they are read in blocks of %" G_GINT64_FORMAT
                         ", as ONNX Runtime does on this machine",
                         own));
  if (with_long != NULL && (with_short == NULL || own == LONG_BLOCK))
    {
      g_clear_pointer (&with_short, cleave_onnx_blocked_free);
      return with_long;
    }
  g_clear_pointer (&with_long, cleave_onnx_blocked_free);
  return with_short;
}

CleaveOnnxBlocked *
cleave_onnx_scan_blocked (CleaveOnnxImport *import, const Onnx__GraphProto *graph)
{
  Scan scan = { .import = import, .graph = graph };
  size_t i = 0;

  while (i < graph->n_node && !is_blocked_op (graph->node[i]))
    i++;
  if (i == graph->n_node)
    return NULL;
  scan.order = cleave_onnx_order (graph);
  scan.is_blocked = g_hash_table_new (g_str_hash, g_str_equal);
  scan.is_stated = g_hash_table_new (g_str_hash, g_str_equal);
  find_blocked (&scan);
  scan.found = import->block != 0 ? try_block (&scan, import->block) : choose (&scan);
  if (scan.found == NULL)
    scan.found = blocked_new (LONG_BLOCK); /* the import reports the error later, when it reads the
                                            * nodes */
  import->block = scan.found->block;
  g_array_unref (scan.order);
  g_hash_table_unref (scan.is_blocked);
  g_hash_table_unref (scan.is_stated);
  return scan.found;
}
