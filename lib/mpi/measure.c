/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures the latency and the bandwidth between ranks, from which a placement of nodes on ranks is
 * chosen. */

#include "channels.h"

#include <math.h> /* declares HUGE_VAL */

/* A message is sent back and forth this many times, and the shortest time counts. Longer round
 * trips include delays of the machines, and TCP takes some round trips to reach full speed. */
#define N_PINGS 20
/* Measuring one size of message stops after this many seconds, but not before MIN_PINGS round
 * trips. */
#define MAX_TIME 1
/* Measure at least this many round trips. */
#define MIN_PINGS 3
/* The bandwidth is measured with a message that takes at least this many seconds in one direction:
 * the time of a smaller message is mostly latency. The size grows until the message takes this
 * time. */
#define LONG_PING 0.01
/* Send messages of at most this many bytes. */
#define MAX_BYTES (16 << 20)
/* Measure at most this many ranks, evenly spread over all ranks, since each rank takes a fraction
 * of a second. */
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

/* Returns each message to its sender, until an empty message arrives. */
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

/* Measures latency and bandwidth of one peer. Updates `slowest` to the larger latency and the
 * smaller bandwidth. Returns an MPI error code. */
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
  end = MPI_Send (data, 0, MPI_BYTE, peer, 0, comm); /* ends echo() on the peer */
  slowest->latency = MAX (slowest->latency, latency);
  time -= shorter; /* the difference of the times of two sizes excludes the constant overhead of a
                    * message */
  slowest->bandwidth = MIN (slowest->bandwidth, 0.75 * n_bytes / MAX (time, latency));
  return code != MPI_SUCCESS ? code : end;
}

/* Returns `value` rounded to two significant digits, so that users can pass the printed value as an
 * option.
 */
static double
round_off (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.1e", value), NULL);
}

/* Measures the network to each peer, one peer after the other. Returns the first MPI error. After
 * an error, continues with the next peer, since that peer waits for messages. */
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
 * @network: (inout): bandwidth and latency are set, to the same values on all ranks; other fields
 * do not change
 * @error: return location for a [struct@GLib.Error]
 *
 * Measures the network between ranks: rank 0 sends messages to other ranks, and each of these ranks
 * returns each message. Latency is half of the shortest round trip. For the bandwidth, rank 0 sends
 * a message that takes 10 ms in one direction (at most 16 MiB), and a message of a quarter of its
 * size. Bandwidth is the difference in bytes, divided by the difference in time. The result has the
 * values of the slowest rank, rounded to two digits. All ranks must call this function. The ranks
 * should do nothing else meanwhile. With one rank, the function sets nothing.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
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
