/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pieces.h"

/* Builds the labels of vertices for draw.c and overview.c. A label is HTML-like text of Graphviz: a
 * table whose cells are the ports (connection points) of a vertex. Example: the label of a Conv has
 * cells for the operands X, W and B, a cell "Conv, stem" and a cell for the result Y. */

/* Returns whether an SVG can show this character: XML allows it and it is not a control
 * character. */
gboolean cleave_label_is_xml (gunichar u);
/* Appends text, escaped for an HTML-like label. A line break is shown as ↵. */
void cleave_label_append_text (GString *label, const char *text);

/* Return the name of the port of an operand or of a result: the ONNX name. If several operands or
 * results have the same ONNX name, a number follows. */
char *cleave_label_dup_operand_port (const CleaveNode *node, guint operand);
char *cleave_label_dup_result_port (const CleaveNode *node, guint result);

/* Returns whether an operand is shown as a line of text in the node's label instead of as an
 * edge. */
gboolean cleave_label_is_folded (const CleaveNode *node, guint operand, gboolean show_constants);

typedef struct
{
  gboolean show_constants;
  gboolean compact; /* labels show only the op, the name, and the part of the whole result */
  guint n_prefix;   /* length of the common prefix of all names, in bytes; labels omit this
                     * prefix */
} CleaveLabelStyle;

/* Returns the length in bytes of the prefix that all names share, up to a separator such as '/'.
 * Labels omit this prefix. 0: the names share no prefix, or only a short one that labels need not
 * omit. */
guint cleave_label_find_prefix (const GPtrArray *nodes);
/* Returns a name without its prefix. If the name is long, returns "…" and its end. */
char *cleave_label_dup_name (const char *name, guint n_prefix);

/* Returns whether edges connect to the ports of this node. If not, edges connect to the vertex as a
 * whole. */
gboolean cleave_label_has_ports (const CleaveNode *node, const CleaveLabelStyle *style);
/* Returns the label of a node: its operands, op and name, part of the whole, attributes, folded
 * constants, and results. The label of a view or a join is one line, with the range or the number
 * of operands. */
char *cleave_label_node (const CleaveNode *node,
                         const CleavePiecePlace *place,
                         const CleaveLabelStyle *style);
/* Returns the label of an input, output or constant: name and type. */
char *cleave_label_value (const char *name, const CleaveTensorType *type);
