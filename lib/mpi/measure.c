/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "channels.h"

#include <math.h> /* HUGE_VAL */

/* The least of so many round trips: what else the machines do is not the network, and TCP takes
 * some until it sends at full speed. */
#define N_PINGS 20
/* Fewer, if they take so many seconds; but at least so many. */
#define MAX_TIME 1
#define MIN_PINGS 3
/* Bytes of a ping grow until it takes so many seconds, or there are so many, since short ones tell
 * of latency more than of bandwidth. */
#define LONG_PING 0.01
#define MAX_BYTES (16 << 20)
/* Of so many ranks, spread over all: each takes a fraction of a second. */
#define MAX_PEERS 32

static int
ping (MPI_Comm comm, int peer, void *data, int n_bytes, double *time)
{
  int code = MPI_SUCCESS;
  double first = MPI_Wtime ();

  *time = HUGE_VAL;
  for (guint i = 0; i < N_PINGS && code == MPI_SUCCESS; i++)
    {
      double begin = MPI_Wtime ();

      if (i >= MIN_PINGS && begin - first > MAX_TIME)
        break;
      code = MPI_Send (data, n_bytes, MPI_BYTE, peer, 0, comm);
      if (code == MPI_SUCCESS)
        code = MPI_Recv (data, n_bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
      *time = MIN (*time, (MPI_Wtime () - begin) / 2);
    }
  return code;
}

/* Sends back what comes, until nothing does. */
static int
echo (MPI_Comm comm, void *data)
{
  int code, n_bytes = 1;

  do
    {
      MPI_Status status;

      code = MPI_Recv (data, MAX_BYTES, MPI_BYTE, 0, 0, comm, &status);
      if (code == MPI_SUCCESS)
        code = MPI_Get_count (&status, MPI_BYTE, &n_bytes);
      if (code == MPI_SUCCESS && n_bytes > 0)
        code = MPI_Send (data, n_bytes, MPI_BYTE, 0, 0, comm);
    }
  while (code == MPI_SUCCESS && n_bytes > 0);
  return code;
}

/* The slowest of all that are asked counts. */
static int
measure_peer (MPI_Comm comm, int peer, void *data, CleaveNetwork *slowest)
{
  double latency = 0, shorter = 0, time = 0;
  int n_bytes = 1 << 12, code = ping (comm, peer, data, 1, &latency), end;

  if (code == MPI_SUCCESS)
    code = ping (comm, peer, data, n_bytes, &time);
  for (gboolean is_long = FALSE; code == MPI_SUCCESS && !is_long && n_bytes < MAX_BYTES;)
    {
      n_bytes *= 4;
      shorter = time;
      code = ping (comm, peer, data, n_bytes, &time);
      is_long = time >= LONG_PING;
    }
  end = MPI_Send (data, 0, MPI_BYTE, peer, 0, comm); /* or the peer would wait */
  slowest->latency = MAX (slowest->latency, latency);
  time -= shorter; /* what goes at once, or waits at first, is in both */
  slowest->bandwidth = MIN (slowest->bandwidth, 0.75 * n_bytes / MAX (time, latency));
  return code != MPI_SUCCESS ? code : end;
}

/* So that it can be told in words, and given again. */
static double
round_off (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.1e", value), NULL);
}

/* Returns the first error.  After one the other peers are measured all the same, since they wait.
 */
static int
measure (MPI_Comm comm, void *data, CleaveNetwork *slowest)
{
  int rank, n_ranks, step, first = MPI_SUCCESS;

  MPI_Comm_rank (comm, &rank);
  MPI_Comm_size (comm, &n_ranks);
  step = (n_ranks - 2) / MAX_PEERS + 1;
  for (int peer = 1; peer < n_ranks; peer += step)
    {
      int code = MPI_SUCCESS;

      if (rank == 0)
        code = measure_peer (comm, peer, data, slowest);
      else if (rank == peer)
        code = echo (comm, data);
      if (first == MPI_SUCCESS)
        first = code;
    }
  return first;
}

/**
 * cleave_mpi_measure_network:
 * @comm: a communicator
 * @network: (inout): its bandwidth and latency are set, the same on all ranks; nothing else is
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds what lies between ranks: rank 0 sends messages to others, which send them back.  Latency is
 * half of the shortest way there and back, and bandwidth is what a message that takes some
 * milliseconds has more than one of a quarter of its bytes; of several ranks, what the slowest has.
 * Both are rounded to two digits.  All ranks must call it, best when they do nothing else.  With
 * one rank, nothing is set.
 *
 * Returns: whether it worked
 */
gboolean
cleave_mpi_measure_network (MPI_Comm comm, CleaveNetwork *network, GError **error)
{
  CleaveNetwork slowest = { .bandwidth = HUGE_VAL };
  g_autofree void *data = NULL;
  g_autoptr (GError) own = NULL;
  double found[2] = { 0, 0 };
  int n_ranks, code, end;

  g_return_val_if_fail (network != NULL, FALSE);
  MPI_Comm_size (comm, &n_ranks);
  if (n_ranks == 1)
    return TRUE;
  data = g_malloc0 (MAX_BYTES);
  code = measure (comm, data, &slowest);
  if (code == MPI_SUCCESS && slowest.latency > 0)
    {
      found[0] = round_off (slowest.bandwidth);
      found[1] = round_off (slowest.latency);
    }
  end = MPI_Bcast (found, 2, MPI_DOUBLE, 0, comm);
  cleave_mpi_check (code != MPI_SUCCESS ? code : end, "measure the network", &own);
  if (!cleave_mpi_agree (comm, own, error))
    return FALSE;
  network->bandwidth = found[0];
  network->latency = found[1];
  return TRUE;
}
