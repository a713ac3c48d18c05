/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans the arena of TensorFlow Lite for Microcontrollers: the offset of each tensor, for a run of
 * the operators in the order of the file.
 *
 * A tensor is in use from the operator that computes it to its last reader, both included. Inputs
 * of the graph are in use from the begin, and outputs to the end. The result of a RESHAPE has the
 * offset of its operand, so its kernel copies nothing. Constants and variables have no offset.
 *
 * Buffers are placed one by one, each at the lowest free offset. The planner tries several orders
 * of the buffers, and takes the smallest arena. */

#include "memory-plan.h"

#include <cleave/cleave-tflite.h>

#include "../ir/error.h"

#define RESHAPE 22
#define N_ORDERS 4

/* The memory of a tensor, or of several tensors that share it. */
typedef struct
{
  gint64 n_bytes, offset; /* `n_bytes`: size in bytes. `offset`: byte offset in the arena; -1:
                           * not placed yet */
  gint64 first, last; /* indices of the first and the last operator that uses the memory; `first` is
                       * -1 if no operator has used the memory so far */
} Buffer;

typedef struct
{
  const CleaveTfliteSubgraph *subgraph;
  GArray *buffers; /* Buffer: the buffers of all tensors */
  gint *of_tensor; /* indexed by tensor: index of its buffer in `buffers`; -1: none */
} Plan;

static Buffer *
buffer_of (const Plan *plan, gint64 tensor)
{
  gint i = tensor < 0 ? -1 : plan->of_tensor[tensor];

  return i < 0 ? NULL : &g_array_index (plan->buffers, Buffer, i);
}

static void
use (const Plan *plan, gint64 tensor, gint64 at)
{
  Buffer *buffer = buffer_of (plan, tensor);

  if (buffer == NULL)
    return;
  buffer->first = buffer->first < 0 ? at : MIN (buffer->first, at);
  buffer->last = MAX (buffer->last, at);
}

/* Makes a separate buffer for each tensor, except for constants and variables. */
static gboolean
add_buffers (Plan *plan, gint64 alignment, GError **error)
{
  for (guint t = 0; t < plan->subgraph->n_tensors; t++)
    {
      const CleaveTfliteTensor *tensor = &plan->subgraph->tensors[t];
      gint64 n_bytes = cleave_tensor_type_n_bytes (&tensor->type);
      Buffer buffer = { (n_bytes + alignment - 1) / alignment * alignment, -1, -1, -1 };

      plan->of_tensor[t] = -1;
      if (tensor->data != NULL || tensor->is_variable)
        continue;
      if (tensor->type.element == CLEAVE_NONE || n_bytes < 0 || n_bytes > G_MAXINT32 / 2)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "tensor %u '%s' has an element type without a fixed size, or is too "
                            "large",
                            t, tensor->name == NULL ? "" : tensor->name);
      plan->of_tensor[t] = (gint) plan->buffers->len;
      g_array_append_val (plan->buffers, buffer);
    }
  return TRUE;
}

/* Makes the result of a RESHAPE share the buffer of its operand. */
static void
share_reshape (Plan *plan, const CleaveTfliteOperator *op)
{
  gint64 x = op->inputs.n == 0 ? -1 : cleave_flat_integer (&op->inputs, 4, 0);
  gint64 y = op->outputs.n == 0 ? -1 : cleave_flat_integer (&op->outputs, 4, 0);
  Buffer *from = buffer_of (plan, x), *to = buffer_of (plan, y);

  if (op->code == RESHAPE && from != NULL && to != NULL && from != to && to->first < 0 &&
      from->n_bytes == to->n_bytes)
    plan->of_tensor[y] = plan->of_tensor[x];
}

static void
find_lifetimes (Plan *plan)
{
  const CleaveTfliteSubgraph *subgraph = plan->subgraph;

  for (guint i = 0; i < subgraph->inputs.n; i++)
    use (plan, cleave_flat_integer (&subgraph->inputs, 4, i), 0);
  for (guint o = 0; o < subgraph->n_operators; o++)
    {
      const CleaveTfliteOperator *op = &subgraph->operators[o];

      share_reshape (plan, op);
      for (guint i = 0; i < op->inputs.n; i++)
        use (plan, cleave_flat_integer (&op->inputs, 4, i), o);
      for (guint i = 0; i < op->outputs.n; i++)
        use (plan, cleave_flat_integer (&op->outputs, 4, i), o);
    }
  for (guint i = 0; i < subgraph->outputs.n; i++)
    use (plan, cleave_flat_integer (&subgraph->outputs, 4, i), subgraph->n_operators);
}

/* The functions below place buffers. */

/* Returns the priority of a buffer in one of the orders. Order 0 is by size, 1 by size times
 * lifetime, 2 by lifetime, 3 by first use. */
static double
priority_of (const Buffer *buffer, guint order)
{
  double time = (double) (buffer->last - buffer->first + 1), n_bytes = (double) buffer->n_bytes;
  const double priorities[N_ORDERS] = { n_bytes, n_bytes * time, time, -(double) buffer->first };

  return priorities[order];
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer order)
{
  const Buffer *x = *(Buffer *const *) a, *y = *(Buffer *const *) b;
  double p = priority_of (x, GPOINTER_TO_UINT (order)),
         q = priority_of (y, GPOINTER_TO_UINT (order));

  if (p != q)
    return p > q ? -1 : 1;
  if (x->n_bytes != y->n_bytes)
    return x->n_bytes > y->n_bytes ? -1 : 1;
  return x < y ? -1 : x > y;
}

static gint
compare_offsets (gconstpointer a, gconstpointer b)
{
  const Buffer *x = *(Buffer *const *) a, *y = *(Buffer *const *) b;

  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Returns the lowest offset at which `buffer` overlaps no buffer of `others`. `others` are the
 * buffers in use at the same time. */
static gint64
find_gap (const Buffer *buffer, GPtrArray *others)
{
  gint64 offset = 0;

  g_ptr_array_sort (others, compare_offsets);
  for (guint i = 0; i < others->len; i++)
    {
      const Buffer *other = others->pdata[i];

      if (other->offset - offset >= buffer->n_bytes)
        break;
      offset = MAX (offset, other->offset + other->n_bytes);
    }
  return offset;
}

/* Places the buffers in the order of `list`. Returns the bytes of the arena. */
static gint64
place (const GPtrArray *list)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  gint64 end = 0;

  for (guint i = 0; i < list->len; i++)
    {
      Buffer *buffer = list->pdata[i];

      g_ptr_array_set_size (others, 0);
      for (guint k = 0; k < i; k++)
        {
          Buffer *other = list->pdata[k];

          if (other->first <= buffer->last && buffer->first <= other->last)
            g_ptr_array_add (others, other);
        }
      buffer->offset = find_gap (buffer, others);
      end = MAX (end, buffer->offset + buffer->n_bytes);
    }
  return end;
}

/* Places all buffers that operators use, once in each of the N_ORDERS orders of priority_of().
 * Keeps the offsets of the smallest arena, and returns the bytes of that arena. */
static gint64
place_all (Plan *plan)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  gint64 best = G_MAXINT64;
  guint best_order = 0;

  for (guint i = 0; i < plan->buffers->len; i++)
    if (g_array_index (plan->buffers, Buffer, i).first >= 0)
      g_ptr_array_add (list, &g_array_index (plan->buffers, Buffer, i));
  for (guint order = 0; order < N_ORDERS; order++)
    {
      gint64 n_bytes;

      g_ptr_array_sort_with_data (list, compare, GUINT_TO_POINTER (order));
      n_bytes = place (list);
      if (n_bytes < best)
        {
          best = n_bytes;
          best_order = order;
        }
    }
  g_ptr_array_sort_with_data (list, compare, GUINT_TO_POINTER (best_order));
  return place (list);
}

/* A model may have at most this many tensors: the time of placing grows with the square of their
 * number. */
#define MAX_TENSORS 20000

/* Sets `offsets`, indexed by tensor, to byte offsets in the arena; -1 for constants, and for
 * variables and other tensors that the runtime places itself. Returns the bytes of the arena; -1 on
 * error. */
static gint64
plan_memory (const CleaveTfliteModel *model, gint64 alignment, gint32 *offsets, GError **error)
{
  g_autoptr (GArray) buffers = g_array_new (FALSE, FALSE, sizeof (Buffer));
  const CleaveTfliteSubgraph *subgraph = &model->subgraphs[0];
  g_autofree gint *of_tensor = g_new (gint, subgraph->n_tensors + 1);
  Plan plan = { subgraph, buffers, of_tensor };
  gint64 n_bytes;

  if (model->n_subgraphs != 1 || subgraph->n_tensors > MAX_TENSORS)
    {
      cleave_fail (error, CLEAVE_ERROR_MODEL,
                   "it has %u subgraphs and %u tensors; a memory plan needs 1 subgraph and at most "
                   "%d tensors",
                   model->n_subgraphs, subgraph->n_tensors, MAX_TENSORS);
      return -1;
    }
  if (!add_buffers (&plan, alignment, error))
    return -1;
  find_lifetimes (&plan);
  n_bytes = place_all (&plan);
  if (n_bytes > G_MAXINT32)
    {
      cleave_fail (error, CLEAVE_ERROR_MODEL, "its arena would be larger than 2 GiB");
      return -1;
    }
  for (guint t = 0; t < subgraph->n_tensors; t++)
    {
      const Buffer *buffer = buffer_of (&plan, t);

      offsets[t] = buffer == NULL ? -1 : (gint32) buffer->offset;
    }
  return n_bytes;
}

/**
 * cleave_tflite_add_memory_plan:
 * @bytes: a TensorFlow Lite file
 * @alignment: alignment of tensors in bytes, a power of two; TensorFlow Lite for Microcontrollers
 *   needs 16
 * @n_bytes: (out) (optional): return location for the bytes of the tensors in the arena
 * @error: return location for a [struct@GLib.Error]
 *
 * Plans the offset of each tensor in the arena of TensorFlow Lite for Microcontrollers, and adds
 * the plan to the file, as metadata `OfflineMemoryAllocation`. The interpreter then uses these
 * offsets and does not run its own planner for them. The rest of the file does not change.
 *
 * Fails with %CLEAVE_ERROR_MODEL if the file is broken, has several subgraphs, or keeps data behind
 * the FlatBuffer.
 *
 * Returns: (transfer full) (nullable): the file with the plan
 *
 * Since: 0.2
 */
GBytes *
cleave_tflite_add_memory_plan (GBytes *bytes, gint64 alignment, gint64 *n_bytes, GError **error)
{
  g_autoptr (CleaveTfliteModel) model = NULL;
  g_autofree gint32 *offsets = NULL;
  GBytes *file;
  gint64 arena;
  guint n_tensors;

  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (alignment > 0 && alignment <= 4096 && (alignment & (alignment - 1)) == 0,
                        NULL);
  model = cleave_tflite_model_new (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  if (model == NULL)
    return NULL;
  n_tensors = model->subgraphs[0].n_tensors;
  offsets = g_new (gint32, n_tensors + 1);
  arena = plan_memory (model, alignment, offsets, error);
  file = arena < 0 ? NULL : cleave_tflite_write_offsets (bytes, offsets, n_tensors, error);
  if (file != NULL && n_bytes != NULL)
    *n_bytes = arena;
  return file;
}
