/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a repeat, a run of nodes that occurs several times in a row (repeats.h), as a Loop. The
 * nodes of the first iteration become the body. */

#include "repeats.h"

#include <string.h>

#include "../wire.h"

typedef struct
{
  CleaveOnnxExport *export;
  const CleaveOnnxList *list;
  const CleaveOnnxRepeat *repeat;
  Onnx__GraphProto *body;
  GHashTable *names;     /* maps a key to the name that a value has in the body. The key is the name
                          * of a constant, or the text of key_of() for a result of an earlier
                          * iteration */
  GPtrArray *given;      /* char *: names of the outputs that the body has so far */
  const char *iteration; /* name of the iteration number in the body */
} Loop;

static void
loop_clear (Loop *loop)
{
  g_clear_pointer (&loop->names, g_hash_table_unref);
  g_clear_pointer (&loop->given, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loop, loop_clear)

static const char *
name_after (const Loop *loop, const char *name, const char *suffix)
{
  g_autofree char *text = g_strconcat (name, suffix, NULL);

  return cleave_onnx_name_value (loop->export, text);
}

static const char *
get_name (const CleaveOnnxList *list, guint node, guint result)
{
  return list->nodes[node]->output[result];
}

/* Returns a text, such as "3 0 1", that identifies a node's result of `lag` iterations ago. No
 * value has a name of this form. */
static char *
key_of (const Loop *loop, guint node, guint result, guint lag)
{
  g_autofree char *key = g_strdup_printf ("%u %u %u", node, result, lag);

  return cleave_pool_strdup (loop->export->pool, key);
}

static void
add_input (const Loop *loop, const char *name, const CleaveTensorType *type)
{
  cleave_wire_append (&loop->body->input, &loop->body->n_input,
                      cleave_onnx_info_new (loop->export, name, type));
}

/* Adds the value `name` to the body's outputs. If the body does not compute the value (`is_made`
 * FALSE), or if the value is an output already, adds an Identity, and makes the result of the
 * Identity the output. */
static void
add_output (const Loop *loop, const char *name, const CleaveTensorType *type, gboolean is_made)
{
  if (!is_made || g_ptr_array_find_with_equal_func (loop->given, name, g_str_equal, NULL))
    {
      const char *copy = name_after (loop, name, ".next");

      cleave_onnx_add_node (loop->export, "Identity", copy, &name, 1, &copy, 1);
      name = copy;
    }
  g_ptr_array_add (loop->given, (gpointer) name);
  cleave_wire_append (&loop->body->output, &loop->body->n_output,
                      cleave_onnx_info_new (loop->export, name, type));
}

static const CleaveTensorType *
get_type (const Loop *loop, const char *name)
{
  return &loop->list->types[cleave_onnx_list_value (loop->list, name)];
}

/* The functions below add constants that the body reads. */

/* Copies a constant into the body, and returns the name of the copy. ONNX Runtime prepacks weights
 * only if the node that reads them is in the same graph. */
static const char *
copy_constant (const Loop *loop, guint value)
{
  const Onnx__TensorProto *from = loop->list->constants->pdata[value];
  const char *name = g_hash_table_lookup (loop->names, from->name);
  Onnx__TensorProto *copy;

  if (name != NULL)
    return name;
  name = cleave_onnx_name_value (loop->export, from->name);
  copy = g_new (Onnx__TensorProto, 1);
  *copy = *from; /* a shallow copy: both structs point to the same bytes */
  copy->name = g_strdup (name);
  copy->dims = g_memdup2 (from->dims, from->n_dims * sizeof *from->dims);
  copy->doc_string = NULL;
  cleave_wire_append (&loop->body->initializer, &loop->body->n_initializer, copy);
  g_hash_table_insert (loop->names, from->name, (gpointer) name);
  return name;
}

static const char *
add_numbers (const Loop *loop, const char *name, const gint64 *numbers, guint n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, numbers, NULL);
  Onnx__GraphProto *graph = loop->export->model->graph;

  name = cleave_onnx_name_value (loop->export, name);
  cleave_onnx_add_initializer (loop->export, name, tensor);
  cleave_wire_append (&loop->body->initializer, &loop->body->n_initializer,
                      graph->initializer[--graph->n_initializer]);
  return name;
}

/* The functions below make the nodes of the body. */

/* Adds nodes that compute first + iteration number * step. Returns the name of the result. */
static const char *
add_position (const Loop *loop, const char *name, const gint64 *first, const gint64 *step, guint n)
{
  const char *operands[2] = { loop->iteration, add_numbers (loop, name, step, n) };
  const char *moved = name_after (loop, name, ".moved"), *sum = name_after (loop, name, ".at");

  cleave_onnx_add_node (loop->export, "Mul", moved, operands, 2, &moved, 1);
  operands[0] = moved;
  operands[1] = add_numbers (loop, name, first, n);
  cleave_onnx_add_node (loop->export, "Add", sum, operands, 2, &sum, 1);
  return sum;
}

/* Checks whether the begins and ends of a Slice differ between iterations. If so, adds nodes that
 * compute the begins and the ends from the iteration number. */
static void
move_slice (const Loop *loop, guint at, const char **operands)
{
  const CleaveOnnxList *list = loop->list;
  gint64 step[CLEAVE_MAX_RANK], ends[CLEAVE_MAX_RANK];
  guint n = 0;
  const gint64 *first = cleave_onnx_list_begins (list, at, &n);
  const gint64 *second =
      first == NULL ? NULL : cleave_onnx_list_begins (list, at + loop->repeat->period, &n);
  const Onnx__TensorProto *end;
  gboolean moves = FALSE;

  if (first == NULL)
    return;
  end = list->constants->pdata[cleave_onnx_list_input (list, at, 2)];
  memcpy (ends, end->raw_data.data, n * sizeof *ends);
  for (guint i = 0; i < n; i++)
    {
      step[i] = second[i] - first[i];
      moves = moves || step[i] != 0;
    }
  if (!moves)
    return;
  operands[1] = add_position (loop, "begins", first, step, n);
  operands[2] = add_position (loop, "ends", ends, step, n);
}

static const char *
name_operand (const Loop *loop, guint node, guint input)
{
  const CleaveOnnxList *list = loop->list;
  guint value = cleave_onnx_list_input (list, loop->repeat->begin + node, input);
  CleaveOnnxRelation relation;

  if (value == CLEAVE_NO_VALUE)
    return "";
  if (list->constants->pdata[value] != NULL)
    return copy_constant (loop, value);
  relation = cleave_onnx_list_relate (list, loop->repeat, node, input);
  if (relation.lag == 0)
    return list->names->pdata[value];
  return g_hash_table_lookup (loop->names,
                              key_of (loop, relation.node, relation.result, relation.lag));
}

/* Returns the doc string for a node of the body: the doc strings that the node has in the first and
 * in the last iteration, joined. */
static char *
join_docs (const Loop *loop, const Onnx__NodeProto *first, const Onnx__NodeProto *last)
{
  g_autofree char *text = NULL;

  if (first->doc_string == NULL || *first->doc_string == '\0' || last->doc_string == NULL)
    return first->doc_string;
  text = g_strdup_printf ("%s; in the last of %u iterations %s", first->doc_string,
                          loop->repeat->n_iterations, last->doc_string);
  return cleave_pool_strdup (loop->export->pool, text);
}

/* Moves a node of the first iteration into the body. */
static void
add_iteration_node (const Loop *loop, guint node)
{
  const CleaveOnnxRepeat *repeat = loop->repeat;
  guint at = repeat->begin + node, n = cleave_onnx_list_n_inputs (loop->list, at);
  Onnx__NodeProto *proto = loop->list->nodes[at];
  const char **operands = cleave_pool_alloc (loop->export->pool, MAX (n, 4) * sizeof *operands);

  memset (operands, 0, MAX (n, 4) * sizeof *operands);
  move_slice (loop, at, operands);
  for (guint k = 0; k < n; k++)
    operands[k] = operands[k] != NULL ? operands[k] : name_operand (loop, node, k);
  proto->input = (char **) operands;
  proto->doc_string =
      join_docs (loop, proto, loop->list->nodes[at + (repeat->n_iterations - 1) * repeat->period]);
  cleave_wire_append (&loop->body->node, &loop->body->n_node, proto);
}

static void
name_states (const Loop *loop)
{
  for (guint i = 0; i < loop->repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (loop->repeat->states, CleaveOnnxState, i);
      const char *own = get_name (loop->list, loop->repeat->begin + state->node, state->result);

      for (guint lag = 1; lag <= state->lag; lag++)
        {
          const char *name = name_after (loop, own, ".before");

          add_input (loop, name, get_type (loop, own));
          g_hash_table_insert (loop->names, key_of (loop, state->node, state->result, lag),
                               (gpointer) name);
        }
    }
}

static void
give_states (const Loop *loop)
{
  for (guint i = 0; i < loop->repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (loop->repeat->states, CleaveOnnxState, i);
      const char *own = get_name (loop->list, loop->repeat->begin + state->node, state->result);

      add_output (loop, own, get_type (loop, own), TRUE);
      for (guint lag = 1; lag < state->lag; lag++)
        {
          const char *key = key_of (loop, state->node, state->result, lag);

          add_output (loop, g_hash_table_lookup (loop->names, key), get_type (loop, own), FALSE);
        }
    }
}

static void
write_body (Loop *loop)
{
  static const CleaveTensorType number = { .element = CLEAVE_INT64 },
                                flag = { .element = CLEAVE_BOOL };
  const CleaveOnnxRepeat *repeat = loop->repeat;
  Onnx__GraphProto *outer = loop->export->scope;
  const char *goes_on = cleave_onnx_name_value (loop->export, "goes_on");

  loop->export->scope = loop->body;
  loop->iteration = cleave_onnx_name_value (loop->export, "iteration");
  add_input (loop, loop->iteration, &number);
  add_input (loop, goes_on, &flag);
  name_states (loop);
  for (guint node = 0; node < repeat->period; node++)
    add_iteration_node (loop, node);
  add_output (loop, goes_on, &flag, FALSE);
  give_states (loop);
  for (guint i = 0; i < repeat->stacks->len; i++)
    {
      const CleaveOnnxStack *stack = &g_array_index (repeat->stacks, CleaveOnnxStack, i);
      const char *own = get_name (loop->list, repeat->begin + stack->node, stack->result);

      add_output (loop, own, get_type (loop, own), TRUE);
    }
  loop->export->scope = outer;
}

/* The functions below write the Loop and the nodes after it. */

/* Computes the Concat that joins one result of the body from all iterations. The Loop stacks the
 * results along a new first dimension, in the value `stacked`. A Transpose and a Reshape merge this
 * dimension into the axis of the Concat. */
static void
join_iterations (const Loop *loop, const CleaveOnnxStack *stack, const char *stacked)
{
  const CleaveOnnxRepeat *repeat = loop->repeat;
  Onnx__NodeProto *concat = loop->list->nodes[stack->reader];
  const char *own = get_name (loop->list, repeat->begin + stack->node, stack->result);
  CleaveShape shape = get_type (loop, own)->shape;
  gint64 axis = concat->attribute[0]->i, perm[CLEAVE_MAX_RANK + 1], outer = 1;
  const char *operands[2] = { stacked }, *moved = name_after (loop, own, ".moved"),
             *joined = name_after (loop, own, ".joined");
  guint k = stack->input;

  for (guint d = 0; d < axis; d++)
    outer *= shape.dim[d];
  for (guint d = 0; d <= shape.rank; d++)
    perm[d] = d < axis ? d + 1 : d == axis ? 0 : d;
  if (outer != 1)
    {
      cleave_onnx_add_ints (
          cleave_onnx_add_node (loop->export, "Transpose", moved, operands, 1, &moved, 1), "perm",
          perm, shape.rank + 1);
      operands[0] = moved;
    }
  shape.dim[axis] *= repeat->n_iterations;
  operands[1] = cleave_onnx_add_list (loop->export, "shape", shape.dim, shape.rank);
  cleave_onnx_add_node (loop->export, "Reshape", joined, operands, 2, &joined, 1);
  concat->input[k] = (char *) joined;
  for (guint i = 1; i < repeat->n_iterations; i++)
    concat->input[k + i] = NULL;
}

static void
write_node (Loop *loop)
{
  const CleaveOnnxRepeat *repeat = loop->repeat;
  static const guint8 yes[] = { 1 };
  const CleaveTensorType flag = { .element = CLEAVE_BOOL };
  const gint64 n_iterations = repeat->n_iterations;
  g_autoptr (GPtrArray) operands = g_ptr_array_new (), results = g_ptr_array_new ();
  Onnx__NodeProto *node;

  g_ptr_array_add (operands,
                   (gpointer) cleave_onnx_add_list (loop->export, "iterations", &n_iterations, 1));
  g_ptr_array_add (operands,
                   (gpointer) cleave_onnx_add_small (loop->export, "always",
                                                     cleave_tensor_new_copy (&flag, yes, NULL)));
  for (guint i = 0; i < repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (repeat->states, CleaveOnnxState, i);

      for (guint lag = 1; lag <= state->lag; lag++)
        {
          guint last = repeat->begin + (repeat->n_iterations - lag) * repeat->period + state->node;

          g_ptr_array_add (operands, loop->list->names->pdata[state->first[lag - 1]]);
          g_ptr_array_add (results, (gpointer) get_name (loop->list, last, state->result));
        }
    }
  for (guint i = 0; i < repeat->stacks->len; i++)
    {
      const CleaveOnnxStack *stack = &g_array_index (repeat->stacks, CleaveOnnxStack, i);
      const char *own = get_name (loop->list, repeat->begin + stack->node, stack->result);

      g_ptr_array_add (results, (gpointer) name_after (loop, own, ".iterations"));
    }
  node = cleave_onnx_add_node (loop->export, "Loop", "loop", (const char *const *) operands->pdata,
                               operands->len, (const char *const *) results->pdata, results->len);
  loop->body = cleave_onnx_add_graph (node, "body");
  write_body (loop);
  for (guint i = 0; i < repeat->stacks->len; i++)
    join_iterations (loop, &g_array_index (repeat->stacks, CleaveOnnxStack, i),
                     results->pdata[results->len - repeat->stacks->len + i]);
}

void
cleave_onnx_write_loop (CleaveOnnxExport *export,
                        const CleaveOnnxList *list,
                        const CleaveOnnxRepeat *repeat)
{
  g_auto (Loop) loop = { .export = export, .list = list, .repeat = repeat };

  loop.names = g_hash_table_new (g_str_hash, g_str_equal);
  loop.given = g_ptr_array_new ();
  write_node (&loop);
}
