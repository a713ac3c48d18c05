/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a plan as data (GVariant), which plan-read.c reads. Also lists the names of the halo
 * policies in the data. */

#include "plan.h"

const char *const cleave_fit_halo_names[CLEAVE_FIT_N_HALOS] = {
  [CLEAVE_HALO_RECOMPUTE] = "recompute",
  [CLEAVE_HALO_CARRY] = "carry",
  [CLEAVE_HALO_EXCHANGE] = "exchange",
  [CLEAVE_HALO_CARRY_NARROW] = "carry-narrow",
};

static void
add (GVariantBuilder *builder, const char *name, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", name, value);
}

static void
add_int (GVariantBuilder *builder, const char *name, gint64 value)
{
  add (builder, name, g_variant_new_int64 (value));
}

static GVariant *
strings_to_data (char *const *strings)
{
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; strings[i] != NULL; i++)
    g_variant_builder_add (&list, "v", g_variant_new_string (strings[i]));
  return g_variant_builder_end (&list);
}

static GVariant *
copies_to_data (const GPtrArray *copies)
{
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *copy = copies->pdata[i];
      GVariantBuilder entry;

      g_variant_builder_init (&entry, G_VARIANT_TYPE_VARDICT);
      add (&entry, "node", g_variant_new_string (copy->node));
      if (copy->copy != NULL)
        {
          add (&entry, "copy", g_variant_new_string (copy->copy));
          add (&entry, "readers", strings_to_data (copy->readers));
        }
      add (&entry, "early", g_variant_new_boolean (copy->is_early));
      g_variant_builder_add (&list, "v", g_variant_builder_end (&entry));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
ends_to_data (const CleaveFitPart *part)
{
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; part->ends[i] != NULL; i++)
    {
      GVariantBuilder end;

      g_variant_builder_init (&end, G_VARIANT_TYPE_VARDICT);
      add (&end, "node", g_variant_new_string (part->ends[i]));
      add_int (&end, "dim", g_array_index (part->dims, guint, i));
      if (part->candidate.n_columns > 1)
        add_int (&end, "column_dim", g_array_index (part->columns, guint, i));
      g_variant_builder_add (&list, "v", g_variant_builder_end (&end));
    }
  return g_variant_builder_end (&list);
}

static GVariant *
part_to_data (const CleaveFitPart *part)
{
  const CleaveFitCandidate *candidate = &part->candidate;
  GVariantBuilder segment;

  g_variant_builder_init (&segment, G_VARIANT_TYPE_VARDICT);
  add (&segment, "nodes", strings_to_data (part->nodes));
  add (&segment, "ends", ends_to_data (part));
  add_int (&segment, "strips", candidate->n_strips);
  add_int (&segment, "columns", candidate->n_columns);
  add (&segment, "halo", g_variant_new_string (cleave_fit_halo_names[candidate->halo]));
  add (&segment, "column_by_column", g_variant_new_boolean (candidate->in_bands));
  add (&segment, "even", g_variant_new_boolean (part->is_even));
  add_int (&segment, "estimated_bytes", candidate->n_bytes);
  add_int (&segment, "added_macs", (gint64) candidate->macs);
  return g_variant_builder_end (&segment);
}

static GVariant *
parts_to_data (const GPtrArray *parts)
{
  GVariantBuilder list;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < parts->len; i++)
    g_variant_builder_add (&list, "v", part_to_data (parts->pdata[i]));
  return g_variant_builder_end (&list);
}

static GVariant *
loops_to_data (const CleaveFitLoops *loops)
{
  GVariantBuilder data;

  g_variant_builder_init (&data, G_VARIANT_TYPE_VARDICT);
  add_int (&data, "loops", loops->n_loops);
  add_int (&data, "pieces", loops->n_pieces);
  add_int (&data, "whole", loops->n_whole);
  add_int (&data, "bytes_before", loops->bytes_before);
  add_int (&data, "bytes_after", loops->bytes_after);
  add_int (&data, "bytes_refused", loops->bytes_refused);
  return g_variant_builder_end (&data);
}

/**
 * cleave_fit_plan_to_data:
 * @plan: a plan
 *
 * Returns a plan as data. A program can save the data, and [ctor@Cleave.FitPlan.new_from_data]
 * reads the data in any process. The data is a dictionary (`a{sv}`) with the types of JSON only:
 *
 * - `format`, `version`: `cleave-fit-plan` and 1
 * - `arena_bytes`, `macs`, `threads`, `exclude_inputs`: the totals, and how they were measured
 * - `split_per_reader`: values of at least this many bytes are split per reader; 0: none
 * - `late`, `copies`: lists of the nodes that are recomputed (`copy` names the copy, `readers` its
 *   readers) or that run earlier or later
 * - `segments`: a list; each has `nodes`, the `ends` with the dimensions that are cut, `strips`,
 *   `columns`, and the `halo` policy, as [struct@Cleave.FitSegment] describes
 * - `ort`: only of a plan for ONNX Runtime: its [struct@Cleave.FitLoops]
 *
 * Returns: (transfer full): the data
 *
 * Since: 0.2
 */
GVariant *
cleave_fit_plan_to_data (const CleaveFitPlan *plan)
{
  GVariantBuilder data;

  g_return_val_if_fail (plan != NULL, NULL);
  g_variant_builder_init (&data, G_VARIANT_TYPE_VARDICT);
  add (&data, "format", g_variant_new_string (CLEAVE_FIT_PLAN_FORMAT));
  add_int (&data, "version", CLEAVE_FIT_PLAN_VERSION);
  add_int (&data, "arena_bytes", plan->totals.arena_after);
  add_int (&data, "macs", plan->totals.macs_after);
  add_int (&data, "threads", plan->n_threads);
  add (&data, "exclude_inputs", g_variant_new_boolean (plan->exclude_inputs));
  add_int (&data, "split_per_reader", plan->rewrite.per_reader_bytes);
  if (plan->rewrite.idle != NULL)
    add (&data, "late", copies_to_data (plan->rewrite.idle));
  if (plan->rewrite.copies != NULL)
    add (&data, "copies", copies_to_data (plan->rewrite.copies));
  add (&data, "segments", parts_to_data (plan->parts));
  if (plan->loops != NULL)
    add (&data, "ort", loops_to_data (plan->loops));
  return g_variant_ref_sink (g_variant_builder_end (&data));
}
