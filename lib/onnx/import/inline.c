/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inlines functions: finds the function of each call, copies its nodes, renames their values, and
 * inserts the attributes of the call.
 *
 * Over 400 lines: all functions of this file work on the state of one call. */

#include "inline.h"

#include <stdlib.h>
#include <string.h>

#include "../rename.h"
#include "../wire.h"
#include "import.h"

/* Calls may be nested this deep. ONNX forbids recursion, so this limit also ends a cycle of calls.
 */
#define MAX_CALLS 64
/* Calls may add at most MAX_NODES nodes and MAX_BYTES bytes to a model. */
#define MAX_NODES (1 << 20)
#define MAX_BYTES (1 << 30)

/* A call may have at most MAX_ATTRS attributes. The protobuf schema of libonnx-dev lacks some
 * fields of a function, such as the default values of its attributes; a function may have at most
 * MAX_FIELDS of these fields. To find one, the code compares all attributes or fields one by one.
 */
#define MAX_ATTRS 256
#define MAX_FIELDS 1024

/* Numbers of protobuf fields that the schema of libonnx-dev lacks. */
#define NODE_OVERLOAD 8
#define FUNCTION_DEFAULTS 11
#define FUNCTION_OVERLOAD 13

typedef struct
{
  GHashTable *functions; /* maps the identity of a function (make_identity()) to its
                          * Onnx__FunctionProto */
  GHashTable *names;     /* set of the names of all values of the model */
  GHashTable *opsets;    /* maps a node of the model to its opset, if this differs from `opset` */
  gint64 opset;          /* opset of the model's default domain */
  gsize n_nodes, n_bytes;
} Inliner;

/* The state of one call, while the nodes of its function are copied. */
typedef struct
{
  Inliner *inliner;
  const Onnx__FunctionProto *function;
  const Onnx__NodeProto *node;
  CleaveOnnxRenaming renaming;
} Call;

static gboolean
has_text (const char *text)
{
  return text != NULL && *text != '\0';
}

static const char *
get_call_name (const Onnx__NodeProto *node)
{
  if (has_text (node->name))
    return node->name;
  return node->n_output > 0 && has_text (node->output[0]) ? node->output[0] : node->op_type;
}

static gboolean
fail (const Call *call, GError **error, const char *what)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "call '%s' of the function '%s': %s",
                      call->renaming.prefix, call->function->name, what);
}

/* The functions below find functions by their identity: domain, name and overload. */

/* Finds a field that the schema lacks among the unknown fields of a message. Begins at unknown
 * field `*at`, and sets `*at` to the index after the found field. Returns the data of the field,
 * and sets `n` to its length in bytes. Returns NULL if there is no such field. */
static const guint8 *
find_field (const ProtobufCMessage *message, guint32 tag, guint *at, gsize *n)
{
  for (; *at < message->n_unknown_fields; (*at)++)
    {
      const ProtobufCMessageUnknownField *field = &message->unknown_fields[*at];
      gsize begin = 0;

      if (field->tag != tag || field->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        continue;
      while (begin < field->len && (field->data[begin] & 0x80) != 0)
        begin++;
      if (begin == field->len)
        continue;
      (*at)++;
      *n = field->len - begin - 1;
      return field->data + begin + 1;
    }
  return NULL;
}

/* Returns a text that identifies a function, or the function of a call: domain, name and overload.
 */
static char *
make_identity (const char *domain, const char *name, const ProtobufCMessage *message, guint32 tag)
{
  guint at = 0;
  gsize n = 0;
  const guint8 *overload = find_field (message, tag, &at, &n);

  return g_strdup_printf ("%s\n%s\n%.*s", cleave_onnx_is_default_domain (domain) ? "" : domain,
                          name, (int) MIN (n, G_MAXINT16),
                          overload == NULL ? "" : (const char *) overload);
}

static const Onnx__FunctionProto *
find_function (const Inliner *inliner, const Onnx__NodeProto *node)
{
  g_autofree char *identity = NULL;

  if (!has_text (node->op_type))
    return NULL;
  identity = make_identity (node->domain, node->op_type, &node->base, NODE_OVERLOAD);
  return g_hash_table_lookup (inliner->functions, identity);
}

static gboolean
index_functions (Inliner *inliner, const Onnx__ModelProto *model, GError **error)
{
  for (size_t i = 0; i < model->n_functions; i++)
    {
      Onnx__FunctionProto *function = model->functions[i];
      char *identity;

      if (!cleave_onnx_check_name (function->name, "a function", error))
        return FALSE;
      if (function->base.n_unknown_fields > MAX_FIELDS)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "function '%s' has too many fields",
                            function->name);
      identity =
          make_identity (function->domain, function->name, &function->base, FUNCTION_OVERLOAD);
      if (!g_hash_table_insert (inliner->functions, identity, function))
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "function '%s' is defined twice",
                            function->name);
    }
  return TRUE;
}

/* The functions below resolve attributes of a function's nodes that refer to attributes of the
 * call. */

/* Returns a copy of the message. The caller frees it. */
static gpointer
copy_message (Inliner *inliner, const ProtobufCMessage *message)
{
  gsize n = protobuf_c_message_get_packed_size (message);
  g_autofree guint8 *data = g_malloc (n + 1);

  inliner->n_bytes += n;
  protobuf_c_message_pack (message, data);
  return protobuf_c_message_unpack (message->descriptor, NULL, n, data);
}

/* Returns the value of the function's attribute `name` in a call: from the call, or else the
 * default of the function. The caller frees the value. Returns NULL without an error if neither has
 * the attribute. */
static Onnx__AttributeProto *
find_attribute (const Call *call, const char *name, GError **error)
{
  gsize n = 0;
  guint at = 0;
  const guint8 *data;

  for (size_t i = 0; i < call->node->n_attribute; i++)
    if (g_strcmp0 (call->node->attribute[i]->name, name) == 0)
      return copy_message (call->inliner, &call->node->attribute[i]->base);
  while ((data = find_field (&call->function->base, FUNCTION_DEFAULTS, &at, &n)) != NULL)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (data, n);
      Onnx__AttributeProto *attribute = cleave_wire_unpack (&onnx__attribute_proto__descriptor,
                                                            bytes, FALSE, "ONNX attribute", error);

      if (attribute == NULL || g_strcmp0 (attribute->name, name) == 0)
        return attribute;
      onnx__attribute_proto__free_unpacked (attribute, NULL);
    }
  return NULL;
}

/* Resolves the attributes of a node that refer to attributes of the function: each gets the value
 * of the function's attribute in this call. Removes an attribute if the function's attribute has no
 * value. */
static gboolean
resolve_attributes (const Call *call, Onnx__NodeProto *node, GError **error)
{
  size_t n = 0;
  gboolean good = TRUE;

  for (size_t i = 0; i < node->n_attribute; i++)
    {
      Onnx__AttributeProto *attribute = node->attribute[i], *value = attribute;

      for (size_t k = 0; attribute->g != NULL && k < attribute->g->n_node && good; k++)
        good = resolve_attributes (call, attribute->g->node[k], error);
      if (good && has_text (attribute->ref_attr_name))
        {
          g_autoptr (GError) why = NULL;

          value = find_attribute (call, attribute->ref_attr_name, &why);
          if (value != NULL && attribute->name != NULL)
            cleave_onnx_set_text (&value->name, attribute->name);
          onnx__attribute_proto__free_unpacked (attribute, NULL);
          if (why != NULL)
            good = fail (call, error, why->message);
        }
      if (value != NULL)
        node->attribute[n++] = value;
    }
  node->n_attribute = n;
  return good;
}

/* The functions below replace a call by the nodes of its function. */

static Onnx__NodeProto *
make_identity_node (const char *from, const char *to)
{
  Onnx__NodeProto *node = malloc (sizeof *node);

  onnx__node_proto__init (node);
  node->op_type = strdup ("Identity");
  node->input = malloc (sizeof *node->input);
  node->output = malloc (sizeof *node->output);
  node->input[0] = strdup (from);
  node->output[0] = strdup (to);
  node->n_input = node->n_output = 1;
  return node;
}

/* Maps the names of the function's inputs and outputs to the names of the call's operands and
 * results. If an output already has a name, since it is also an input or another output, adds an
 * Identity to `last`. */
static gboolean
rename_border (const Call *call, GPtrArray *last, GError **error)
{
  const Onnx__FunctionProto *function = call->function;
  const Onnx__NodeProto *node = call->node;

  if (!cleave_onnx_check_name (call->renaming.prefix, "a call of a function", error))
    return FALSE;
  if (node->n_attribute > MAX_ATTRS)
    return fail (call, error, "it has too many attributes");
  if (node->n_input > function->n_input)
    return fail (call, error, "it has more operands than the function has inputs");
  if (node->n_output > function->n_output)
    return fail (call, error, "it has more results than the function has outputs");
  for (size_t i = 0; i < function->n_input; i++)
    if (!g_hash_table_insert (call->renaming.renamed, g_strdup (function->input[i]),
                              g_strdup (i < node->n_input ? node->input[i] : "")))
      return fail (call, error, "two inputs of the function have one name");
  for (size_t i = 0; i < node->n_output; i++)
    {
      const char *known = g_hash_table_lookup (call->renaming.renamed, function->output[i]);

      if (*node->output[i] == '\0')
        continue;
      if (known == NULL)
        g_hash_table_insert (call->renaming.renamed, g_strdup (function->output[i]),
                             g_strdup (node->output[i]));
      else if (*known != '\0')
        g_ptr_array_add (last, make_identity_node (known, node->output[i]));
      else
        return fail (call, error, "an output of the function is an input that the call leaves out");
    }
  return TRUE;
}

/* Returns copies of the nodes of the function for a call, with new names. Freeing the returned list
 * does not free the nodes. Returns NULL on error. */
static GPtrArray *
copy_nodes (Inliner *inliner,
            const Onnx__FunctionProto *function,
            const Onnx__NodeProto *node,
            GError **error)
{
  g_autoptr (GHashTable) renamed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Call call = { inliner, function, node, { get_call_name (node), renamed, inliner->names, 0 } };
  g_autoptr (GPtrArray) last = g_ptr_array_new ();
  GPtrArray *nodes = g_ptr_array_new ();
  gboolean good = rename_border (&call, last, error);

  inliner->n_nodes += function->n_node;
  if (good && inliner->n_nodes > MAX_NODES)
    good = fail (&call, error, "the calls of the model have too many nodes");
  for (size_t i = 0; i < function->n_node && good; i++)
    {
      Onnx__NodeProto *copy = copy_message (inliner, &function->node[i]->base);

      if (copy == NULL || inliner->n_bytes + call.renaming.n_bytes > MAX_BYTES)
        good = fail (&call, error, "the calls of the model take too much memory");
      if (copy == NULL)
        break;
      cleave_onnx_rename_node (&call.renaming, copy);
      good = good && resolve_attributes (&call, copy, error);
      g_ptr_array_add (nodes, copy);
    }
  inliner->n_bytes += call.renaming.n_bytes;
  for (guint i = 0; i < last->len; i++)
    g_ptr_array_add (nodes, last->pdata[i]);
  if (good)
    return nodes;
  for (guint i = 0; i < nodes->len; i++)
    onnx__node_proto__free_unpacked (nodes->pdata[i], NULL);
  g_ptr_array_unref (nodes);
  return NULL;
}

/* Returns the opset that a function states for its nodes; `otherwise` if the function states none.
 */
static gint64
find_opset (const Onnx__FunctionProto *function, gint64 otherwise)
{
  for (size_t i = 0; i < function->n_opset_import; i++)
    if (cleave_onnx_is_default_domain (function->opset_import[i]->domain))
      return function->opset_import[i]->version;
  return otherwise;
}

static gboolean expand (Inliner *inliner,
                        Onnx__NodeProto *node,
                        gint64 opset,
                        guint depth,
                        GPtrArray *to,
                        GError **error);

/* Replaces each call of a function in a graph by the function's nodes. After an error, the later
 * nodes stay unchanged. */
static gboolean
expand_graph (Inliner *inliner, Onnx__GraphProto *graph, gint64 opset, guint depth, GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  gboolean good = TRUE;

  for (size_t i = 0; i < graph->n_node; i++)
    if (good)
      good = expand (inliner, graph->node[i], opset, depth, nodes, error);
    else
      g_ptr_array_add (nodes, graph->node[i]);
  free (graph->node);
  graph->n_node = nodes->len;
  graph->node = malloc ((nodes->len + 1) * sizeof *graph->node);
  for (guint i = 0; i < nodes->len; i++)
    graph->node[i] = nodes->pdata[i];
  return good;
}

/* Adds a node to the list `to`. If the node calls a function, adds the function's nodes instead.
 * Takes ownership of `node`, even on error. */
static gboolean
expand (Inliner *inliner,
        Onnx__NodeProto *node,
        gint64 opset,
        guint depth,
        GPtrArray *to,
        GError **error)
{
  const Onnx__FunctionProto *function = find_function (inliner, node);
  g_autoptr (GPtrArray) nodes = NULL;
  gboolean good = TRUE;

  if (function == NULL)
    {
      if (opset != inliner->opset)
        g_hash_table_insert (inliner->opsets, node, GINT_TO_POINTER ((int) opset));
      g_ptr_array_add (to, node);
      for (size_t i = 0; i < node->n_attribute && good; i++)
        if (node->attribute[i]->g != NULL)
          good = expand_graph (inliner, node->attribute[i]->g, opset, depth, error);
      return good;
    }
  if (depth == MAX_CALLS)
    good = cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "function '%s': calls are nested more than %d deep, perhaps in a circle",
                        function->name, MAX_CALLS);
  opset = find_opset (function, opset);
  if (good && (opset < CLEAVE_ONNX_MIN_OPSET || opset > CLEAVE_ONNX_MAX_OPSET))
    good = cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "function '%s': opset %" G_GINT64_FORMAT
                        " is not supported: it must be between %d and %d",
                        function->name, opset, CLEAVE_ONNX_MIN_OPSET, CLEAVE_ONNX_MAX_OPSET);
  nodes = good ? copy_nodes (inliner, function, node, error) : NULL;
  onnx__node_proto__free_unpacked (node, NULL);
  good = nodes != NULL;
  for (guint i = 0; good && i < nodes->len; i++)
    if (!expand (inliner, nodes->pdata[i], opset, depth + 1, to, error))
      {
        for (i++; i < nodes->len; i++)
          g_ptr_array_add (to, nodes->pdata[i]);
        good = FALSE;
      }
  return good;
}

/* Adds to the opsets of the model the opsets that a function states for domains other than the
 * default domain. */
static void
add_opsets (Onnx__ModelProto *model, const Onnx__FunctionProto *function)
{
  for (size_t i = 0; i < function->n_opset_import; i++)
    {
      Onnx__OperatorSetIdProto *set = function->opset_import[i];
      gboolean is_known = cleave_onnx_is_default_domain (set->domain);

      for (size_t k = 0; k < model->n_opset_import && !is_known; k++)
        is_known = g_strcmp0 (model->opset_import[k]->domain, set->domain) == 0;
      if (is_known)
        continue;
      cleave_wire_append (&model->opset_import, &model->n_opset_import,
                          protobuf_c_message_unpack (set->base.descriptor, NULL, 0, NULL));
      cleave_onnx_set_text (&model->opset_import[model->n_opset_import - 1]->domain, set->domain);
      model->opset_import[model->n_opset_import - 1]->has_version = set->has_version;
      model->opset_import[model->n_opset_import - 1]->version = set->version;
    }
}

static gint64
find_model_opset (const Onnx__ModelProto *model)
{
  for (size_t i = 0; i < model->n_opset_import; i++)
    if (cleave_onnx_is_default_domain (model->opset_import[i]->domain))
      return model->opset_import[i]->version;
  return CLEAVE_ONNX_OPSET;
}

GHashTable *
cleave_onnx_inline (Onnx__ModelProto *model, GError **error)
{
  g_autoptr (GHashTable) functions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) opsets = g_hash_table_new (NULL, NULL);
  Inliner inliner = { functions, names, opsets, find_model_opset (model), 0, 0 };

  if (model->n_functions == 0 || model->graph == NULL)
    return g_steal_pointer (&opsets);
  if (!index_functions (&inliner, model, error))
    return NULL;
  cleave_onnx_note_names (names, model->graph);
  if (!expand_graph (&inliner, model->graph, inliner.opset, 0, error))
    return NULL;
  for (size_t i = 0; i < model->n_functions; i++)
    add_opsets (model, model->functions[i]);
  for (size_t i = 0; i < model->n_functions; i++)
    onnx__function_proto__free_unpacked (model->functions[i], NULL);
  free (model->functions);
  model->functions = NULL;
  model->n_functions = 0;
  return g_steal_pointer (&opsets);
}
