/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>
#include <cleave/cleave-mpi.h>

#include "arrivals.h"
#include "check.h"
#include "progress.h"

/* One message, and the request that is started in each run if MPI carries it. */
typedef struct
{
  char *value; /* NULL: it is neither sent nor received here */
  int from, to, tag;
  gint64 n_bytes;
  CleaveMessagePlace place; /* of the request */
  MPI_Request request;      /* MPI_REQUEST_NULL: not made yet */
  gboolean is_active;       /* MPI may look at the place */
  gboolean is_near;         /* whoever receives it reads it where it lies */
  guint run;                /* how often it has been sent, or expected */
} CleaveChannel;

/* All messages of a rank, as a transport. */
typedef struct
{
  MPI_Comm comm;  /* messages, and agreement before the first run */
  MPI_Comm alarm; /* what went wrong in a run, from who knows it to all others */
  int rank, n_ranks;
  guint n_channels; /* as many as the placement has messages */
  CleaveChannel *channels;
  gboolean has_company;     /* other programs of this process run meanwhile */
  CleaveProgress *progress; /* NULL: MPI carries no message that is large */
  CleaveNear *near;
  GArray *expected; /* CleaveArrival */
  GError *failure;  /* in a run: nothing is sent or received any more */
  gint64 n_sent, n_received, sent_bytes, received_bytes;
} CleaveChannelSet;

/* Copies the communicator.  Collective: if it fails on one rank, it fails on all. */
gboolean cleave_channels_init (CleaveChannelSet *channels, MPI_Comm comm, GError **error);
void cleave_channels_open (CleaveChannelSet *channels, const CleavePlacement *placement);
/* Collective, before the first run: finds out which messages MPI need not carry. */
gboolean
cleave_channels_meet (CleaveChannelSet *channels, const CleaveProgram *program, GError **error);
/* Collective.  FALSE: after a failure there are messages that MPI may still write or read. */
gboolean cleave_channels_clear (CleaveChannelSet *channels);
/* Nothing is sent or received any more, and all ranks are told why. */
void cleave_channels_fail (CleaveChannelSet *channels, const GError *why);
/* Around each run. */
void cleave_channels_begin (CleaveChannelSet *channels);
void cleave_channels_end (CleaveChannelSet *channels);
CleaveTransport cleave_channels_get_transport (CleaveChannelSet *channels);
