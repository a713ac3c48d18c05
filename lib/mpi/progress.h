/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <mpi.h>

/* A thread that calls MPI every 250 µs during a run, so that MPI sends the next part of a large
 * message while the rank computes. channels.c starts the thread if MPI carries a message of more
 * than 64 KiB. */

typedef struct _CleaveProgress CleaveProgress;

/* Starts the thread. Returns NULL if MPI may not be called from another thread. The thread holds
 * `mpi_lock` during each call of MPI. */
CleaveProgress *cleave_progress_new (MPI_Comm comm, GMutex *mpi_lock);
/* Tell the thread that a run begins or ends: the thread calls MPI only during a run. No effect if
 * `progress` is NULL. */
void cleave_progress_begin (CleaveProgress *progress);
void cleave_progress_end (CleaveProgress *progress);
void cleave_progress_free (CleaveProgress *progress);
