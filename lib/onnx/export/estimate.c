/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the peak of activations in ONNX Runtime, whose memory planner follows these rules:
 *
 *   - nodes run depth first (depth-first.c);
 *   - a unary element-wise node overwrites its operand;
 *   - a value of known shape takes the buffer of a dead value of the same type;
 *   - a buffer of known shape stays allocated until another value takes it;
 *   - the results of a Loop exist twice while the Loop runs. */

#include "export.h"

#include <string.h>

#define NONE G_MAXUINT

typedef struct
{
  const CleaveTensorType *type; /* type of the value in the buffer; NULL: unknown */
  gint64 n_bytes;
  guint first, last; /* positions of the first and the last node that use the buffer */
  gboolean is_given; /* whether the caller owns the buffer, so that no other value takes it */
} Buffer;

typedef struct
{
  const Onnx__GraphProto *graph;
  GHashTable *types;     /* maps a value's name to its CleaveTensorType */
  GHashTable *unary;     /* set of the names of results that may overwrite their operand */
  gboolean is_known;     /* whether the file has the shapes of intermediate values */
  GPtrArray *order;      /* Onnx__NodeProto, in the order of a run */
  GHashTable *maker;     /* maps a value's name to 1 plus the index of the node that computes it */
  GHashTable *last;      /* maps a value's name to 1 + its last reader's position; NONE: output */
  GHashTable *uses;      /* maps a value's name to its number of readers */
  GHashTable *bytes;     /* maps a value's name to its bytes (gint64) */
  GHashTable *buffer_of; /* maps a value's name to 1 plus the index of its buffer */
  GArray *buffers;       /* Buffer: the memory of results */
  gint64 *extra;         /* indexed by position: bytes that the node needs besides its results */
} Run;

static gint64 estimate (const Run *outer, const Onnx__GraphProto *graph);

static gpointer
look_up (GHashTable *table, const char *name)
{
  return g_hash_table_lookup (table, name);
}

static guint
number_of (GHashTable *table, const char *name)
{
  return GPOINTER_TO_UINT (look_up (table, name));
}

static gboolean
is_view (const Onnx__NodeProto *node)
{
  static const char *const views[] = { "Reshape", "Squeeze",  "Unsqueeze",
                                       "Flatten", "Identity", NULL };

  return g_strv_contains (views, node->op_type);
}

/* The function below counts the readers of each value, and finds the value's last reader. */

static void
count_reads (const Run *run, const Onnx__NodeProto *node, guint position)
{
  for (size_t k = 0; k < node->n_input; k++)
    {
      char *name = node->input[k];

      if (position > 0)
        g_hash_table_insert (run->last, name, GUINT_TO_POINTER (position));
      else
        g_hash_table_insert (run->uses, name, GUINT_TO_POINTER (number_of (run->uses, name) + 1));
    }
  for (size_t k = 0; k < node->n_attribute; k++)
    for (size_t i = 0; node->attribute[k]->g != NULL && i < node->attribute[k]->g->n_node; i++)
      count_reads (run, node->attribute[k]->g->node[i], position); /* count in inner graphs, too */
}

/* The functions below find the sizes of values in bytes. */

static gint64
bytes_of (const Run *run, const char *name)
{
  const CleaveTensorType *type = look_up (run->types, name);
  const gint64 *n_bytes = look_up (run->bytes, name);

  return type != NULL ? cleave_tensor_type_n_bytes (type) : n_bytes != NULL ? *n_bytes : 0;
}

static const Onnx__GraphProto *
get_body (const Onnx__NodeProto *node)
{
  for (size_t k = 0; k < node->n_attribute; k++)
    if (node->attribute[k]->g != NULL)
      return node->attribute[k]->g;
  return NULL;
}

static gint64
count_iterations (const Run *run, const Onnx__NodeProto *loop)
{
  for (size_t i = 0; i < run->graph->n_initializer; i++)
    if (strcmp (run->graph->initializer[i]->name, loop->input[0]) == 0)
      return *(const gint64 *) (gconstpointer) run->graph->initializer[i]->raw_data.data;
  return 1;
}

/* Returns the bytes of a Loop's result: a final state, or a body's output for all iterations. */
static gint64
loop_bytes (const Run *run, const Onnx__NodeProto *loop, guint result)
{
  const Onnx__GraphProto *body = get_body (loop);
  const char *name = body->output[result + 1]->name;
  gint64 n_bytes = bytes_of (run, name);

  for (size_t i = 0; n_bytes == 0 && i < body->n_node; i++) /* if 0, use the operand's bytes */
    if (strcmp (body->node[i]->output[0], name) == 0)
      n_bytes = bytes_of (run, body->node[i]->input[0]);
  return result + 2 < loop->n_input ? n_bytes : n_bytes * count_iterations (run, loop);
}

/* Estimates the bytes of a result that is not in the graph. Returns 0 if the bytes are unknown. */
static gint64
infer_bytes (const Run *run, const Onnx__NodeProto *node, guint result)
{
  gint64 sum = 0;

  if (strcmp (node->op_type, "Loop") == 0)
    return loop_bytes (run, node, result);
  if (strcmp (node->op_type, "Slice") == 0 || node->n_input == 0)
    return 0;
  for (size_t k = 0; k < node->n_input && (k == 0 || strcmp (node->op_type, "Concat") == 0); k++)
    sum += bytes_of (run, node->input[k]);
  return sum;
}

/* The functions below find the buffer that each value takes. */

static Buffer *
get_buffer (const Run *run, const char *name)
{
  guint buffer = number_of (run->buffer_of, name);

  return buffer == 0 ? NULL : &g_array_index (run->buffers, Buffer, buffer - 1);
}

/* Returns 1 + the index of the buffer of `operand`; 0 if node `position` may not overwrite it. */
static guint
find_dying (const Run *run, const char *operand, const char *name, guint position)
{
  const CleaveTensorType *own = look_up (run->types, operand), *type = look_up (run->types, name);
  const Buffer *buffer = get_buffer (run, operand);

  return buffer != NULL && buffer->last <= position && !buffer->is_given && own != NULL &&
                 type != NULL && cleave_tensor_type_equal (own, type)
             ? number_of (run->buffer_of, operand)
             : 0;
}

/* Returns the only reader of a value; NULL for an output and for any other number of readers. */
static const Onnx__NodeProto *
find_reader (const Run *run, const char *name)
{
  guint last = number_of (run->last, name);

  return number_of (run->uses, name) == 1 && last != NONE ? run->order->pdata[last - 1] : NULL;
}

/* Returns the only reader of a value if the reader is an Add of two operands; NULL if not. */
static const Onnx__NodeProto *
find_sum (const Run *run, const char *name)
{
  const Onnx__NodeProto *reader = find_reader (run, name);

  return reader != NULL && strcmp (reader->op_type, "Add") == 0 && reader->n_input == 2 ? reader
                                                                                        : NULL;
}

static gboolean
is_conv_of_sum (const Run *run, const char *name)
{
  guint maker = number_of (run->maker, name);

  return maker > 0 && strcmp (run->graph->node[maker - 1]->op_type, "Conv") == 0 &&
         find_sum (run, name) != NULL;
}

/* If ONNX Runtime fuses `conv` with an Add, returns 1 plus the index of the buffer that the sum
 * overwrites: the buffer of the Add's other operand. Returns 0 if not. */
static guint
find_summand (const Run *run, const Onnx__NodeProto *conv)
{
  const Onnx__NodeProto *sum =
      strcmp (conv->op_type, "Conv") == 0 && run->is_known ? find_sum (run, conv->output[0]) : NULL;
  const char *other;

  if (sum == NULL)
    return 0;
  other = sum->input[strcmp (sum->input[0], conv->output[0]) == 0 ? 1 : 0];
  return find_dying (run, other, conv->output[0], number_of (run->last, conv->output[0]) - 1);
}

static guint
find_free_buffer (const Run *run, const char *name, guint position)
{
  const CleaveTensorType *type = look_up (run->types, name);
  const gint64 n_bytes = bytes_of (run, name);
  guint best = 0;

  for (guint i = 0; type != NULL && run->is_known && i < run->buffers->len; i++)
    {
      const Buffer *buffer = &g_array_index (run->buffers, Buffer, i);

      if (buffer->last < position && !buffer->is_given && buffer->type != NULL &&
          buffer->n_bytes == n_bytes && cleave_tensor_type_equal (buffer->type, type) &&
          (best == 0 || buffer->last > g_array_index (run->buffers, Buffer, best - 1).last))
        best = i + 1;
    }
  return best;
}

/* Returns whether ONNX Runtime fuses `node`, a Sigmoid, into a Mul, so that it needs no buffer. */
static gboolean
is_within (const Run *run, const Onnx__NodeProto *node)
{
  const Onnx__NodeProto *reader = find_reader (run, node->output[0]);

  return strcmp (node->op_type, "Sigmoid") == 0 && reader != NULL &&
         strcmp (reader->op_type, "Mul") == 0 && reader->n_input == 2 &&
         (strcmp (reader->input[0], node->input[0]) == 0 ||
          strcmp (reader->input[1], node->input[0]) == 0);
}

static guint
find_place (const Run *run, const Onnx__NodeProto *node, const char *name, guint position)
{
  guint buffer = 0;

  if (is_view (node))
    return number_of (run->buffer_of, node->input[0]);
  if (g_hash_table_contains (run->unary, name) || strcmp (node->op_type, "BatchNormalization") == 0)
    buffer = find_dying (run, node->input[0], name, position);
  for (size_t k = 0; buffer == 0 && strcmp (node->op_type, "Add") == 0 && k < node->n_input; k++)
    if (is_conv_of_sum (run, node->input[k]))
      buffer = find_dying (run, node->input[k], name, position);
  if (buffer == 0)
    buffer = find_summand (run, node);
  return buffer != 0 ? buffer : find_free_buffer (run, name, position);
}

static void
place (Run *run, const Onnx__NodeProto *node, guint result, guint position)
{
  char *name = node->output[result];
  guint last = number_of (run->last, name), at;
  gint64 *n_bytes = g_new (gint64, 1);

  *n_bytes = bytes_of (run, name);
  if (look_up (run->types, name) == NULL)
    *n_bytes = infer_bytes (run, node, result);
  g_hash_table_insert (run->bytes, name, n_bytes);
  if (is_within (run, node))
    return;
  at = last == NONE ? 0 : find_place (run, node, name, position);
  if (at == 0 && is_view (node) && last != NONE)
    return; /* the result is a view of the caller's buffer */
  if (at == 0)
    {
      Buffer fresh = { look_up (run->types, name), *n_bytes, position, position, last == NONE };

      g_array_append_val (run->buffers, fresh);
      at = run->buffers->len;
    }
  g_hash_table_insert (run->buffer_of, name, GUINT_TO_POINTER (at));
  if (last > 0)
    {
      Buffer *buffer = &g_array_index (run->buffers, Buffer, at - 1);

      buffer->last = MAX (buffer->last, last - 1);
    }
}

/* Returns the bytes that a node needs besides its results. A Loop needs the values of its body and
 * a second copy of its results. A ConvTranspose needs a buffer about as large as its result. */
static gint64
find_extra (const Run *run, const Onnx__NodeProto *node)
{
  gint64 sum = 0;

  if (strcmp (node->op_type, "Loop") == 0)
    {
      for (guint i = 0; i < node->n_output; i++)
        sum += loop_bytes (run, node, i);
      return sum + estimate (run, get_body (node));
    }
  if (strcmp (node->op_type, "ConvTranspose") == 0)
    return bytes_of (run, node->output[0]);
  return 0;
}

static gint64
find_peak (const Run *run)
{
  const guint n = run->order->len;
  g_autofree gint64 *more = g_new0 (gint64, n + 1); /* change of the bytes in use, by position */
  gint64 sum = 0, peak = 0;

  for (guint i = 0; i < run->buffers->len; i++)
    {
      const Buffer *buffer = &g_array_index (run->buffers, Buffer, i);

      more[buffer->first] += buffer->n_bytes;
      if (buffer->last < n)
        more[buffer->last + 1] -= buffer->n_bytes;
    }
  for (guint p = 0; p < n; p++)
    {
      sum += more[p];
      peak = MAX (peak, sum + run->extra[p]);
    }
  return peak;
}

static void
run_clear (Run *run)
{
  g_clear_pointer (&run->order, g_ptr_array_unref);
  g_clear_pointer (&run->maker, g_hash_table_unref);
  g_clear_pointer (&run->last, g_hash_table_unref);
  g_clear_pointer (&run->uses, g_hash_table_unref);
  g_clear_pointer (&run->bytes, g_hash_table_unref);
  g_clear_pointer (&run->buffer_of, g_hash_table_unref);
  g_clear_pointer (&run->buffers, g_array_unref);
  g_free (run->extra);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static gint64
estimate (const Run *outer, const Onnx__GraphProto *graph)
{
  g_auto (Run) run = { .graph = graph,
                       .types = outer->types,
                       .unary = outer->unary,
                       .is_known = outer->is_known,
                       .order = cleave_onnx_depth_first (graph),
                       .maker = g_hash_table_new (g_str_hash, g_str_equal),
                       .last = g_hash_table_new (g_str_hash, g_str_equal),
                       .uses = g_hash_table_new (g_str_hash, g_str_equal),
                       .bytes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free),
                       .buffer_of = g_hash_table_new (g_str_hash, g_str_equal),
                       .buffers = g_array_new (FALSE, FALSE, sizeof (Buffer)),
                       .extra = g_new0 (gint64, graph->n_node + 1) };

  for (guint i = 0; i < graph->n_node; i++)
    {
      count_reads (&run, graph->node[i], 0);
      for (size_t r = 0; r < graph->node[i]->n_output; r++)
        g_hash_table_insert (run.maker, graph->node[i]->output[r], GUINT_TO_POINTER (i + 1));
    }
  for (guint p = 0; p < run.order->len; p++)
    count_reads (&run, run.order->pdata[p], p + 1);
  for (size_t i = 0; i < graph->n_output; i++)
    g_hash_table_insert (run.last, graph->output[i]->name, GUINT_TO_POINTER (NONE));
  for (guint p = 0; p < run.order->len; p++)
    {
      const Onnx__NodeProto *node = run.order->pdata[p];

      for (guint r = 0; r < node->n_output; r++)
        if (*node->output[r] != '\0')
          place (&run, node, r, p);
      run.extra[p] = find_extra (&run, node);
    }
  return find_peak (&run);
}

gint64
cleave_onnx_export_estimate (CleaveOnnxExport *export, gboolean is_known)
{
  g_autoptr (GHashTable) types = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) unary = g_hash_table_new (g_str_hash, g_str_equal);
  const Run all = { .types = types, .unary = unary, .is_known = is_known };

  for (const CleaveNode *node = export->graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_results; i++)
      {
        const char *name = *cleave_onnx_value_name (export, &node->results[i]);

        if (name == NULL || cleave_node_get_constant (node) != NULL || cleave_node_is_input (node))
          continue;
        g_hash_table_insert (types, (gpointer) name, (gpointer) &node->results[i].type);
        if ((node->op->flags & CLEAVE_OP_IN_PLACE) != 0 && node->n_operands == 1)
          g_hash_table_add (unary, (gpointer) name);
      }
  return estimate (&all, export->model->graph);
}
