/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sends and receives the messages of a rank: the functions of its CleaveTransport (channels.h). */

#include "channels.h"

#include "requests.h"

#include <errno.h>
#include <gio/gio.h>
#include <sched.h>
#include <string.h>

/* A thread polls for a message this many times (some microseconds) before it yields its core and
 * checks whether another rank has failed. */
#define PATIENCE 64
/* Time that a waiting thread sleeps between polls, in microseconds: less than a message takes in
 * most networks. */
#define NAP 20

/* MPI sends a message of at most this many bytes immediately, in any network. Only larger messages
 * need the thread of progress.h. */
#define SMALL (64 << 10)

/* Serializes all calls of MPI. MPI allows calls from one thread at a time, but several programs of
 * a process may run at once. */
static GMutex mpi_lock;

/* Duplicates `comm` twice: for messages and for errors. Both calls are collective, so a rank makes
 * the second call even if its first call has failed. */
static gboolean
copy_communicator (CleaveChannelSet *channels, MPI_Comm comm, GError **error)
{
  int first = MPI_Comm_dup (comm, &channels->comm);
  int second = MPI_Comm_dup (comm, &channels->alarm);

  return cleave_mpi_check (first != MPI_SUCCESS ? first : second, "copy the communicator", error);
}

gboolean
cleave_channels_init (CleaveChannelSet *channels, MPI_Comm comm, GError **error)
{
  g_autoptr (GError) own = NULL;

  channels->comm = channels->alarm = MPI_COMM_NULL;
  channels->expected = g_array_new (FALSE, FALSE, sizeof (CleaveArrival));
  copy_communicator (channels, comm, &own);
  if (!cleave_mpi_agree (comm, own, error))
    {
      /* Do not free the communicators with MPI_Comm_free(). All ranks would have to call it, but a
       * rank on which MPI_Comm_dup() failed has no communicator. */
      channels->comm = channels->alarm = MPI_COMM_NULL;
      return FALSE;
    }
  MPI_Comm_set_errhandler (channels->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler (channels->alarm, MPI_ERRORS_RETURN);
  MPI_Comm_rank (channels->comm, &channels->rank);
  MPI_Comm_size (channels->comm, &channels->n_ranks);
  return TRUE;
}

gboolean
cleave_channels_meet (CleaveChannelSet *channels, const CleaveProgram *program, GError **error)
{
  gint64 largest = 0;
  int code =
      cleave_host_messages_new (channels->comm, channels->n_channels, program, &channels->host);

  if (!cleave_mpi_check (code, "find the ranks of this host", error))
    return FALSE;
  for (guint i = 0; i < channels->n_channels; i++)
    {
      CleaveChannel *channel = &channels->channels[i];

      if (channel->value == NULL)
        continue;
      channel->is_on_host = cleave_host_messages_has (channels->host, channel->from, channel->to);
      if (!channel->is_on_host)
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

/* Cancels the request of a channel, which may be in flight after a failure, and frees the
 * request. */
static void
close_channel (CleaveChannel *channel)
{
  if (channel->is_active)
    MPI_Cancel (&channel->request);
  if (channel->request != MPI_REQUEST_NULL)
    MPI_Request_free (&channel->request);
  g_free (channel->value);
}

/* Frees the communicators, unless a rank failed. After a failure, MPI may hold messages that no
 * rank has received. If the communicators were freed, a new communicator could reuse their numbers
 * and receive these messages. */
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
  g_clear_pointer (&channels->host, cleave_host_messages_free);
  g_clear_pointer (&channels->expected, g_array_unref);
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

/* Reports a failure to all other ranks, which might wait for this rank forever. The text of the
 * message is never freed, since this rank cannot know when MPI has read it. */
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

/* Returns whether the request of a message has finished; tests only once. If `listen`, also checks
 * whether another rank has failed. */
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

/* Yields the core. If other programs of the process run at the same time, sleeps for NAP
 * microseconds instead. A thread that only yields may get its core back at once. */
static void
yield_core (const CleaveChannelSet *channels)
{
  if (channels->has_other_programs)
    g_usleep (NAP);
  else
    sched_yield ();
}

/* Receives every message that a rank of this host has offered to this rank, not only the awaited
 * message. The sender of the awaited message may wait until an earlier message is received. */
static void
take_all (CleaveChannelSet *channels)
{
  const CleaveArrival *last;
  g_autoptr (GError) error = NULL;

  if (channels->failure != NULL ||
      cleave_arrivals_take (channels->expected, channels->host, &channels->n_received,
                            &channels->received_bytes))
    return;
  last = &g_array_index (channels->expected, CleaveArrival, channels->expected->len - 1);
  g_set_error (&error, G_IO_ERROR, (int) g_io_error_from_errno (errno),
               "rank %d: cannot receive '%s', from rank %d: %s", channels->rank,
               channels->channels[last->message].value, last->from, g_strerror (errno));
  cleave_channels_fail (channels, error);
}

static gboolean
is_done_on_host (CleaveChannelSet *channels, const CleaveChannel *channel, gboolean listen)
{
  guint message = (guint) (channel - channels->channels);

  if (channel->from == channels->rank
          ? cleave_host_messages_is_taken (channels->host, message, channel->run)
          : !cleave_arrivals_have (channels->expected, message))
    return channels->failure == NULL;
  if (listen)
    {
      g_mutex_lock (&mpi_lock);
      listen_for_alarm (channels);
      g_mutex_unlock (&mpi_lock);
    }
  return FALSE;
}

/* Waits until a message is sent or received. Returns FALSE after a failure. */
static gboolean
wait_for (CleaveChannelSet *channels, CleaveChannel *channel, MPI_Status *status)
{
  for (guint i = 1; channels->failure == NULL; i++)
    {
      gboolean is_late = i % PATIENCE == 0;

      take_all (channels);
      if (channel->is_on_host ? is_done_on_host (channels, channel, is_late)
                              : is_done (channels, channel, is_late, status))
        return TRUE;
      if (is_late)
        yield_core (channels);
    }
  return FALSE;
}

/* Starts the request of a message. In the first run, makes the request. Makes a new request if the
 * value has moved in memory because another tensor was bound. */
static void
start (CleaveChannelSet *channels, guint message, const CleaveMessagePlace *place)
{
  CleaveChannel *channel = &channels->channels[message];
  gboolean is_sent = channel->from == channels->rank;
  int code = MPI_SUCCESS;

  g_mutex_lock (&mpi_lock);
  if (channel->request != MPI_REQUEST_NULL && !cleave_message_place_equal (place, &channel->place))
    code = MPI_Request_free (&channel->request);
  if (code == MPI_SUCCESS && channel->request == MPI_REQUEST_NULL)
    {
      channel->place = *place;
      code =
          cleave_request_init (&channel->request, place, is_sent,
                               is_sent ? channel->to : channel->from, channel->tag, channels->comm);
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
  CleaveChannelSet *channels = data;
  CleaveChannel *channel = &channels->channels[message];
  const CleaveArrival arrival = { message, channel->run + 1, channel->from, *place };

  if (channels->failure != NULL)
    return;
  channel->run++;
  if (channel->is_on_host)
    g_array_append_val (channels->expected, arrival);
  else
    start (channels, message, place);
}

static void
send (gpointer data, guint message, const CleaveMessagePlace *place)
{
  CleaveChannelSet *channels = data;
  CleaveChannel *channel = &channels->channels[message];

  if (channels->failure != NULL)
    return;
  channel->run++;
  if (channel->is_on_host)
    cleave_host_messages_offer (channels->host, message, channel->run, place);
  else
    start (channels, message, place);
  if (channels->failure != NULL)
    return;
  take_all (channels);
  channels->n_sent++;
  channels->sent_bytes += channel->n_bytes;
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
  MPI_Count n_bytes = 0;

  if (!wait_for (channels, &channels->channels[message], &status))
    return FALSE;
  if (channels->channels[message].is_on_host)
    return TRUE;
  if (MPI_Get_elements_x (&status, MPI_BYTE, &n_bytes) == MPI_SUCCESS)
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
