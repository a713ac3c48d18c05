/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the channels of a placement: one for each message, with a tag that sender and receiver
 * agree on. */

#include "channels.h"

/* Returns the next tag for the message's pair of ranks. The tags of a pair are 0, 1, 2, … */
static int
next_tag (GHashTable *counts, const CleaveMessage *message)
{
  gint64 key = (gint64) message->from << 32 | message->to;
  int *count = g_hash_table_lookup (counts, &key);

  if (count == NULL)
    {
      count = g_new0 (int, 1);
      g_hash_table_insert (counts, g_memdup2 (&key, sizeof key), count);
    }
  return (*count)++;
}

static void
open_channel (CleaveChannel *channel, const CleaveMessage *message)
{
  channel->value = g_strdup (message->value);
  channel->n_bytes = message->n_bytes;
  channel->from = (int) message->from;
  channel->to = (int) message->to;
}

void
cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement)
{
  g_autoptr (GHashTable) counts =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);

  channels->n_channels = cleave_placement_get_n_messages (placement);
  channels->channels = g_new0 (CleaveChannel, (gsize) channels->n_channels + 1);
  for (guint i = 0; i < channels->n_channels; i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (placement, i);
      CleaveChannel *channel = &channels->channels[i];

      channel->request = MPI_REQUEST_NULL;
      channel->tag = next_tag (counts, message);
      if ((int) message->from == channels->rank || (int) message->to == channels->rank)
        open_channel (channel, message);
    }
}
