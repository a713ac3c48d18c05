/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Receives the messages that other ranks of the host have offered (arrivals.h). */

#include "arrivals.h"

gboolean
cleave_arrivals_have (const GArray *arrivals, guint message)
{
  for (guint i = 0; i < arrivals->len; i++)
    if (g_array_index (arrivals, CleaveArrival, i).message == message)
      return TRUE;
  return FALSE;
}

gboolean
cleave_arrivals_take (GArray *arrivals,
                      CleaveHostMessages *host,
                      gint64 *n_received,
                      gint64 *n_bytes)
{
  for (guint i = arrivals->len; i-- > 0;)
    {
      const CleaveArrival arrival = g_array_index (arrivals, CleaveArrival, i);
      gint64 taken;

      if (!cleave_host_messages_is_offered (host, arrival.from, arrival.message, arrival.run))
        continue;
      taken = cleave_host_messages_take (host, arrival.from, arrival.message, arrival.run,
                                         &arrival.place);
      g_array_remove_index_fast (arrivals, i);
      if (taken < 0)
        {
          g_array_append_val (arrivals, arrival);
          return FALSE;
        }
      (*n_received)++;
      *n_bytes += taken;
    }
  return TRUE;
}
