/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loop.  A graph runs once, from its inputs to its outputs, so the turns of a loop become part of
 * it, each with nodes of its own: as many as constants alone say. */

#include "import.h"

/* Nodes that all loops of a model may become; a graph of so many loads in about a second. */
#define MAX_NODES 200000

/* What a body reads before what is carried from turn to turn: the turn's number, a condition. */
#define N_FIXED 2

typedef struct
{
  CleaveOnnxNode *node;
  const Onnx__GraphProto *body;
  guint n_states;
  GPtrArray *states;  /* CleaveOnnxValue: what the next turn reads, or the loop gives */
  GPtrArray *stacked; /* GPtrArray of CleaveOnnxValue: what each turn gives */
  gboolean *is_own;   /* of each state: whether a node of the last turn made it */
  gboolean goes_on;
} Loop;

static void
loop_clear (Loop *loop)
{
  g_clear_pointer (&loop->states, g_ptr_array_unref);
  g_clear_pointer (&loop->stacked, g_ptr_array_unref);
  g_clear_pointer (&loop->is_own, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loop, loop_clear)

static gboolean
check_body (const Loop *loop, const Onnx__NodeProto *proto, GError **error)
{
  const Onnx__GraphProto *body = loop->body;

  if (body == NULL)
    return cleave_onnx_node_fail (loop->node, error, "it has no body");
  if (body->n_input != N_FIXED + loop->n_states)
    return cleave_onnx_node_fail (loop->node, error,
                                  "its body has %" G_GSIZE_FORMAT " inputs, not %u",
                                  (gsize) body->n_input, N_FIXED + loop->n_states);
  if (body->n_output < 1 + loop->n_states || proto->n_output > body->n_output - 1 ||
      proto->n_output < loop->n_states)
    return cleave_onnx_node_fail (loop->node, error,
                                  "it has %" G_GSIZE_FORMAT
                                  " results, and its body %" G_GSIZE_FORMAT
                                  " for %u values that it carries",
                                  (gsize) proto->n_output, (gsize) body->n_output, loop->n_states);
  for (size_t i = 0; i < body->n_input; i++)
    if (!cleave_onnx_check_name (body->input[i]->name, "an input of a body", error))
      return FALSE;
  return TRUE;
}

/* The one element of a value; absent: `fallback`. */
static gboolean
read_constant (const Loop *loop,
               CleaveOnnxValue *value,
               CleaveElement element,
               gint64 fallback,
               gint64 *number,
               GError **error)
{
  const char *what = element == CLEAVE_BOOL ? "condition" : "number of turns";
  const CleaveTensorType *type = value == NULL ? NULL : cleave_onnx_value_type (value);
  g_autoptr (CleaveTensor) dense = NULL;

  *number = fallback;
  if (value == NULL)
    return TRUE;
  if (type->element != element || cleave_shape_n_elements (&type->shape) != 1)
    return cleave_onnx_node_fail (loop->node, error, "its %s must be one %s", what,
                                  element == CLEAVE_BOOL ? "bool" : "int64");
  if (cleave_onnx_value_constant (loop->node->import, value) == NULL)
    return cleave_onnx_node_fail (loop->node, error,
                                  "its %s must be constant, since a graph runs once, from its "
                                  "inputs to its outputs; it %s",
                                  what, cleave_onnx_why_unknown (value));
  dense = cleave_tensor_dup_dense (value->constant);
  *number = element == CLEAVE_BOOL ? *(const guint8 *) cleave_tensor_get_data (dense) != 0
                                   : *(const gint64 *) cleave_tensor_get_data (dense);
  return TRUE;
}

/* Turns */

gboolean
cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error)
{
  CleaveOnnxImport *import = node->import;

  import->n_unrolled += n_nodes;
  return import->n_unrolled <= MAX_NODES ||
         cleave_onnx_node_fail (
             node, error, "the turns of the model's loops come to more than %d nodes", MAX_NODES);
}

/* The number of the turn, a condition that holds, and what the turn before left. */
static gboolean
bind_inputs (const Loop *loop, gint64 turn, GError **error)
{
  CleaveOnnxImport *import = loop->node->import;
  const CleaveTensorType number = { .element = CLEAVE_INT64 }, flag = { .element = CLEAVE_BOOL };
  const guint8 yes = 1;

  for (guint i = 0; i < loop->body->n_input; i++)
    {
      CleaveOnnxValue *value = i == 0   ? cleave_onnx_constant (loop->node, &number, &turn)
                               : i == 1 ? cleave_onnx_constant (loop->node, &flag, &yes)
                                        : loop->states->pdata[i - N_FIXED];

      if (!cleave_onnx_bind_as (import, loop->body->input[i]->name, value, error))
        return FALSE;
    }
  return TRUE;
}

static CleaveOnnxValue *
find_output (const Loop *loop, guint index, GError **error)
{
  const char *name = loop->body->output[index]->name;
  CleaveOnnxValue *value = name == NULL ? NULL : cleave_onnx_lookup (loop->node->import, name);
  g_autofree char *text = value != NULL ? NULL : g_utf8_make_valid (name == NULL ? "" : name, -1);

  if (value == NULL)
    cleave_onnx_node_fail (loop->node, error, "nothing in its body makes '%s'", text);
  return value;
}

static gboolean
take_outputs (Loop *loop, GError **error)
{
  gint64 goes_on = 0;

  for (guint i = 0; i < loop->body->n_output; i++)
    {
      CleaveOnnxValue *value = find_output (loop, i, error);

      if (value == NULL)
        return FALSE;
      if (i == 0 && !read_constant (loop, value, CLEAVE_BOOL, TRUE, &goes_on, error))
        return FALSE;
      if (i > loop->n_states)
        g_ptr_array_add (loop->stacked->pdata[i - 1 - loop->n_states], value);
      else if (i > 0)
        {
          loop->states->pdata[i - 1] = value;
          loop->is_own[i - 1] =
              g_hash_table_contains (loop->node->import->values, loop->body->output[i]->name);
        }
    }
  loop->goes_on = goes_on != 0;
  return TRUE;
}

/* The inputs have a scope of their own: what a node made is told from what is passed on. */
static gboolean
take_turn (Loop *loop, gint64 turn, GError **error)
{
  CleaveOnnxImport *import = loop->node->import;
  gboolean good;

  cleave_onnx_begin_scope (import);
  good = cleave_onnx_unroll (loop->node, loop->body->n_node + loop->body->n_output, error) &&
         bind_inputs (loop, turn, error);
  cleave_onnx_begin_scope (import);
  good = good && cleave_onnx_read_nodes (import, loop->body, error) && take_outputs (loop, error);
  cleave_onnx_end_scope (import);
  cleave_onnx_end_scope (import);
  return good;
}

static gboolean
take_turns (Loop *loop, gint64 n_turns, GError **error)
{
  gboolean good;

  cleave_onnx_begin_scope (loop->node->import);
  good = cleave_onnx_read_initializers (loop->node->import, loop->body, error);
  for (gint64 turn = 0; good && loop->goes_on && turn < n_turns; turn++)
    good = take_turn (loop, turn, error);
  cleave_onnx_end_scope (loop->node->import);
  return good;
}

/* Results */

/* What each turn gave, one after the other along a new first dimension. */
static CleaveOnnxValue *
stack (const Loop *loop, const GPtrArray *values, GError **error)
{
  CleaveOnnxNode *node = loop->node;
  g_autofree CleaveOnnxValue **rows = g_new0 (CleaveOnnxValue *, values->len);

  if (values->len == 0)
    {
      cleave_onnx_node_fail (node, error,
                             "it takes no turn, so that the shape of what its turns "
                             "would give is not known");
      return NULL;
    }
  for (guint i = 0; i < values->len; i++)
    {
      const CleaveShape *shape = &cleave_onnx_value_type (values->pdata[i])->shape;
      CleaveShape row = { .rank = shape->rank + 1, .dim = { 1 } };

      if (row.rank > CLEAVE_MAX_RANK)
        {
          cleave_onnx_node_fail (node, error, "what its turns give has more than %d dimensions",
                                 CLEAVE_MAX_RANK - 1);
          return NULL;
        }
      for (guint d = 0; d < shape->rank; d++)
        row.dim[1 + d] = shape->dim[d];
      rows[i] = cleave_onnx_node_reshape (node, values->pdata[i], &row, ".turn", error);
      if (rows[i] == NULL)
        return NULL;
    }
  return cleave_onnx_step (node, "Concat", ".turns", rows, values->len,
                           cleave_onnx_attr_new_int ("axis", 0), error);
}

static gboolean
give_results (const Loop *loop, GError **error)
{
  CleaveOnnxNode *node = loop->node;

  node->values = g_ptr_array_new ();
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveOnnxValue *value = i < loop->n_states
                                   ? loop->states->pdata[i]
                                   : stack (loop, loop->stacked->pdata[i - loop->n_states], error);

      if (i < loop->n_states && !loop->is_own[i])
        value = cleave_onnx_pass_on (node, value, error);
      if (value == NULL)
        return FALSE;
      g_ptr_array_add (node->values, value);
    }
  return TRUE;
}

gboolean
cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_auto (Loop) loop = { .node = node, .body = cleave_onnx_find_graph (proto, "body") };
  gint64 n_turns, goes_on;

  loop.n_states = node->operands->len < N_FIXED ? 0 : node->operands->len - N_FIXED;
  if (!check_body (&loop, proto, error))
    return FALSE;
  loop.states = g_ptr_array_new ();
  loop.stacked = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  loop.is_own = g_new0 (gboolean, loop.n_states + 1);
  for (guint i = 0; i < loop.n_states; i++)
    {
      if (cleave_onnx_node_operand (node, N_FIXED + i) == NULL)
        return cleave_onnx_node_fail (node, error, "operand %u is missing", N_FIXED + i);
      g_ptr_array_add (loop.states, cleave_onnx_node_operand (node, N_FIXED + i));
    }
  for (size_t i = 1 + loop.n_states; i < loop.body->n_output; i++)
    g_ptr_array_add (loop.stacked, g_ptr_array_new ());
  if (!read_constant (&loop, cleave_onnx_node_operand (node, 0), CLEAVE_INT64, G_MAXINT64, &n_turns,
                      error) ||
      !read_constant (&loop, cleave_onnx_node_operand (node, 1), CLEAVE_BOOL, TRUE, &goes_on,
                      error))
    return FALSE;
  loop.goes_on = goes_on != 0;
  return take_turns (&loop, n_turns, error) && give_results (&loop, error);
}
