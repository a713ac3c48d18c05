/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "channels.h"

#include <gio/gio.h>
#include <sched.h>
#include <string.h>

/* How often it is looked whether a message is there before the core is left to others and it is
 * asked whether another rank has failed: some microseconds. */
#define PATIENCE 64

gboolean
cleave_mpi_check (int code, const char *what, GError **error)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;

  if (code == MPI_SUCCESS)
    return TRUE;
  MPI_Error_string (code, text, &length);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot %s: %s", what, text);
  return FALSE;
}

gboolean
cleave_channels_init (CleaveChannelSet *channels, MPI_Comm comm, GError **error)
{
  int code;

  channels->comm = channels->alarm = MPI_COMM_NULL;
  code = MPI_Comm_dup (comm, &channels->comm);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_dup (comm, &channels->alarm);
  if (!cleave_mpi_check (code, "copy the communicator", error))
    return FALSE;
  MPI_Comm_set_errhandler (channels->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler (channels->alarm, MPI_ERRORS_RETURN);
  MPI_Comm_rank (channels->comm, &channels->rank);
  MPI_Comm_size (channels->comm, &channels->n_ranks);
  return TRUE;
}

/* Messages between two ranks are told apart by their number among those. */
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

static gboolean
open_channel (CleaveChannelSet *channels,
              CleaveChannel *channel,
              const CleaveMessage *message,
              GError **error)
{
  g_autofree char *what = g_strdup_printf ("prepare '%s', which rank %u sends to rank %u",
                                           message->value, message->from, message->to);
  int code;

  if (message->n_bytes > G_MAXINT)
    {
      g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
                   "'%s' has %" G_GINT64_FORMAT " bytes, and a message can have %d: split it",
                   message->value, message->n_bytes, G_MAXINT);
      return FALSE;
    }
  channel->bytes = g_try_malloc0 ((gsize) message->n_bytes + 1);
  if (channel->bytes == NULL)
    {
      g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MEMORY,
                   "no memory for %" G_GINT64_FORMAT " bytes of a message", message->n_bytes);
      return FALSE;
    }
  channel->value = g_strdup (message->value);
  channel->n_bytes = message->n_bytes;
  channel->from = (int) message->from;
  channel->to = (int) message->to;
  code = channel->from == channels->rank
             ? MPI_Send_init (channel->bytes, (int) channel->n_bytes, MPI_BYTE, channel->to,
                              channel->tag, channels->comm, &channel->request)
             : MPI_Recv_init (channel->bytes, (int) channel->n_bytes, MPI_BYTE, channel->from,
                              channel->tag, channels->comm, &channel->request);
  return cleave_mpi_check (code, what, error);
}

gboolean
cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement, GError **error)
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
      if (((int) message->from == channels->rank || (int) message->to == channels->rank) &&
          !open_channel (channels, channel, message, error))
        return FALSE;
    }
  return TRUE;
}

/* After a failure some are still under way: what will never come is not waited for. */
static void
close_channel (CleaveChannel *channel)
{
  if (channel->is_active)
    MPI_Cancel (&channel->request);
  if (channel->request != MPI_REQUEST_NULL)
    MPI_Request_free (&channel->request);
  g_free (channel->value);
}

void
cleave_channels_clear (CleaveChannelSet *channels)
{
  for (guint i = 0; channels->channels != NULL && i < channels->n_channels; i++)
    {
      gboolean is_active = channels->channels[i].is_active;

      close_channel (&channels->channels[i]);
      if (!is_active) /* else MPI may still look at it */
        g_free (channels->channels[i].bytes);
    }
  g_free (channels->channels);
  if (channels->comm != MPI_COMM_NULL)
    MPI_Comm_free (&channels->comm);
  if (channels->alarm != MPI_COMM_NULL)
    MPI_Comm_free (&channels->alarm);
  g_clear_error (&channels->failure);
  g_free (channels->last_words);
}

gint64
cleave_channels_get_n_bytes (const CleaveChannelSet *channels)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < channels->n_channels; i++)
    n_bytes += channels->channels[i].value != NULL ? channels->channels[i].n_bytes : 0;
  return n_bytes;
}

/* A rank that cannot go on tells all others, who might wait for it for ever. */
static void
raise_alarm (CleaveChannelSet *channels)
{
  channels->last_words = g_strdup (channels->failure->message);
  for (int r = 0; r < channels->n_ranks; r++)
    {
      MPI_Request request;

      if (r != channels->rank &&
          MPI_Isend (channels->last_words, (int) strlen (channels->last_words), MPI_CHAR, r, 0,
                     channels->alarm, &request) == MPI_SUCCESS)
        MPI_Request_free (&request);
    }
}

static gboolean
check (CleaveChannelSet *channels, int code, const char *verb, const CleaveChannel *channel)
{
  g_autofree char *what = NULL;

  if (code == MPI_SUCCESS)
    return TRUE;
  what = channel == NULL
             ? g_strdup_printf ("%s values of other ranks", verb)
             : g_strdup_printf ("%s '%s', %s rank %d", verb, channel->value,
                                channel->from == channels->rank ? "to" : "from",
                                channel->from == channels->rank ? channel->to : channel->from);
  cleave_mpi_check (code, what, &channels->failure);
  g_prefix_error (&channels->failure, "rank %d: ", channels->rank);
  raise_alarm (channels);
  return FALSE;
}

static void
listen_for_alarm (CleaveChannelSet *channels)
{
  MPI_Status status;
  g_autofree char *text = NULL;
  int is_there = 0, length = 0;

  if (MPI_Iprobe (MPI_ANY_SOURCE, 0, channels->alarm, &is_there, &status) != MPI_SUCCESS ||
      !is_there || MPI_Get_count (&status, MPI_CHAR, &length) != MPI_SUCCESS)
    return;
  text = g_malloc0 ((gsize) length + 1);
  MPI_Recv (text, length, MPI_CHAR, status.MPI_SOURCE, 0, channels->alarm, MPI_STATUS_IGNORE);
  g_set_error_literal (&channels->failure, G_IO_ERROR, G_IO_ERROR_FAILED, text);
}

/* FALSE: it will never be. */
static gboolean
wait_for (CleaveChannelSet *channels, CleaveChannel *channel, MPI_Status *status)
{
  for (guint i = 1; channels->failure == NULL; i++)
    {
      int is_done = 0;
      int code = MPI_Test (&channel->request, &is_done, status);

      if (!check (channels, code, channel->from == channels->rank ? "send" : "receive", channel))
        break;
      if (is_done)
        {
          channel->is_active = FALSE;
          return TRUE;
        }
      if (i % PATIENCE == 0)
        {
          listen_for_alarm (channels);
          sched_yield ();
        }
    }
  return FALSE;
}

static gpointer
reserve (gpointer data, guint message)
{
  return ((CleaveChannelSet *) data)->channels[message].bytes;
}

static void
send (gpointer data, guint message)
{
  CleaveChannelSet *channels = data;
  CleaveChannel *channel = &channels->channels[message];

  if (channels->failure != NULL ||
      !check (channels, MPI_Start (&channel->request), "send", channel))
    return;
  channel->is_active = TRUE;
  channels->n_sent++;
  channels->sent_bytes += channel->n_bytes;
}

static gconstpointer
receive (gpointer data, guint message)
{
  CleaveChannelSet *channels = data;
  CleaveChannel *channel = &channels->channels[message];
  MPI_Status status;
  int n_bytes = 0;

  if (wait_for (channels, channel, &status) &&
      MPI_Get_count (&status, MPI_BYTE, &n_bytes) == MPI_SUCCESS)
    {
      channels->n_received++;
      channels->received_bytes += n_bytes;
    }
  return channel->bytes;
}

CleaveTransport
cleave_channels_get_transport (CleaveChannelSet *channels)
{
  return (CleaveTransport){ channels, reserve, send, receive };
}

void
cleave_channels_begin (CleaveChannelSet *channels)
{
  for (guint i = 0; i < channels->n_channels && channels->failure == NULL; i++)
    {
      CleaveChannel *channel = &channels->channels[i];

      if (channel->value != NULL && channel->to == channels->rank)
        channel->is_active = check (channels, MPI_Start (&channel->request), "receive", channel);
    }
}

void
cleave_channels_end (CleaveChannelSet *channels)
{
  MPI_Status status;

  for (guint i = 0; i < channels->n_channels && channels->failure == NULL; i++)
    if (channels->channels[i].is_active)
      wait_for (channels, &channels->channels[i], &status);
}
