/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the letters of the dimensions of a node's result 0, such as N, C, H and W. An array
 * `result_dim` maps the dimensions of an operand to dimensions of the result: dimension d of the
 * operand becomes dimension `result_dim[d]` of the result. */

#include "dimension-names.h"

#include <string.h>

/* How dimensions get letters:
 * - An op with a layout has letters of its own.
 * - The result of any other op gets the letters of an operand. The dimension map moves the letters:
 *   a Relu of an NCHW value is NCHW, and a Transpose of an NCHW value may be NHWC.
 * - If no operand has letters, a value gets letters from a node that reads it: a value that is
 *   quantized before a convolution is NCHW as well. */

/* Limit on the number of nodes that a query without a cache visits towards the inputs, from a node
 * to an op with a layout. With a limit, a query about every node of a long chain takes linear
 * time. */
#define MAX_STEPS 256
/* Limits for find_letters_of_readers(), which looks for letters at the readers of a value and at
 * their readers: number of steps, and number of readers of each value. */
#define MAX_STEPS_BELOW 32
#define MAX_READERS 8

/* find_letters_of_readers() skips a reader with more operands than this. Without this limit, a join
 * with many operands takes quadratic time: the search for the letters of each operand lists all
 * operands of the join. */
#define MAX_OPERANDS 256

static const char *
own_letters (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const char *letters;

  if (node->op->layout == NULL)
    return NULL;
  cleave_node_call_init (&call, node);
  letters = node->op->layout (&call.call);
  return letters != NULL && strlen (letters) == node->results[0].type.shape.rank ? letters : NULL;
}

/* Sets `result_dim[d]` to the dimension of result 0 that dimension d of an operand becomes. A
 * dimension that is read whole (the axis of a Softmax, a reduced dimension that is kept) keeps its
 * index. Returns FALSE if the dimensions do not correspond one to one. */
static gboolean
map_dims (const CleaveCall *call, guint operand, guint *result_dim)
{
  const CleaveShape *x = &call->operands[operand].shape, *y = &call->results[0].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  gboolean taken[CLEAVE_MAX_RANK] = { FALSE };

  if (x->rank != y->rank)
    return FALSE;
  call->op->maps (call, operand, map);
  for (guint d = 0; d < x->rank; d++)
    {
      gboolean whole = map[d].stride == 0;

      result_dim[d] = whole ? d : map[d].from;
      if (taken[result_dim[d]] || (whole && y->dim[d] != x->dim[d] && y->dim[d] != 1))
        return FALSE;
      taken[result_dim[d]] = TRUE;
    }
  return TRUE;
}

/* Returns the node that computes the first operand whose dimensions correspond one to one to
 * dimensions of the result. Sets `result_dim[d]` to the dimension of the result that corresponds to
 * dimension d of the operand. Returns NULL if there is no such operand. */
static const CleaveNode *
find_source (const CleaveNode *node, guint *result_dim)
{
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, node);
  for (guint i = 0; node->op->maps != NULL && i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL && x->index == 0 && !cleave_node_is_fixed (x->node) &&
          map_dims (&call.call, i, result_dim))
        return x->node;
    }
  return NULL;
}

/* One node of the path that find_letters_above() follows: from the given node through operands to a
 * node whose letters are known. Dimension d of the operand (find_source()) becomes dimension
 * `result_dim[d]` of result 0 of `node`. */
typedef struct
{
  const CleaveNode *node;
  guint result_dim[CLEAVE_MAX_RANK];
} Step;

/* Moves letters from dimensions of an operand to dimensions of a node's result. `letters` has the
 * letters of the operand that find_source() chose. Dimension d of the operand corresponds to
 * dimension `result_dim[d]` of the result. */
static const char *
permute (const char *letters, const guint *result_dim)
{
  char permuted[CLEAVE_MAX_RANK + 1] = { '\0' };

  for (guint d = 0; letters[d] != '\0'; d++)
    permuted[result_dim[d]] = letters[d];
  return g_intern_string (permuted);
}

/* Returns the letters of a node. If the op of the node has no letters, follows operands towards the
 * inputs, until an op has letters, and maps these letters to the node's result. Returns NULL if no
 * op with letters is found within `max_steps` nodes. */
static const char *
find_letters_above (GHashTable *known, const CleaveNode *node, guint max_steps)
{
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (Step));
  gpointer letters = NULL;

  while (node != NULL && path->len < max_steps &&
         !g_hash_table_lookup_extended (known, node, NULL, &letters))
    {
      Step step = { .node = node };

      letters = (gpointer) own_letters (node);
      node = letters != NULL ? NULL : find_source (node, step.result_dim);
      for (guint d = 0; letters != NULL && d < CLEAVE_MAX_RANK; d++)
        step.result_dim[d] = d;
      g_array_append_val (path, step);
    }
  for (guint i = path->len; i-- > 0;)
    {
      const Step *step = &g_array_index (path, Step, i);

      letters = letters == NULL ? NULL : (gpointer) permute (letters, step->result_dim);
      g_hash_table_insert (known, (gpointer) step->node, letters);
    }
  return letters;
}

/* Sets `letters` to the letters that a reader with a layout gives to an operand: the letters of the
 * reader's result. In a pooling, the dimensions of the operand correspond one to one to dimensions
 * of the result. A convolution sums over one dimension of the operand, the channels: this dimension
 * gets the one remaining letter. For other readers, returns FALSE and sets no letter. */
static gboolean
read_letters (const CleaveOperand *use, char *letters)
{
  const char *own = own_letters (use->node);
  const CleaveShape *x = &use->result->type.shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  guint taken = 0, summed = CLEAVE_MAX_RANK, result_dim[CLEAVE_MAX_RANK];
  g_auto (CleaveNodeCall) call = { 0 };
  gboolean is_one_to_one;

  if (own == NULL || x->rank != strlen (own) || use->node->op->maps == NULL)
    return FALSE;
  cleave_node_call_init (&call, use->node);
  is_one_to_one = map_dims (&call.call, use->index, result_dim);
  use->node->op->maps (&call.call, use->index, map);
  for (guint d = 0; d < x->rank && !is_one_to_one; d++)
    if (map[d].stride != 0)
      taken |= 1u << (result_dim[d] = map[d].from);
    else if (summed == CLEAVE_MAX_RANK)
      summed = d;
    else
      return FALSE;
  for (guint d = 0; d < x->rank && summed < x->rank; d++)
    if ((taken >> d & 1) == 0)
      result_dim[summed] = d;
  for (guint d = 0; d < x->rank; d++)
    letters[d] = own[result_dim[d]];
  return TRUE;
}

/* Returns the first reader from which result 0 of a node can get letters. Returns NULL if there is
 * none. A reader gives letters in one of two ways:
 *
 * - The reader has a layout, which gives the operand letters (read_letters()). Sets `letters` to
 *   these letters.
 * - The dimensions of result 0 correspond one to one to dimensions of the reader's result. Sets
 *   `result_dim[d]` to the dimension of the reader's result that corresponds to dimension d of
 *   result 0. */
static const CleaveNode *
find_reader (const CleaveNode *node, char *letters, guint *result_dim)
{
  const CleaveOperand *use = node->results[0].first_use;

  for (guint i = 0; i < MAX_READERS && use != NULL; i++, use = use->next_use)
    {
      g_auto (CleaveNodeCall) call = { 0 };

      if (use->node == NULL || use->node->op->maps == NULL || use->node->n_operands > MAX_OPERANDS)
        continue;
      cleave_node_call_init (&call, use->node);
      if (read_letters (use, letters) || map_dims (&call.call, use->index, result_dim))
        return use->node;
    }
  return NULL;
}

/* Returns the letters that readers give to result 0; NULL if they give none. */
static const char *
find_letters_of_readers (const CleaveNode *node)
{
  guint reader_dim[CLEAVE_MAX_RANK]; /* dimension d of result 0 becomes dimension `reader_dim[d]` of
                                        the current reader */
  guint rank = node->results[0].type.shape.rank;

  for (guint d = 0; d < rank; d++)
    reader_dim[d] = d;
  for (guint step = 0; node != NULL && step < MAX_STEPS_BELOW; step++)
    {
      char letters[CLEAVE_MAX_RANK] = { '\0' }, permuted[CLEAVE_MAX_RANK + 1] = { '\0' };
      guint result_dim[CLEAVE_MAX_RANK];

      node = find_reader (node, letters, result_dim);
      for (guint d = 0; node != NULL && d < rank; d++)
        if (letters[0] != '\0')
          permuted[d] = letters[reader_dim[d]];
        else
          reader_dim[d] = result_dim[reader_dim[d]];
      if (permuted[0] != '\0')
        return g_intern_string (permuted);
    }
  return NULL;
}

const char *
cleave_letters_find (GHashTable *known, const CleaveNode *node, guint max_steps)
{
  const char *letters = find_letters_above (known, node, max_steps);

  return letters != NULL || node->op->maps == NULL ? letters : find_letters_of_readers (node);
}

const char *
cleave_node_get_letters (const CleaveNode *node)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);

  return cleave_letters_find (known, node, MAX_STEPS);
}

gint
cleave_node_find_dim (const CleaveNode *node, char letter)
{
  const char *letters = node->op->maps == NULL ? NULL : cleave_node_get_letters (node);
  const char *at = letters == NULL ? NULL : strchr (letters, letter);

  return at == NULL ? -1 : (gint) (at - letters);
}
