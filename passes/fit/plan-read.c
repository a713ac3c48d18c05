/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the plan of a fit from data, and checks the plan.
 *
 * Each read_ or check_ function returns FALSE or NULL and sets the error if an entry is missing or
 * wrong.
 *
 * Over 400 lines: this file has the whole reader of one format. */

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"
#include "plan.h"

#include <cleave/cleave-pass.h>

/* Returns the entry `name` of a dictionary. Returns NULL and sets the error if the entry is missing
 * or does not have the GVariant type `type`. */

static GVariant *
look_up (GVariant *dictionary, const char *name, const char *type, GError **error)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (dictionary, name, NULL);

  if (value == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "the plan has no '%s'", name);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE (type)))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "'%s' of the plan must be %s", name,
                             *type == 'x'   ? "an integer"
                             : *type == 'b' ? "true or false"
                             : *type == 's' ? "a string"
                                            : "a list");
  return g_steal_pointer (&value);
}

static gboolean
read_int (GVariant *dictionary,
          const char *name,
          gint64 least,
          gint64 most,
          gint64 *number,
          GError **error)
{
  g_autoptr (GVariant) value = look_up (dictionary, name, "x", error);

  if (value == NULL)
    return FALSE;
  *number = g_variant_get_int64 (value);
  return (*number >= least && *number <= most) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "'%s' of the plan must be from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                      ", not %" G_GINT64_FORMAT,
                      name, least, most, *number);
}

static gboolean
read_bool (GVariant *dictionary, const char *name, gboolean *flag, GError **error)
{
  g_autoptr (GVariant) value = look_up (dictionary, name, "b", error);

  if (value == NULL)
    return FALSE;
  *flag = g_variant_get_boolean (value);
  return TRUE;
}

static char *
read_string (GVariant *dictionary, const char *name, GError **error)
{
  g_autoptr (GVariant) value = look_up (dictionary, name, "s", error);

  return value == NULL ? NULL : g_variant_dup_string (value, NULL);
}

/* Returns element `i` of a list. Fails unless the element has the given type. */
static GVariant *
get_element (GVariant *list, const char *name, gsize i, const GVariantType *type, GError **error)
{
  g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
  g_autoptr (GVariant) element = g_variant_get_variant (boxed);

  if (!g_variant_is_of_type (element, type))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "element %" G_GSIZE_FORMAT " of '%s' of the plan has a wrong type", i,
                             name);
  return g_steal_pointer (&element);
}

static char **
read_strings (GVariant *dictionary, const char *name, GError **error)
{
  g_autoptr (GVariant) list = look_up (dictionary, name, "av", error);
  g_autoptr (GStrvBuilder) strings = g_strv_builder_new ();

  if (list == NULL)
    return NULL;
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) element = get_element (list, name, i, G_VARIANT_TYPE_STRING, error);

      if (element == NULL)
        return NULL;
      g_strv_builder_add (strings, g_variant_get_string (element, NULL));
    }
  return g_strv_builder_end (strings);
}

static gboolean
read_copy (GVariant *entry, CleaveFitCopy *copy, GError **error)
{
  copy->node = read_string (entry, "node", error);
  if (copy->node == NULL || !read_bool (entry, "early", &copy->is_early, error))
    return FALSE;
  if (g_variant_lookup (entry, "copy", "s", &copy->copy))
    copy->readers = read_strings (entry, "readers", error);
  return copy->copy == NULL || copy->readers != NULL;
}

/* Reads a list of recomputed or moved nodes. Leaves `copies` unchanged if the plan has no such
 * list. */
static gboolean
read_copies (GVariant *data, const char *name, GPtrArray **copies, GError **error)
{
  g_autoptr (GVariant) any = g_variant_lookup_value (data, name, NULL);
  g_autoptr (GVariant) list = any == NULL ? NULL : look_up (data, name, "av", error);

  if (any == NULL)
    return TRUE;
  if (list == NULL)
    return FALSE;
  *copies = cleave_fit_copies_new ();
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) entry = get_element (list, name, i, G_VARIANT_TYPE_VARDICT, error);
      CleaveFitCopy *copy = g_new0 (CleaveFitCopy, 1);

      g_ptr_array_add (*copies, copy);
      if (entry == NULL || !read_copy (entry, copy, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_ends (GVariant *segment, CleaveFitPart *part, GError **error)
{
  g_autoptr (GVariant) list = look_up (segment, "ends", "av", error);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  if (list == NULL)
    return FALSE;
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) end = get_element (list, "ends", i, G_VARIANT_TYPE_VARDICT, error);
      g_autofree char *node = end == NULL ? NULL : read_string (end, "node", error);
      gint64 dim, column = 0;
      guint dims[2];

      if (node == NULL || !read_int (end, "dim", 0, CLEAVE_MAX_RANK - 1, &dim, error) ||
          (part->candidate.n_columns > 1 &&
           !read_int (end, "column_dim", 0, CLEAVE_MAX_RANK - 1, &column, error)))
        return FALSE;
      dims[0] = (guint) dim;
      dims[1] = (guint) column;
      g_strv_builder_add (names, node);
      g_array_append_val (part->dims, dims[0]);
      g_array_append_val (part->columns, dims[1]);
    }
  part->ends = g_strv_builder_end (names);
  return TRUE;
}

static gboolean
read_halo (GVariant *segment, CleaveHalo *halo, GError **error)
{
  g_autofree char *name = read_string (segment, "halo", error);

  if (name == NULL)
    return FALSE;
  for (guint i = 0; i < CLEAVE_FIT_N_HALOS; i++)
    if (g_str_equal (cleave_fit_halo_names[i], name))
      {
        *halo = i;
        return TRUE;
      }
  return cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "'halo' of the plan must be recompute, carry, exchange or carry-narrow, not "
                      "'%s'",
                      name);
}

static gboolean
read_part (GVariant *segment, CleaveFitPart *part, GError **error)
{
  CleaveFitCandidate *candidate = &part->candidate;
  gint64 n_strips, n_columns, n_bytes, macs;
  gboolean in_bands;

  part->nodes = read_strings (segment, "nodes", error);
  if (part->nodes == NULL || !read_int (segment, "strips", 1, G_MAXINT32, &n_strips, error) ||
      !read_int (segment, "columns", 1, G_MAXINT32, &n_columns, error) ||
      !read_halo (segment, &candidate->halo, error) ||
      !read_bool (segment, "column_by_column", &in_bands, error) ||
      !read_bool (segment, "even", &part->is_even, error) ||
      !read_int (segment, "estimated_bytes", 0, G_MAXINT64, &n_bytes, error) ||
      !read_int (segment, "added_macs", 0, G_MAXINT64, &macs, error))
    return FALSE;
  candidate->n_strips = (guint) n_strips;
  candidate->n_columns = (guint) n_columns;
  candidate->in_bands = in_bands;
  candidate->n_bytes = n_bytes;
  candidate->macs = (double) macs;
  return read_ends (segment, part, error);
}

static GPtrArray *
read_parts (GVariant *data, GError **error)
{
  g_autoptr (GVariant) list = look_up (data, "segments", "av", error);
  g_autoptr (GPtrArray) parts = cleave_fit_parts_new ();

  if (list == NULL)
    return NULL;
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) segment =
          get_element (list, "segments", i, G_VARIANT_TYPE_VARDICT, error);
      CleaveFitPart *part = cleave_fit_part_new ();

      g_ptr_array_add (parts, part);
      if (segment == NULL || !read_part (segment, part, error))
        return NULL;
    }
  return g_steal_pointer (&parts);
}

static gboolean
read_loops (GVariant *data, CleaveFitLoops *loops, GError **error)
{
  gint64 n_loops, n_pieces, n_whole;

  if (!g_variant_is_of_type (data, G_VARIANT_TYPE_VARDICT))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "'ort' of the plan must be a dictionary");
  if (!read_int (data, "loops", 0, G_MAXINT32, &n_loops, error) ||
      !read_int (data, "pieces", 0, G_MAXINT32, &n_pieces, error) ||
      !read_int (data, "whole", 0, G_MAXINT32, &n_whole, error) ||
      !read_int (data, "bytes_before", 0, G_MAXINT64, &loops->bytes_before, error) ||
      !read_int (data, "bytes_after", 0, G_MAXINT64, &loops->bytes_after, error) ||
      !read_int (data, "bytes_refused", 0, G_MAXINT64, &loops->bytes_refused, error))
    return FALSE;
  loops->n_loops = (guint) n_loops;
  loops->n_pieces = (guint) n_pieces;
  loops->n_whole = (guint) n_whole;
  return TRUE;
}

static gboolean
check_format (GVariant *data, GError **error)
{
  g_autofree char *format = NULL;
  gint64 version;

  if (!g_variant_is_of_type (data, G_VARIANT_TYPE_VARDICT))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a plan must be a dictionary");
  format = read_string (data, "format", error);
  if (format == NULL)
    return FALSE;
  if (!g_str_equal (format, CLEAVE_FIT_PLAN_FORMAT))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "'format' of the plan must be " CLEAVE_FIT_PLAN_FORMAT ", not '%s'",
                        format);
  return read_int (data, "version", CLEAVE_FIT_PLAN_VERSION, CLEAVE_FIT_PLAN_VERSION, &version,
                   error);
}

/* Checks that each node is listed after the nodes that it reads. Sets `position`, indexed by node
 * id, to the position of each node in the list, from 1. */
static gboolean
check_order (const CleaveGraph *graph, guint *position, GError **error)
{
  guint i = 1;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      for (guint o = 0; o < node->n_operands; o++)
        {
          const CleaveResult *read = node->operands[o].result;

          if (read != NULL && read->node != NULL && position[read->node->id] == 0)
            return cleave_fail (error, CLEAVE_ERROR_OPTION,
                                "the plan is for another graph: it runs '%s' before '%s', which it "
                                "reads",
                                node->name, read->node->name);
        }
      position[node->id] = i++;
    }
  return TRUE;
}

/* Checks that each segment of a plan has nodes and ends, and that the graph has these nodes. Also
 * checks that the nodes run in the order in which the plan lists them. `position` gives the
 * position of each node in the order of a run, indexed by node id. */
static gboolean
check_parts (const GPtrArray *parts, CleaveGraph *graph, const guint *position, GError **error)
{
  guint last = 0;

  for (guint i = 0; i < parts->len; i++)
    {
      const CleaveFitPart *part = parts->pdata[i];

      if (part->nodes[0] == NULL || part->ends[0] == NULL)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "segment %u of the plan has no %s", i,
                            part->nodes[0] == NULL ? "nodes" : "ends");
      for (guint n = 0; part->nodes[n] != NULL; n++)
        {
          const CleaveNode *node = cleave_graph_find_node (graph, part->nodes[n]);

          if (node == NULL)
            return cleave_fail (error, CLEAVE_ERROR_OPTION,
                                "the plan is for another graph: there is no node '%s'",
                                part->nodes[n]);
          if (position[node->id] <= last)
            return cleave_fail (error, CLEAVE_ERROR_OPTION,
                                "the plan is for another graph: node '%s' of segment %u runs "
                                "before the node that the plan lists before it",
                                node->name, i);
          last = position[node->id];
        }
    }
  return TRUE;
}

/* Rewrites `graph`, and checks that the rewritten graph can be split into the segments `parts`.
 * Returns FALSE and sets the error if the rewrite or a check fails. */
static gboolean
try (const CleaveFitRewrite *rewrite, const GPtrArray *parts, CleaveGraph *graph, GError **error)
{
  g_autofree guint *position = NULL;
  g_autoptr (CleaveGraph) split = NULL;

  if (parts->len == 0 && cleave_fit_rewrite_is_empty (rewrite))
    return TRUE;
  if (!cleave_fit_rewrite_apply (rewrite, graph, NULL, error))
    return FALSE;
  position = g_new0 (guint, graph->n_ids + 1);
  split = cleave_graph_copy (graph);
  return check_order (graph, position, error) && check_parts (parts, graph, position, error) &&
         cleave_fit_parts_check (parts, split, error);
}

static CleaveFitPlan *
measure (const CleaveFitRewrite *rewrite,
         const GPtrArray *parts,
         const CleaveGraph *graph,
         guint n_threads,
         gboolean exclude_inputs,
         GError **error)
{
  g_autoptr (CleaveGraph) whole = cleave_graph_copy (graph), rewritten = NULL;
  g_autoptr (GPtrArray) none = cleave_fit_parts_new ();
  g_autoptr (CleaveFitMeasurement) before = NULL, after = NULL;
  CleaveFitTotals totals;

  cleave_pass_remove_dead (whole, NULL, NULL, NULL);
  whole->exclude_inputs = exclude_inputs;
  rewritten = cleave_graph_copy (whole);
  rewritten->exclude_inputs = exclude_inputs;
  if (!try (rewrite, parts, rewritten, error))
    return NULL;
  before = cleave_fit_measurement_new_of (whole, none, NULL, n_threads);
  after = cleave_fit_measurement_new_of (rewritten, parts, NULL, n_threads);
  cleave_fit_measurement_place (before);
  cleave_fit_measurement_place (after);
  totals = (CleaveFitTotals){ .arena_before = before->estimate.arena_bytes,
                              .macs_before = before->macs,
                              .nodes_before = before->n_nodes,
                              .latency_before = before->estimate.nanoseconds };
  return cleave_fit_plan_make (after, rewrite, &totals, n_threads, exclude_inputs);
}

/**
 * cleave_fit_plan_new_from_data:
 * @graph: the graph that the plan was made for, or another with the same nodes
 * @data: the plan, as [method@Cleave.FitPlan.to_data] returns it
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a plan and measures it on a graph, without a search. The measured totals replace the totals
 * of the data.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the data is not a plan, if the graph lacks a node of the plan,
 * and if nodes cannot be split as the plan says.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.2
 */
CleaveFitPlan *
cleave_fit_plan_new_from_data (const CleaveGraph *graph, GVariant *data, GError **error)
{
  g_auto (CleaveFitRewrite) rewrite = { 0 };
  g_autoptr (GVariant) ort = NULL;
  g_autoptr (GPtrArray) parts = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  CleaveFitLoops loops;
  gint64 n_threads;
  gboolean exclude_inputs;

  g_return_val_if_fail (graph != NULL && data != NULL, NULL);
  if (!check_format (data, error) ||
      !read_int (data, "threads", 1, CLEAVE_MAX_THREADS, &n_threads, error) ||
      !read_bool (data, "exclude_inputs", &exclude_inputs, error) ||
      !read_int (data, "split_per_reader", 0, G_MAXINT64, &rewrite.per_reader_bytes, error) ||
      !read_copies (data, "late", &rewrite.idle, error) ||
      !read_copies (data, "copies", &rewrite.copies, error))
    return NULL;
  parts = read_parts (data, error);
  ort = g_variant_lookup_value (data, "ort", NULL);
  if (parts == NULL || (ort != NULL && !read_loops (ort, &loops, error)))
    return NULL;
  plan = measure (&rewrite, parts, graph, (guint) n_threads, exclude_inputs, error);
  if (plan != NULL && ort != NULL)
    cleave_fit_plan_set_loops (plan, &loops);
  return g_steal_pointer (&plan);
}
