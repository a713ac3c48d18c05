/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>
#include <cleave/cleave-mpi.h>

#include "arrivals.h"
#include "check.h"
#include "progress.h"

/* The messages between ranks that run one placement together, each a process of MPI. MPI carries a
 * message (requests.h), or a receiver on the same host reads it from the sender's memory
 * (host-messages.h).
 */

/* One message of the placement, and the persistent request that carries it in each run if MPI is
 * needed. */
typedef struct
{
  char *value; /* name of the value; NULL: this rank neither sends nor receives it */
  int from, to, tag;
  gint64 n_bytes;
  CleaveMessagePlace place; /* buffer and layout for which the request was made */
  MPI_Request request;      /* MPI_REQUEST_NULL: not made yet */
  gboolean is_active;       /* the request has begun and not finished: MPI may access the buffer */
  gboolean is_on_host; /* MPI does not carry the message: the receiver reads it from the sender's
                       memory (host-messages.h) */
  guint run;           /* number of times the message has been sent, or expected */
} CleaveChannel;

/* All messages of a rank. CleaveTransport is the interface through which a program sends and
 * receives them. */
typedef struct
{
  MPI_Comm comm;  /* communicator for messages, and for the agreement before the first run */
  MPI_Comm alarm; /* communicator for errors: a rank that fails in a run reports it to all others */
  int rank, n_ranks;
  guint n_channels; /* number of messages of the placement, also of messages between other ranks */
  CleaveChannel *channels;
  gboolean has_company; /* other programs of this process run at the same time, so a waiting thread
                           sleeps */
  CleaveProgress *progress; /* thread that calls MPI in runs; NULL: no large message uses MPI */
  CleaveHostMessages *host;
  GArray *expected; /* CleaveArrival: messages on the host that this rank expects */
  GError *failure;  /* first error of a run; no message is sent or received after it; NULL: none */
  gint64 n_sent, n_received, sent_bytes, received_bytes;
} CleaveChannelSet;

/* Duplicates the communicator. Collective: if it fails on one rank, it fails on all. */
gboolean cleave_channels_init (CleaveChannelSet *channels, MPI_Comm comm, GError **error);
void cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement);
/* Determines which messages the receiver can read from the sender's memory, without MPI.
 * Collective; call it before the first run. */
gboolean
cleave_channels_meet (CleaveChannelSet *channels, const CleaveProgram *program, GError **error);
/* Frees the channels; collective. Returns FALSE if, after a failure, MPI may still read or write
 * buffers of messages. */
gboolean cleave_channels_clear (CleaveChannelSet *channels);
/* Stops all sending and receiving, and reports the reason to all ranks. No effect after an earlier
 * failure. */
void cleave_channels_fail (CleaveChannelSet *channels, const GError *why);
/* Start and end a run; call them around each run. */
void cleave_channels_begin (CleaveChannelSet *channels);
void cleave_channels_end (CleaveChannelSet *channels);
CleaveTransport cleave_channels_get_transport (CleaveChannelSet *channels);
