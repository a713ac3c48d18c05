/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the public functions that read reports of splits. */

#include "report.h"

/**
 * cleave_not_split_get_name:
 * @reason: why a node was not split
 *
 * Returns: (transfer none): `unsupported`, `refused`, `constraint`, `one-piece` or `outside-user`
 *
 * Since: 0.1
 */
const char *
cleave_not_split_get_name (CleaveNotSplit reason)
{
  static const char *const names[] = { "unsupported", "refused", "constraint", "one-piece",
                                       "outside-user" };

  g_return_val_if_fail (reason < G_N_ELEMENTS (names), NULL);
  return names[reason];
}

/**
 * cleave_split_report_get_n_split:
 * @report: a report
 *
 * Returns: the number of nodes that were split
 *
 * Since: 0.1
 */
guint
cleave_split_report_get_n_split (const CleaveSplitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);
  return report->split->len;
}

/**
 * cleave_split_report_get_split:
 * @report: a report
 * @index: index of a node that was split
 *
 * Gets a node that was split. The report keeps the pieces alive. If a pass such as
 * [func@Cleave.clean_up] removed a piece, the piece belongs to no graph.
 *
 * Returns: (transfer none): the name, the op and the pieces of the node
 *
 * Since: 0.1
 */
const CleaveSplitNode *
cleave_split_report_get_split (const CleaveSplitReport *report, guint index)
{
  g_return_val_if_fail (report != NULL, NULL);
  g_return_val_if_fail (index < report->split->len, NULL);
  return g_ptr_array_index (report->split, index);
}

/**
 * cleave_split_report_get_range:
 * @report: a report
 * @index: index of a node that was split
 * @piece: index of a piece of the node
 *
 * Returns: (transfer none): the part of result 0 of the node that the piece computes
 *
 * Since: 0.1
 */
const CleaveRange *
cleave_split_report_get_range (const CleaveSplitReport *report, guint index, guint piece)
{
  const CleaveSplitNode *node = cleave_split_report_get_split (report, index);

  g_return_val_if_fail (node != NULL && piece < node->n_pieces, NULL);
  return &node->ranges[piece];
}

/**
 * cleave_split_report_get_n_not_split:
 * @report: a report
 *
 * Returns: the number of nodes that were requested, or reached by a recursive split, and not split
 *
 * Since: 0.1
 */
guint
cleave_split_report_get_n_not_split (const CleaveSplitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);
  return report->not_split->len;
}

/**
 * cleave_split_report_get_not_split:
 * @report: a report
 * @index: index of a node that was not split
 *
 * Returns: (transfer none): the name and op of the node, and the reason
 *
 * Since: 0.1
 */
const CleaveUnsplitNode *
cleave_split_report_get_not_split (const CleaveSplitReport *report, guint index)
{
  g_return_val_if_fail (report != NULL, NULL);
  g_return_val_if_fail (index < report->not_split->len, NULL);
  return g_ptr_array_index (report->not_split, index);
}

/**
 * cleave_limit_kind_get_name:
 * @kind: one of the limits of a constraint
 *
 * Returns: (transfer none): `max-memory`, `max-subgraph-memory`, `max-schedule-memory`,
 * `max-added-macs` or `max-pieces`
 *
 * Since: 0.1
 */
const char *
cleave_limit_kind_get_name (CleaveLimitKind kind)
{
  static const char *const names[] = { "max-memory", "max-subgraph-memory", "max-schedule-memory",
                                       "max-added-macs", "max-pieces" };

  g_return_val_if_fail (kind < G_N_ELEMENTS (names), NULL);
  return names[kind];
}

/**
 * cleave_split_report_get_n_limits:
 * @report: a report
 *
 * Returns: the number of limits that the user set in the constraints of the split
 *
 * Since: 0.1
 */
guint
cleave_split_report_get_n_limits (const CleaveSplitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);
  return report->limits->len;
}

/**
 * cleave_split_report_get_limit:
 * @report: a report
 * @index: index of a limit
 *
 * Gets a limit and the value reached. For @max_memory, the value is the size of the largest piece
 * of the requested nodes, in bytes. If a node stays whole because no split meets the limit, the
 * value is the smallest size of the largest piece that the search found. If a node stays whole for
 * another reason, the value is the bytes of the whole node.
 *
 * Returns: (transfer none): the limit, the reached value, and whether the limit is met
 *
 * Since: 0.1
 */
const CleaveSplitLimit *
cleave_split_report_get_limit (const CleaveSplitReport *report, guint index)
{
  g_return_val_if_fail (report != NULL && index < report->limits->len, NULL);
  return &g_array_index (report->limits, CleaveSplitLimit, index);
}

/**
 * cleave_split_report_get_totals:
 * @report: a report
 *
 * Returns: (transfer none): totals of the whole graph before and after the split
 *
 * Since: 0.1
 */
const CleaveSplitTotals *
cleave_split_report_get_totals (const CleaveSplitReport *report)
{
  g_return_val_if_fail (report != NULL, NULL);
  return &report->totals;
}
