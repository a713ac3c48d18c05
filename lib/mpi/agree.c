/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Exchanges errors between ranks. If one rank fails, all ranks fail. */

#include <cleave/cleave-error.h>
#include <cleave/cleave-mpi.h>

#include "check.h"

#include <gio/gio.h>
#include <string.h>

/* Broadcasts the error `own` of rank `from`, and sets `error` to this error on all ranks. Returns
 * FALSE. */
static gboolean
spread (MPI_Comm comm, int from, int rank, const GError *own, GError **error)
{
  int head[] = { own == NULL ? 0 : (int) strlen (own->message),
                 own != NULL && own->domain == CLEAVE_ERROR ? own->code : -1 };
  g_autofree char *text = NULL;
  int code = MPI_Bcast (head, 2, MPI_INT, from, comm);

  if (!cleave_mpi_check (code, "exchange errors with the other ranks", error))
    return FALSE;
  text = g_malloc0 ((gsize) head[0] + 1);
  if (rank == from)
    memcpy (text, own->message, (gsize) head[0]);
  code = MPI_Bcast (text, head[0], MPI_CHAR, from, comm);
  if (!cleave_mpi_check (code, "exchange errors with the other ranks", error))
    return FALSE;
  g_set_error (error, head[1] < 0 ? G_IO_ERROR : CLEAVE_ERROR,
               head[1] < 0 ? G_IO_ERROR_FAILED : head[1], "rank %d: %s", from, text);
  return FALSE;
}

/**
 * cleave_mpi_agree:
 * @comm: a communicator
 * @own: (nullable): the error of this rank; %NULL if it has none
 * @error: return location for a [struct@GLib.Error]
 *
 * Exchanges errors between all ranks. If a rank has an error, all ranks get this error. If several
 * ranks have an error, all ranks get the error of the rank with the lowest number. All ranks of the
 * communicator must call this function.
 *
 * Returns: %TRUE if no rank has an error
 *
 * Since: 0.2
 */
gboolean
cleave_mpi_agree (MPI_Comm comm, const GError *own, GError **error)
{
  int rank, n_ranks, mine, lowest = 0, code;

  MPI_Comm_rank (comm, &rank);
  MPI_Comm_size (comm, &n_ranks);
  mine = own == NULL ? n_ranks : rank;
  code = MPI_Allreduce (&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  if (!cleave_mpi_check (code, "agree with the other ranks", error))
    return FALSE;
  return lowest == n_ranks || spread (comm, lowest, rank, own, error);
}
