/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes, reads and chooses the Winograd phases of convolutions (winograd.h). */

#include "winograd.h"

#include <string.h>

#include "../ir/graph-private.h"
#include "../ops/conv-parts.h"
#include "doc-line.h"

enum { W = 1 };

#define LINE "cleave: winograd "
#define NONE "none"

static gboolean
has_winograd (const CleaveOp *op)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (strcmp (attr->name, "winograd") == 0)
      return TRUE;
  return FALSE;
}

const char *
cleave_onnx_find_winograd (const char *doc)
{
  return cleave_doc_line_find (doc, LINE);
}

/* Reads the phases (0 or 1, winograd.h) of height and width, such as "0 1". For any other text,
 * returns an empty list: the Conv does not use Winograd's algorithm. */
static CleaveInts
read_phases (const char *text)
{
  CleaveInts phases = { .n = 2 };

  for (guint i = 0; i < 2; i++)
    {
      char digit = text[2 * i];

      if ((digit != '0' && digit != '1') || (i == 0 && text[1] != ' '))
        return (CleaveInts){ 0 };
      phases.v[i] = digit - '0';
    }
  return phases;
}

void
cleave_onnx_choose_winograd (const CleaveCall *call,
                             gboolean has_plain_weights,
                             const char *doc,
                             gpointer attrs)
{
  const char *line = cleave_onnx_find_winograd (doc);
  CleaveConvAttrs *a = attrs;

  if (!has_winograd (call->op) || call->n_operands <= W || !cleave_conv_could_be_winograd (call))
    return;
  if (line != NULL)
    a->winograd = read_phases (line);
  else if (has_plain_weights && cleave_conv_pays_winograd (call))
    a->winograd = (CleaveInts){ 2, { 0, 0 } };
}

/* Returns whether the importer would choose `phases` for the node if the doc string had no line
 * about Winograd's algorithm. */
static gboolean
is_natural (const CleaveNode *node, const CleaveInts *phases)
{
  const CleaveNode *w = node->operands[W].result->node;
  g_auto (CleaveNodeCall) call = { 0 };
  gboolean pays = cleave_conv_pays_winograd (cleave_node_call_init (&call, node));

  if (phases->n == 0)
    return !pays || (w->op->flags & CLEAVE_OP_STORAGE) != 0;
  return phases->v[0] == 0 && phases->v[1] == 0 && pays && cleave_node_get_constant (w) != NULL;
}

char *
cleave_onnx_dup_doc_with_winograd (const CleaveNode *node, const char *doc)
{
  const CleaveInts *phases;
  g_autofree char *text = NULL;

  if (!has_winograd (node->op))
    return NULL;
  phases = &((const CleaveConvAttrs *) node->attrs)->winograd;
  if (is_natural (node, phases))
    return NULL;
  text = phases->n == 0 ? g_strdup (NONE)
                        : g_strdup_printf ("%d %d", (int) phases->v[0], (int) phases->v[1]);
  return cleave_doc_line_append (doc, LINE, text);
}

char *
cleave_onnx_dup_doc_without_winograd (const char *doc)
{
  return cleave_doc_line_remove (doc, LINE);
}
