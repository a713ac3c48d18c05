/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pieces.h"

/* HTML-like labels of Graphviz: tables whose cells are the ports of a vertex. */

/* Whether XML has this character, and it can be seen. */
gboolean cleave_label_is_xml (gunichar u);
/* Text with all that means something in an HTML-like label taken out of it. */
void cleave_label_append_text (GString *label, const char *text);

/* Names of the ports of an operand and a result: as in ONNX, numbered where one name serves
 * several. */
char *cleave_label_dup_operand_port (const CleaveNode *node, guint operand);
char *cleave_label_dup_result_port (const CleaveNode *node, guint result);

/* Whether an operand is drawn as a line of the node that uses it, not as an edge. */
gboolean cleave_label_is_folded (const CleaveNode *node, guint operand, gboolean show_constants);

typedef struct
{
  gboolean show_constants;
  gboolean compact; /* nodes show op, name and place alone */
  guint n_prefix;   /* bytes that all names begin with, which are left out */
} CleaveLabelStyle;

/* How many bytes of a name not to show, since all names begin with them; they end with a mark such
 * as '/'.  0: few. */
guint cleave_label_find_prefix (const GPtrArray *nodes);
/* A name with what is left out: the prefix; of a long one, all but the end. */
char *cleave_label_dup_name (const char *name, guint n_prefix);

/* Whether edges lead to operands and from results, not just to the node. */
gboolean cleave_label_has_ports (const CleaveNode *node, const CleaveLabelStyle *style);
/* Label of a node: operands, op and name, its place in the whole, attributes, folded constants,
 * results.  Of a view or a join, what it takes or how many parts, in one line. */
char *cleave_label_node (const CleaveNode *node,
                         const CleavePiecePlace *place,
                         const CleaveLabelStyle *style);
/* Label of an input, output or constant. */
char *cleave_label_value (const char *name, const CleaveTensorType *type);
