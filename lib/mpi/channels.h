/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>
#include <cleave/cleave-mpi.h>

#include "arrivals.h"
#include "check.h"
#include "progress.h"

/* The messages between the ranks of one placement; each rank is a process of MPI. For each message,
 * either MPI carries it (requests.h), or the receiver on the same host reads it from the sender's
 * memory (host-messages.h). rank-program.c opens the channels and passes their CleaveTransport to
 * the program; Send, Expect, Receive and Finish nodes (lib/memory/transfer.h) call the
 * CleaveTransport.
 *
 * Example: rank 0 sends a value of 64 KiB to rank 1 in each run. Both ranks have a channel with the
 * same number and tag, and rank 0 starts the same persistent request in each run. */

/* One message of the placement. If MPI carries the message, the channel has a persistent request,
 * which is started in each run. */
typedef struct
{
  char *value; /* name of the value; NULL: this rank neither sends nor receives it */
  int from, to, tag;
  gint64 n_bytes;
  CleaveMessagePlace place; /* buffer and layout of the value when the request was made */
  MPI_Request request;      /* MPI_REQUEST_NULL: the request is not made yet */
  gboolean is_active;       /* whether the request has begun and not finished: MPI may access the
                             * buffer */
  gboolean is_on_host;      /* whether the receiver reads the message from the sender's memory
                             * (host-messages.h), without MPI */
  guint run; /* number of times that the message has been sent, or expected, so far */
} CleaveChannel;

/* All messages of a rank. CleaveTransport is the interface through which a program sends and
 * receives them. */
typedef struct
{
  MPI_Comm comm;  /* communicator for messages, and for cleave_mpi_agree() before the first run */
  MPI_Comm alarm; /* communicator for errors: a rank that fails in a run reports the error to all
                   * other ranks */
  int rank, n_ranks;
  guint n_channels; /* number of messages of the placement, including messages between other
                     * ranks */
  CleaveChannel *channels;
  gboolean has_other_programs; /* whether other programs of this process run at the same time; if
                                * so, a waiting thread sleeps */
  CleaveProgress *progress;    /* thread that calls MPI during runs; NULL: MPI carries no large
                                * message */
  CleaveHostMessages *host;
  GArray *expected; /* CleaveArrival: messages of ranks on the same host that this rank expects */
  GError *failure;  /* first error of a run; no message is sent or received after it; NULL: none */
  gint64 n_sent, n_received, sent_bytes, received_bytes;
} CleaveChannelSet;

/* Duplicates the communicator. Collective: if the call fails on one rank, it fails on all ranks. */
gboolean cleave_channels_init (CleaveChannelSet *channels, MPI_Comm comm, GError **error);
void cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement);
/* Determines the messages that the receiver can read from the sender's memory, without MPI.
 * Collective; call this function before the first run. */
gboolean
cleave_channels_meet (CleaveChannelSet *channels, const CleaveProgram *program, GError **error);
/* Frees the channels; collective. Returns FALSE if, after a failure, MPI may still read or write
 * buffers of messages. The caller must not free these buffers. */
gboolean cleave_channels_clear (CleaveChannelSet *channels);
/* Stops all sending and receiving, and reports the error `why` to all ranks. No effect after an
 * earlier failure. */
void cleave_channels_fail (CleaveChannelSet *channels, const GError *why);
/* Start (begin) and stop (end) the calls of MPI in the background (progress.h). The caller calls
 * begin before each run, and end after the run. */
void cleave_channels_begin (CleaveChannelSet *channels);
void cleave_channels_end (CleaveChannelSet *channels);
CleaveTransport cleave_channels_get_transport (CleaveChannelSet *channels);
