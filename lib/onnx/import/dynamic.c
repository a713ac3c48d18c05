/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Divides the nodes of the file into a static part, which becomes the graph, and a dynamic part,
 * which keeps the nodes as they are. A node is dynamic if the contents of a computed value decide
 * its shapes, or if it reads a result of a dynamic node:
 *
 *     Conv -> scores           static: the graph
 *     NonZero (scores) -> i    dynamic: the cause
 *     Gather (boxes, i) -> y   dynamic: it reads i
 *
 * A node that makes a sequence is dynamic, too, if a dynamic node reads the sequence, or if the
 * sequence is an output of the model. */

#include "dynamic.h"

static void
deferred_free (gpointer data)
{
  CleaveOnnxDeferred *deferred = data;

  g_clear_pointer (&deferred->packed, g_bytes_unref);
  g_free (deferred->value);
  g_free (deferred->reason);
  g_free (deferred);
}

void
cleave_onnx_begin_dynamic (CleaveOnnxImport *import)
{
  import->dynamic = g_hash_table_new (g_str_hash, g_str_equal);
  import->deferred = g_ptr_array_new_with_free_func (deferred_free);
  import->sequences = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, NULL);
  import->makers = g_ptr_array_new_with_free_func (deferred_free);
  import->output_names = g_hash_table_new (g_str_hash, g_str_equal);
}

/* The functions below find reads of dynamic values. */

typedef struct
{
  GHashTable *dynamic;
  const char *found;
} Search;

static void
search (const char *name, gpointer data)
{
  Search *s = data;

  if (s->found == NULL && g_hash_table_contains (s->dynamic, name))
    s->found = name;
}

const char *
cleave_onnx_find_dynamic (const CleaveOnnxImport *import, const Onnx__NodeProto *proto)
{
  Search s = { import->dynamic, NULL };

  if (import->dynamic != NULL && g_hash_table_size (import->dynamic) > 0)
    cleave_onnx_each_read (proto, search, &s);
  return s.found;
}

/* The functions below make nodes dynamic. */

GBytes *
cleave_onnx_pack_node (const Onnx__NodeProto *proto)
{
  gsize n = onnx__node_proto__get_packed_size (proto);
  guint8 *data = g_malloc (n + 1);

  onnx__node_proto__pack (proto, data);
  return g_bytes_new_take (data, n);
}

/* Returns whether reading a node may move the bytes of tensors out of the node. */
static gboolean
has_tensors (const Onnx__NodeProto *proto)
{
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (proto->attribute[i]->g != NULL || proto->attribute[i]->t != NULL)
      return g_strcmp0 (proto->op_type, "Constant") != 0;
  return FALSE;
}

CleaveOnnxDeferred *
cleave_onnx_deferred_new (CleaveOnnxImport *import, const Onnx__NodeProto *proto, guint position)
{
  CleaveOnnxDeferred *deferred = g_new0 (CleaveOnnxDeferred, 1);
  gpointer own = g_hash_table_lookup (import->opsets, proto);

  deferred->proto = proto;
  deferred->packed = has_tensors (proto) ? cleave_onnx_pack_node (proto) : NULL;
  deferred->position = position;
  deferred->opset = own == NULL ? import->opset : GPOINTER_TO_INT (own);
  deferred->max_bytes = -1;
  return deferred;
}

void
cleave_onnx_deferred_free (CleaveOnnxDeferred *deferred)
{
  deferred_free (deferred);
}

void
cleave_onnx_defer (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred, const char *value)
{
  const Onnx__NodeProto *proto = deferred->proto;

  deferred->is_cause = value == NULL;
  deferred->value = g_strdup (value != NULL ? value : import->unknown);
  deferred->reason = value == NULL ? g_strdup (import->why)
                                   : g_strdup_printf ("reads '%s', which is dynamic", value);
  if (deferred->is_cause)
    deferred->max_bytes = cleave_onnx_bound_results (import, proto);
  g_ptr_array_add (import->deferred, deferred);
  for (size_t i = 0; i < proto->n_output; i++)
    if (*proto->output[i] != '\0')
      g_hash_table_insert (import->dynamic, proto->output[i], deferred);
}

void
cleave_onnx_note_maker (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred)
{
  const Onnx__NodeProto *proto = deferred->proto;
  gboolean makes_sequence = FALSE;

  for (size_t i = 0; i < proto->n_output; i++)
    {
      const CleaveOnnxValue *value = g_hash_table_lookup (import->values, proto->output[i]);

      if (value == NULL || value->items == NULL)
        continue;
      g_hash_table_insert (import->sequences, proto->output[i], deferred);
      makes_sequence = TRUE;
    }
  if (makes_sequence)
    g_ptr_array_add (import->makers, deferred);
  else
    deferred_free (deferred);
}

/* The functions below make static nodes dynamic, if their results are sequences that the graph
 * cannot have. */

typedef struct
{
  CleaveOnnxImport *import;
  const char *name;
  GPtrArray *todo;    /* CleaveOnnxDeferred: dynamic nodes that pull_makers() has not visited yet; a
                       * dynamic node may read sequences that static nodes make */
  gboolean is_output; /* TRUE: pull_maker() is called with names of the model's outputs; FALSE: with
                       * names that a dynamic node reads */
} Pull;

static void
pull_maker (const char *name, gpointer data)
{
  Pull *pull = data;
  CleaveOnnxDeferred *maker = g_hash_table_lookup (pull->import->sequences, name);
  guint index;

  if (maker == NULL || !g_ptr_array_find (pull->import->makers, maker, &index))
    return;
  g_ptr_array_steal_index (pull->import->makers, index);
  maker->value = g_strdup (name);
  maker->is_cause = pull->is_output;
  maker->reason =
      pull->is_output
          ? g_strdup ("makes a list of tensors, which is an output of the model")
          : g_strdup_printf ("makes the sequence '%s', which a dynamic node reads", name);
  g_ptr_array_add (pull->import->deferred, maker);
  g_ptr_array_add (pull->todo, maker);
  for (size_t i = 0; i < maker->proto->n_output; i++)
    g_hash_table_insert (pull->import->dynamic, maker->proto->output[i], maker);
}

/* Finds the static nodes that make sequences which dynamic nodes read, or which are outputs of the
 * model. Makes these static nodes dynamic. */
static void
pull_makers (CleaveOnnxImport *import)
{
  g_autoptr (GPtrArray) todo = g_ptr_array_new ();
  Pull pull = { .import = import, .todo = todo, .is_output = TRUE };

  for (size_t i = 0; i < import->whole->n_output; i++)
    if (import->whole->output[i]->name != NULL)
      pull_maker (import->whole->output[i]->name, &pull);
  pull.is_output = FALSE;
  for (guint i = 0; i < import->deferred->len; i++)
    g_ptr_array_add (todo, import->deferred->pdata[i]);
  while (todo->len > 0)
    {
      CleaveOnnxDeferred *deferred = g_ptr_array_steal_index (todo, todo->len - 1);

      cleave_onnx_each_read (deferred->proto, pull_maker, &pull);
    }
}

static gint
compare_positions (gconstpointer a, gconstpointer b)
{
  const CleaveOnnxDeferred *one = *(const CleaveOnnxDeferred *const *) a;
  const CleaveOnnxDeferred *other = *(const CleaveOnnxDeferred *const *) b;

  return (one->position > other->position) - (one->position < other->position);
}

/* Returns whether the model has an input of strings, a sequence or an optional value. */
static gboolean
has_dynamic_input (const CleaveOnnxImport *import)
{
  const Onnx__GraphProto *graph = import->whole;

  for (size_t i = 0; i < graph->n_input; i++)
    if (graph->input[i]->name != NULL &&
        g_hash_table_contains (import->dynamic, graph->input[i]->name))
      return TRUE;
  return FALSE;
}

gboolean
cleave_onnx_collect_dynamic (CleaveOnnxImport *import)
{
  if (import->dynamic == NULL)
    return FALSE;
  pull_makers (import);
  if (import->deferred->len == 0 && !has_dynamic_input (import))
    return FALSE;
  g_ptr_array_sort (import->deferred, compare_positions);
  return TRUE;
}
