/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of compiled programs with a limit (programs.h), ordered by last use. */

#include "programs.h"

#include "prefix.h"
#include "types.h"

void
cleave_programs_init (CleavePrograms *programs,
                      const CleaveProgramOptions *options,
                      guint max_programs,
                      gint64 max_bytes)
{
  *programs = (CleavePrograms){ .max_programs = max_programs, .max_bytes = max_bytes };
  if (options != NULL)
    programs->options = *options;
  programs->all = g_ptr_array_new_with_free_func (cleave_compiled_free);
}

void
cleave_programs_clear (CleavePrograms *programs)
{
  g_clear_pointer (&programs->all, g_ptr_array_unref);
}

static gint64
count_bytes (const GPtrArray *all)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < all->len; i++)
    {
      CleaveProgramStats stats;

      cleave_program_get_stats (((CleaveCompiled *) all->pdata[i])->program, &stats);
      n_bytes += stats.arena_bytes + stats.scratch_bytes + stats.weight_bytes;
    }
  return n_bytes;
}

static gboolean
is_too_large (const CleavePrograms *programs)
{
  return programs->all->len > programs->max_programs ||
         count_bytes (programs->all) > programs->max_bytes;
}

/* Returns the index of the program that was used last. This index is 0, or 1 if `keeps_first` fixes
 * another program at index 0. */
static guint
get_front (const CleavePrograms *programs)
{
  return programs->keeps_first && programs->all->len > 0 ? 1 : 0;
}

CleaveCompiled *
cleave_programs_find (const CleavePrograms *programs, const CleaveGraph *graph, gint64 max_elements)
{
  CleaveCompiled *best = NULL;
  gint64 least = max_elements;

  for (guint i = 0; i < programs->all->len; i++)
    {
      CleaveCompiled *compiled = programs->all->pdata[i];
      gint64 n = cleave_types_count_elements (compiled->types);

      if (n > least || (best != NULL && n == least) ||
          !cleave_graph_is_prefix (graph, compiled->graph, NULL))
        continue;
      best = compiled;
      least = n;
    }
  return best;
}

CleaveCompiled *
cleave_programs_add (CleavePrograms *programs, CleaveGraph *graph, GError **error)
{
  CleaveCompiled *compiled = cleave_compiled_new (graph, &programs->options, error);
  guint front = get_front (programs);

  if (compiled == NULL)
    return NULL;
  programs->n_compiled++;
  g_ptr_array_insert (programs->all, (gint) front, compiled);
  while (programs->all->len > front + 1 && is_too_large (programs))
    g_ptr_array_set_size (programs->all, (gint) programs->all->len - 1);
  return compiled;
}

gboolean
cleave_programs_contain (const CleavePrograms *programs, const CleaveCompiled *compiled)
{
  return g_ptr_array_find (programs->all, compiled, NULL);
}

/* Moves a program to the front of the list. */
static void
note_use (CleavePrograms *programs, const CleaveCompiled *compiled)
{
  guint index, front = get_front (programs);

  if (g_ptr_array_find (programs->all, compiled, &index) && index > front)
    g_ptr_array_insert (programs->all, (gint) front,
                        g_ptr_array_steal_index (programs->all, index));
}

gboolean
cleave_programs_run (CleavePrograms *programs,
                     CleaveCompiled *compiled,
                     CleaveTensor *const *inputs,
                     guint n_inputs,
                     GPtrArray *outputs,
                     GError **error)
{
  g_autoptr (GArray) types = cleave_types_of_tensors (inputs, n_inputs);
  gboolean is_padded = !cleave_types_equal (types, compiled->types);

  note_use (programs, compiled);
  if (!cleave_compiled_run (compiled, inputs, outputs, is_padded, error))
    return FALSE;
  programs->n_padded += is_padded ? 1 : 0;
  return TRUE;
}

CleaveShapedStats
cleave_programs_get_stats (const CleavePrograms *programs, guint n_shapes)
{
  return (CleaveShapedStats){ programs->all->len, programs->n_compiled, n_shapes,
                              programs->n_padded };
}
