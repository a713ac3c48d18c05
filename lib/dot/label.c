/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the labels of vertices: tables of text whose cells are ports (label.h). */

#include "label.h"

#include "../ir/graph-private.h"

/* A label shows at most MAX_LINE bytes of attributes in a line, and cuts an attribute off after
 * MAX_ATTRIBUTE characters. */
#define MAX_LINE 40
#define MAX_ATTRIBUTE 60

/* The label of a join names at most this many of its operands that have no edge. */
#define MAX_PARTS 4
/* A value has edges to its first MAX_EDGES uses. A later use by a join of more than MAX_PARTS
 * operands has no edge: the join's label names the value. In a dense block each value is an operand
 * of every later Concat, and a drawing with all these edges is unreadable. */
#define MAX_EDGES 2

static const char small_font[] = "<font point-size=\"8\">";

gboolean
cleave_label_is_xml (gunichar u)
{
  return u >= ' ' && u != 0x7f && u != 0xfffe && u != 0xffff;
}

void
cleave_label_append_text (GString *label, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);

      if (u == '\n')
        g_string_append (label, "↵");
      else if (!cleave_label_is_xml (u))
        g_string_append (label, "�");
      else if (strchr ("\\\"&<>'{|}", (int) MIN (u, 0x7f)) != NULL)
        g_string_append_printf (label, "&#%u;", u);
      else
        g_string_append_unichar (label, u);
    }
}

/* The functions below name ports. */

static char *
dup_port (const char *name, guint index, gboolean is_repeated)
{
  return is_repeated ? g_strdup_printf ("%s%u", name, index) : g_strdup (name);
}

/* Returns whether several operands of the node share this operand's name, as in a Concat. */
static gboolean
is_repeated_operand (const CleaveNode *node, guint operand)
{
  return (node->op->flags & CLEAVE_OP_VARIADIC) != 0 &&
         operand + 1 >= g_strv_length ((char **) node->op->operands);
}

char *
cleave_label_dup_operand_port (const CleaveNode *node, guint operand)
{
  return dup_port (cleave_op_operand_name (node->op, operand), operand,
                   is_repeated_operand (node, operand));
}

char *
cleave_label_dup_result_port (const CleaveNode *node, guint result)
{
  const char *name = cleave_op_result_name (node->op, result);
  guint n_named = g_strv_length ((char **) node->op->results);
  g_autofree char *port =
      dup_port (name, result, result + 1 >= n_named && node->n_results > n_named);

  for (guint i = 0; i < node->n_operands; i++)
    if (g_str_equal (port, cleave_op_operand_name (node->op, i)))
      return g_strconcat (port, "_out", NULL);
  return g_steal_pointer (&port);
}

/* Returns whether the label of a join names an operand, which then has no edge. This is so if the
 * join has more than MAX_PARTS operands, and this operand is not among the first MAX_EDGES uses of
 * the value that it reads. */
static gboolean
is_named_instead (const CleaveNode *node, guint operand)
{
  const CleaveOperand *use = node->operands[operand].result->first_use;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->n_operands <= MAX_PARTS)
    return FALSE;
  for (guint i = 0; i < MAX_EDGES && use != NULL; i++, use = use->next_use)
    if (use == &node->operands[operand])
      return FALSE;
  return TRUE;
}

gboolean
cleave_label_is_folded (const CleaveNode *node, guint operand, gboolean show_constants)
{
  const CleaveResult *result = cleave_node_operand_result (node, operand);

  return result == NULL || (!show_constants && cleave_node_get_constant (result->node) != NULL) ||
         is_named_instead (node, operand);
}

/* The functions below append the parts of a label. */

static void
append_operand_cells (GString *label,
                      const CleaveNode *node,
                      gboolean show_constants,
                      guint *n_cells)
{
  *n_cells = 0;
  for (guint i = 0; i < node->n_operands; i++)
    {
      g_autofree char *port = NULL;

      if (cleave_label_is_folded (node, i, show_constants))
        continue;
      port = cleave_label_dup_operand_port (node, i);
      g_string_append (label, "<td port=\"");
      cleave_label_append_text (label, port);
      g_string_append_printf (label, "\" cellpadding=\"1\">%s", small_font);
      cleave_label_append_text (label, port);
      g_string_append (label, "</font></td>");
      (*n_cells)++;
    }
}

static void
append_line (GString *label, const char *text)
{
  g_string_append (label, "<br align=\"left\"/>");
  cleave_label_append_text (label, text);
}

static char *
shorten (const char *text)
{
  if (g_utf8_strlen (text, -1) <= MAX_ATTRIBUTE)
    return g_strdup (text);
  return g_strdup_printf ("%.*s…", (int) (g_utf8_offset_to_pointer (text, MAX_ATTRIBUTE) - text),
                          text);
}

/* Appends the attributes of the node, as many on each line as fit into MAX_LINE bytes. */
static void
append_attributes (GString *label, const CleaveNode *node)
{
  g_autofree char *all = cleave_node_dup_attrs_string (node);
  g_auto (GStrv) words = g_strsplit (all, " ", -1);
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *word =
          g_utf8_validate (words[i], -1, NULL) ? shorten (words[i]) : g_strdup ("…");

      if (line->len > 0 && line->len + strlen (word) > MAX_LINE)
        {
          append_line (label, line->str);
          g_string_truncate (line, 0);
        }
      g_string_append_printf (line, "%s%s", line->len > 0 ? " " : "", word);
    }
  if (line->len > 0)
    append_line (label, line->str);
}

/* Appends a line for each operand that the label shows as text instead of an edge: the type of a
 * constant, or the name of another value. */
static void
append_folded (GString *label, const CleaveNode *node, gboolean show_constants)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *result = cleave_node_operand_result (node, i);
      g_autofree char *port = NULL, *text = NULL, *line = NULL;

      if (result == NULL || !cleave_label_is_folded (node, i, show_constants))
        continue;
      port = cleave_label_dup_operand_port (node, i);
      text = cleave_node_get_constant (result->node) != NULL
                 ? cleave_tensor_type_to_string (&result->type)
                 : g_strdup (result->node->name);
      line = g_strdup_printf ("%s: %s", port, text);
      append_line (label, line);
    }
}

/* Appends the op and the name of the node on separate lines, so that a search can find both. */
static void
append_title (GString *label, const CleaveNode *node, const CleaveLabelStyle *style)
{
  g_autofree char *name = cleave_label_dup_name (node->name, style->n_prefix);

  g_string_append (label, "<b>");
  cleave_label_append_text (label, node->op->name);
  g_string_append (label, "</b>");
  append_line (label, name);
}

static void
append_place (GString *label, const CleaveNode *node, const CleavePiecePlace *place)
{
  g_autofree char *text = cleave_piece_place_to_string (place, cleave_node_find_letters (node));

  if (text != NULL)
    append_line (label, text);
}

static void
append_body (GString *label,
             const CleaveNode *node,
             const CleavePiecePlace *place,
             const CleaveLabelStyle *style)
{
  append_title (label, node, style);
  append_place (label, node, place);
  g_string_append (label, small_font);
  append_attributes (label, node);
  append_folded (label, node, style->show_constants);
  g_string_append (label, "<br align=\"left\"/></font>");
}

static void
append_result_cells (GString *label, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_results; i++)
    {
      g_autofree char *port = cleave_label_dup_result_port (node, i);
      g_autofree char *type = cleave_tensor_type_to_string (&node->results[i].type);

      g_string_append (label, "<td port=\"");
      cleave_label_append_text (label, port);
      g_string_append_printf (label, "\" cellpadding=\"1\">%s", small_font);
      cleave_label_append_text (label, cleave_op_result_name (node->op, i));
      g_string_append (label, ": ");
      cleave_label_append_text (label, type);
      g_string_append (label, "</font></td>");
    }
}

/* Appends a row. Puts several cells into a nested table, so that they do not set the column widths
 * of other rows. */
static void
append_row (GString *label, const char *cells, guint n_cells)
{
  const char *begin = "<tr><td cellpadding=\"0\"><table border=\"0\" cellborder=\"0\" "
                      "cellspacing=\"0\"><tr>";

  g_string_append (label, n_cells > 1 ? begin : "<tr>");
  g_string_append (label, cells);
  g_string_append (label, n_cells > 1 ? "</tr></table></td></tr>" : "</tr>");
}

static gboolean
is_small (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0;
}

gboolean
cleave_label_has_ports (const CleaveNode *node, const CleaveLabelStyle *style)
{
  return !style->compact && !is_small (node) && !cleave_node_is_input (node) &&
         cleave_node_get_constant (node) == NULL;
}

/* Returns, as text, the range of operand 0 that a view reads. Returns NULL if the view does not
 * read a single range with steps of 1. */
static char *
dup_view_text (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call;
  const CleaveCall *c = cleave_node_call_init (&call, node);
  CleaveDimMap map[CLEAVE_MAX_RANK];
  CleavePiecePlace place = { .whole = c->operands[0].shape };

  if (node->op->maps == NULL || node->n_results > 1 ||
      c->results[0].shape.rank != c->operands[0].shape.rank)
    return NULL;
  node->op->maps (c, 0, map);
  place.range.rank = place.whole.rank;
  for (guint d = 0; d < place.whole.rank; d++)
    {
      if (map[d].from != d || map[d].stride != 1 || map[d].block != 1 || map[d].window != 1)
        return NULL;
      place.range.dim[d].begin = map[d].shift + map[d].offset;
      place.range.dim[d].end = place.range.dim[d].begin + c->results[0].shape.dim[d];
    }
  return cleave_piece_place_to_string (&place, cleave_node_find_letters (node));
}

/* Appends the names of the operands that have no edge. */
static void
append_named_parts (GString *label, const CleaveNode *node, const CleaveLabelStyle *style)
{
  guint n = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = cleave_node_operand_result (node, i);
      g_autofree char *name = NULL, *line = NULL;

      if (value == NULL || !cleave_label_is_folded (node, i, style->show_constants) ||
          ++n > MAX_PARTS)
        continue;
      name = cleave_label_dup_name (value->node->name, style->n_prefix);
      line = g_strconcat (n == 1 ? "and " : "", name, NULL);
      append_line (label, line);
    }
  if (n > MAX_PARTS)
    {
      g_autofree char *line = g_strdup_printf ("and %u more", n - MAX_PARTS);

      append_line (label, line);
    }
}

static char *
dup_small_label (const CleaveNode *node,
                 const CleavePiecePlace *place,
                 const CleaveLabelStyle *style)
{
  GString *label = g_string_new (small_font);
  g_autofree char *text = (node->op->flags & CLEAVE_OP_JOIN) != 0
                              ? g_strdup_printf ("of %u", node->n_operands)
                              : dup_view_text (node);

  cleave_label_append_text (label, node->op->name);
  if (text != NULL)
    {
      g_string_append_c (label, ' ');
      cleave_label_append_text (label, text);
    }
  append_place (label, node, place);
  append_named_parts (label, node, style);
  g_string_append (label, "</font>");
  return g_string_free (label, FALSE);
}

static char *
dup_compact_label (const CleaveNode *node,
                   const CleavePiecePlace *place,
                   const CleaveLabelStyle *style)
{
  GString *label = g_string_new (NULL);

  append_title (label, node, style);
  append_place (label, node, place);
  g_string_append (label, "<br align=\"left\"/>");
  return g_string_free (label, FALSE);
}

char *
cleave_label_node (const CleaveNode *node,
                   const CleavePiecePlace *place,
                   const CleaveLabelStyle *style)
{
  g_autoptr (GString) operands = g_string_new (NULL);
  g_autoptr (GString) results = g_string_new (NULL);
  GString *label;
  guint n_cells;

  if (is_small (node))
    return dup_small_label (node, place, style);
  if (style->compact)
    return dup_compact_label (node, place, style);
  label = g_string_new ("<table border=\"0\" cellborder=\"0\" cellspacing=\"0\">");
  append_operand_cells (operands, node, style->show_constants, &n_cells);
  if (n_cells > 0)
    append_row (label, operands->str, n_cells);
  g_string_append (label, "<tr><td align=\"left\" balign=\"left\" cellpadding=\"2\">");
  append_body (label, node, place, style);
  g_string_append (label, "</td></tr>");
  append_result_cells (results, node);
  append_row (label, results->str, node->n_results);
  g_string_append (label, "</table>");
  return g_string_free (label, FALSE);
}

char *
cleave_label_value (const char *name, const CleaveTensorType *type)
{
  GString *label = g_string_new ("<b>");
  g_autofree char *text = cleave_tensor_type_to_string (type);

  cleave_label_append_text (label, name);
  g_string_append_printf (label, "</b><br/>%s", small_font);
  cleave_label_append_text (label, text);
  g_string_append (label, "</font>");
  return g_string_free (label, FALSE);
}
