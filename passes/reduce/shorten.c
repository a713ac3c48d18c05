/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints a pipeline with one change: a step is left out, or the steps of a group replace the
 * group. The changes are numbered in the order of the pipeline's text. */

#include "shorten.h"

typedef struct
{
  guint number; /* number of possible changes to skip before the change that is made */
  gboolean done;
} Change;

/* Counts a possible change. Returns whether this change is the one to make. */
static gboolean
is_now (Change *change)
{
  if (change->done || change->number-- > 0)
    return FALSE;
  change->done = TRUE;
  return TRUE;
}

static char *
print (const CleavePipeline *pipeline, Change *change)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < pipeline->steps->len; i++)
    {
      const CleavePipelineStep *step = &g_array_index (pipeline->steps, CleavePipelineStep, i);
      g_autofree char *group = NULL;

      if (is_now (change))
        continue;
      if (step->group != NULL && is_now (change))
        group = cleave_pipeline_print (step->group);
      else if (step->group != NULL && step->info == NULL)
        {
          g_autofree char *inner = print (step->group, change);

          group = *inner == '\0' ? g_strdup ("") : g_strdup_printf ("repeat(%s)", inner);
        }
      else
        group = g_strdup (step->text);
      if (*group != '\0')
        g_ptr_array_add (texts, g_steal_pointer (&group));
    }
  g_ptr_array_add (texts, NULL);
  return g_strjoinv (",", (char **) texts->pdata);
}

char *
cleave_pipeline_shorten (const CleavePipeline *pipeline, guint number)
{
  Change change = { .number = number };
  g_autofree char *text = print (pipeline, &change);

  return change.done ? g_steal_pointer (&text) : NULL;
}
