/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

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

/* Label of a node: operands, op and name, attributes, folded constants, results.  `range`, unless
 * NULL: which part of the whole node this piece is. */
char *cleave_label_node (const CleaveNode *node, const CleaveRange *range, gboolean show_constants);
/* Label of an input, output or constant. */
char *cleave_label_value (const char *name, const CleaveTensorType *type);
