/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "channels.h"

#include <gio/gio.h>
#include <sched.h>
#include <string.h>

/* How often it is looked whether a message is there before the core is left to others and it is
 * asked whether another rank has failed: some microseconds. */
#define PATIENCE 64
/* Microseconds: less than a message takes in most networks. */
#define NAP 20

/* Bytes up to which MPI sends a message at once, whatever lies between the ranks. */
#define SMALL (64 << 10)

/* Programs of one process may run at once, and MPI allows one thread at a time. */
static GMutex mpi_lock;

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
open_channel (CleaveChannel *channel, const CleaveMessage *message, GError **error)
{
  if (message->n_bytes > G_MAXINT)
    {
      g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
                   "'%s' has %" G_GINT64_FORMAT " bytes, and a message can have %d: split it",
                   message->value, message->n_bytes, G_MAXINT);
      return FALSE;
    }
  channel->value = g_strdup (message->value);
  channel->n_bytes = message->n_bytes;
  channel->from = (int) message->from;
  channel->to = (int) message->to;
  return TRUE;
}

gboolean
cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement, GError **error)
{
  g_autoptr (GHashTable) counts =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);

  gint64 largest = 0;

  channels->n_channels = cleave_placement_get_n_messages (placement);
  channels->channels = g_new0 (CleaveChannel, (gsize) channels->n_channels + 1);
  for (guint i = 0; i < channels->n_channels; i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (placement, i);
      CleaveChannel *channel = &channels->channels[i];

      channel->request = MPI_REQUEST_NULL;
      channel->tag = next_tag (counts, message);
      if (((int) message->from == channels->rank || (int) message->to == channels->rank) &&
          !open_channel (channel, message, error))
        return FALSE;
      largest = MAX (largest, channel->n_bytes);
    }
  if (largest > SMALL)
    channels->progress = cleave_progress_new (channels->comm, &mpi_lock);
  return TRUE;
}

void
cleave_channels_begin (CleaveChannelSet *channels)
{
  cleave_progress_begin (channels->progress);
}

void
cleave_channels_end (CleaveChannelSet *channels)
{
  cleave_progress_end (channels->progress);
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

/* After a failure of any rank there may be messages that nobody has received.  A communicator to
 * come could have the number of these, and would be given them: these stay.
 */
static void
close_communicators (CleaveChannelSet *channels)
{
  int own = channels->failure != NULL, any = 0;

  if (channels->alarm == MPI_COMM_NULL ||
      MPI_Allreduce (&own, &any, 1, MPI_INT, MPI_MAX, channels->comm) != MPI_SUCCESS || any)
    return;
  MPI_Comm_free (&channels->comm);
  MPI_Comm_free (&channels->alarm);
}

gboolean
cleave_channels_clear (CleaveChannelSet *channels)
{
  gboolean is_quiet = TRUE;

  g_clear_pointer (&channels->progress, cleave_progress_free);
  for (guint i = 0; channels->channels != NULL && i < channels->n_channels; i++)
    {
      is_quiet &= !channels->channels[i].is_active;
      close_channel (&channels->channels[i]);
    }
  g_free (channels->channels);
  close_communicators (channels);
  g_clear_error (&channels->failure);
  return is_quiet;
}

/* A rank that cannot go on tells all others, who might wait for it for ever.  The words are never
 * freed, since nobody knows when they are read.
 */
static void
raise_alarm (CleaveChannelSet *channels)
{
  char *last_words = g_strdup (channels->failure->message);

  for (int r = 0; r < channels->n_ranks; r++)
    {
      MPI_Request request;

      if (r != channels->rank && MPI_Isend (last_words, (int) strlen (last_words), MPI_CHAR, r, 0,
                                            channels->alarm, &request) == MPI_SUCCESS)
        MPI_Request_free (&request);
    }
}

void
cleave_channels_fail (CleaveChannelSet *channels, const GError *why)
{
  if (channels->failure != NULL)
    return;
  channels->failure = g_error_copy (why);
  g_mutex_lock (&mpi_lock);
  raise_alarm (channels);
  g_mutex_unlock (&mpi_lock);
}

static gboolean
check (CleaveChannelSet *channels, int code, const char *verb, const CleaveChannel *channel)
{
  g_autofree char *what = NULL;

  if (code == MPI_SUCCESS)
    return TRUE;
  what = g_strdup_printf ("%s '%s', %s rank %d", verb, channel->value,
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

/* Asks once, and now and then whether it is worth asking on. */
static gboolean
is_done (CleaveChannelSet *channels, CleaveChannel *channel, gboolean listen, MPI_Status *status)
{
  int flag = 0, code;

  g_mutex_lock (&mpi_lock);
  code = MPI_Test (&channel->request, &flag, status);
  if (check (channels, code, channel->from == channels->rank ? "send" : "receive", channel))
    {
      channel->is_active = !flag;
      if (!flag && listen)
        listen_for_alarm (channels);
    }
  g_mutex_unlock (&mpi_lock);
  return flag != 0 && channels->failure == NULL;
}

/* A thread that yields its core may get it back at once, and other programs of this process have
 * use for it. */
static void
leave_core (const CleaveChannelSet *channels)
{
  if (channels->has_company)
    g_usleep (NAP);
  else
    sched_yield ();
}

/* FALSE: it will never be. */
static gboolean
wait_for (CleaveChannelSet *channels, CleaveChannel *channel, MPI_Status *status)
{
  for (guint i = 1; channels->failure == NULL; i++)
    {
      gboolean is_late = i % PATIENCE == 0;

      if (is_done (channels, channel, is_late, status))
        return TRUE;
      if (is_late)
        leave_core (channels);
    }
  return FALSE;
}

/* The type of what lies at a place, once; to be freed. */
static int
make_type (const CleaveMessagePlace *place, MPI_Datatype *type)
{
  int code = MPI_Type_contiguous ((int) place->run_bytes, MPI_BYTE, type);

  for (guint i = 0; i < place->n_loops && code == MPI_SUCCESS; i++)
    {
      MPI_Datatype inner = *type;

      code = MPI_Type_create_hvector ((int) place->counts[i], 1, (MPI_Aint) place->strides[i],
                                      inner, type);
      MPI_Type_free (&inner);
    }
  return code == MPI_SUCCESS ? MPI_Type_commit (type) : code;
}

static int
make_request (CleaveChannelSet *channels, CleaveChannel *channel)
{
  const CleaveMessagePlace *place = &channel->place;
  MPI_Datatype type;
  int code = make_type (place, &type);

  if (code != MPI_SUCCESS)
    return code;
  code = channel->from == channels->rank
             ? MPI_Send_init (place->data, 1, type, channel->to, channel->tag, channels->comm,
                              &channel->request)
             : MPI_Recv_init (place->data, 1, type, channel->from, channel->tag, channels->comm,
                              &channel->request);
  MPI_Type_free (&type);
  return code;
}

static gboolean
is_same_place (const CleaveMessagePlace *a, const CleaveMessagePlace *b)
{
  if (a->data != b->data || a->run_bytes != b->run_bytes || a->n_loops != b->n_loops)
    return FALSE;
  for (guint i = 0; i < a->n_loops; i++)
    if (a->counts[i] != b->counts[i] || a->strides[i] != b->strides[i])
      return FALSE;
  return TRUE;
}

/* A request is made for a place in the first run, and again if tensors that are bound lie
 * elsewhere.
 */
static void
start (CleaveChannelSet *channels, guint message, const CleaveMessagePlace *place)
{
  CleaveChannel *channel = &channels->channels[message];
  int code = MPI_SUCCESS;

  if (channels->failure != NULL)
    return;
  g_mutex_lock (&mpi_lock);
  if (channel->request != MPI_REQUEST_NULL && !is_same_place (place, &channel->place))
    code = MPI_Request_free (&channel->request);
  if (code == MPI_SUCCESS && channel->request == MPI_REQUEST_NULL)
    {
      channel->place = *place;
      code = make_request (channels, channel);
    }
  if (code == MPI_SUCCESS)
    code = MPI_Start (&channel->request);
  channel->is_active =
      check (channels, code, channel->from == channels->rank ? "send" : "receive", channel);
  g_mutex_unlock (&mpi_lock);
}

static void
expect (gpointer data, guint message, const CleaveMessagePlace *place)
{
  start (data, message, place);
}

static void
send (gpointer data, guint message, const CleaveMessagePlace *place)
{
  CleaveChannelSet *channels = data;

  start (channels, message, place);
  channels->n_sent += channels->channels[message].is_active;
  channels->sent_bytes +=
      channels->channels[message].is_active ? channels->channels[message].n_bytes : 0;
}

static gboolean
finish (gpointer data, guint message)
{
  CleaveChannelSet *channels = data;
  MPI_Status status;

  return wait_for (channels, &channels->channels[message], &status);
}

static gboolean
receive (gpointer data, guint message)
{
  CleaveChannelSet *channels = data;
  MPI_Status status;
  int n_bytes = 0;

  if (!wait_for (channels, &channels->channels[message], &status))
    return FALSE;
  if (MPI_Get_count (&status, MPI_BYTE, &n_bytes) == MPI_SUCCESS)
    {
      channels->n_received++;
      channels->received_bytes += n_bytes;
    }
  return TRUE;
}

CleaveTransport
cleave_channels_get_transport (CleaveChannelSet *channels)
{
  return (CleaveTransport){ channels, expect, receive, send, finish };
}
