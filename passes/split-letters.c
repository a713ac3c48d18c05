/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-letters.h"

#include <string.h>

/* An op with a layout has letters of its own.  Others take those of an operand, each to the
 * dimension that its map says: a Relu of an NCHW value is NCHW, a Transpose of it may be NHWC. */

/* How many nodes up somebody with a layout is looked for: a bound, so that every node of a long
 * chain can be asked. */
#define MAX_STEPS 256

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

/* Which dimension of result 0 each dimension of an operand becomes.  One that is needed whole (an
 * axis of a Softmax, a reduced dimension that is kept) stays where it is.  FALSE: they are not one
 * another. */
static gboolean
find_ways (const CleaveCall *call, guint operand, guint *way)
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

      way[d] = whole ? d : map[d].from;
      if (taken[way[d]] || (whole && y->dim[d] != x->dim[d] && y->dim[d] != 1))
        return FALSE;
      taken[way[d]] = TRUE;
    }
  return TRUE;
}

/* The operand whose dimensions the result has, and the ways of them. */
static const CleaveNode *
find_source (const CleaveNode *node, guint *way)
{
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, node);
  for (guint i = 0; node->op->maps != NULL && i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL && x->index == 0 && cleave_node_get_constant (x->node) == NULL &&
          find_ways (&call.call, i, way))
        return x->node;
    }
  return NULL;
}

const char *
cleave_node_get_letters (const CleaveNode *node)
{
  guint ways[CLEAVE_MAX_RANK]; /* where a dimension of the node at hand ends up in result 0 of the
                                  first one */
  guint rank = node->results[0].type.shape.rank;

  for (guint d = 0; d < rank; d++)
    ways[d] = d;
  for (guint step = 0; node != NULL && step < MAX_STEPS; step++)
    {
      const char *letters = own_letters (node);
      char turned[CLEAVE_MAX_RANK + 1] = { '\0' };
      guint way[CLEAVE_MAX_RANK];

      if (letters != NULL)
        {
          for (guint d = 0; d < rank; d++)
            turned[ways[d]] = letters[d];
          return g_intern_string (turned);
        }
      node = find_source (node, way);
      for (guint d = 0; node != NULL && d < rank; d++)
        way[d] = ways[way[d]];
      memcpy (ways, way, sizeof ways);
    }
  return NULL;
}

gint
cleave_node_find_dim (const CleaveNode *node, char letter)
{
  const char *letters = node->op->maps == NULL ? NULL : cleave_node_get_letters (node);
  const char *at = letters == NULL ? NULL : strchr (letters, letter);

  return at == NULL ? -1 : (gint) (at - letters);
}
