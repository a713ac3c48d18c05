/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "buffers.h"

/* A part is written straight into its place, so that its whole is there from then on.  Where the
 * other parts come much later, that may be memory that nobody uses yet, when it is scarcest:
 *
 *   part ── peak ── whole (much larger)
 *
 * Such a part gets a buffer of its own, and is copied when the rest comes. */

/* A whole is much larger than its part from here on, and so much of the peak is worth a copy. */
#define MUCH_LARGER 2
#define MIN_GAIN 0.05

static gint64
n_bytes (const CleaveHome *home)
{
  return cleave_tensor_type_n_bytes (&home->result->type);
}

/* The first step at which most bytes are in use. */
static guint
find_peak (const CleaveStorage *storage)
{
  g_autofree gint64 *change = g_new0 (gint64, storage->steps->len + 1);
  gint64 live = 0, peak = -1;
  guint at = 0;

  for (guint i = 0; i < storage->buffers->len; i++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, i);

      change[buffer->first] += buffer->n_bytes;
      change[buffer->last + 1] -= buffer->n_bytes;
    }
  for (guint s = 0; s < storage->steps->len; s++)
    {
      live += change[s];
      if (live <= peak)
        continue;
      peak = live;
      at = s;
    }
  return at;
}

/* What a value becomes a part of, or is overwritten by, in the same buffer, but for boxes, which
 * hold nothing by themselves; NULL: nothing. */
static const CleaveHome *
find_next (const CleaveStorage *storage, const CleaveHome *home)
{
  for (const CleaveOperand *use = home->result->first_use; use != NULL; use = use->next_use)
    {
      const CleaveHome *next;

      if (use->node == NULL || use->node->n_results == 0)
        continue;
      next = cleave_storage_home (storage, &use->node->results[0]);
      if (next->place.root == home->place.root && (next->flags & CLEAVE_HOME_BOX) == 0 &&
          next->base == (guint) (next - storage->homes))
        return next;
    }
  return NULL;
}

/* What is made of the value until after the peak, as long as it is small. */
static guint
find_latest (const CleaveStorage *storage, guint value, guint peak)
{
  const CleaveHome *root = &storage->homes[storage->homes[value].place.root];
  const CleaveHome *home = &storage->homes[value];

  while (home->ready <= peak)
    {
      const CleaveHome *next = find_next (storage, home);

      if (next == NULL || next == root || MUCH_LARGER * n_bytes (next) > n_bytes (root))
        break;
      home = next;
    }
  return (guint) (home - storage->homes);
}

gboolean
cleave_storage_find_apart (const CleaveStorage *storage, gboolean *apart)
{
  guint peak = find_peak (storage);
  double min_gain = MIN_GAIN * (double) cleave_storage_get_peak (storage);
  gboolean found = FALSE;

  for (guint v = 0; v < storage->n_values; v++)
    {
      const CleaveHome *home = &storage->homes[v];
      const CleaveHome *root = &storage->homes[home->place.root];
      guint latest;

      if ((home->flags & CLEAVE_HOME_MOVED) == 0 || home->base != v || home->ready > peak ||
          root->ready <= peak || MUCH_LARGER * n_bytes (home) > n_bytes (root) ||
          (double) (n_bytes (root) - n_bytes (home)) < min_gain)
        continue;
      latest = find_latest (storage, v, peak);
      found |= !apart[latest];
      apart[latest] = TRUE;
    }
  return found;
}
