/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A family made of several, for ops of one kind: of those, the one that serves a kernel instance.
 */

#include "level.h"

typedef struct
{
  const CleaveKernelFamily *family;
  gpointer state;
} CleaveSeveral;

static inline gboolean
cleave_several_prepare (const CleaveKernelFamily *const *families,
                        guint n_families,
                        const CleaveKernelInstance *instance,
                        CleaveWeights *weights,
                        gpointer *state,
                        gsize *n_scratch)
{
  for (guint i = 0; i < n_families; i++)
    {
      gpointer found = NULL;

      if (!families[i]->prepare (instance, weights, &found, n_scratch))
        continue;
      *state = g_memdup2 (&(CleaveSeveral){ families[i], found }, sizeof (CleaveSeveral));
      return TRUE;
    }
  return FALSE;
}

static inline void
cleave_several_run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveSeveral *several = state;

  several->family->run (several->state, instance, scratch);
}

static inline void
cleave_several_free (gpointer state)
{
  CleaveSeveral *several = state;

  several->family->free (several->state);
  g_free (several);
}
