/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <mpi.h>

/* A thread that calls MPI every 250 µs during a run, so that large messages progress while the rank
 * computes. */

typedef struct _CleaveProgress CleaveProgress;

/* Starts the thread. Returns NULL if MPI may not be called from another thread. The thread holds
 * `mpi_lock` during each call. */
CleaveProgress *cleave_progress_new (MPI_Comm comm, GMutex *mpi_lock);
/* Start and end a run. The thread calls MPI only during runs. NULL: no effect. */
void cleave_progress_begin (CleaveProgress *progress);
void cleave_progress_end (CleaveProgress *progress);
void cleave_progress_free (CleaveProgress *progress);
