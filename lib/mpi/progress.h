/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <mpi.h>

typedef struct _CleaveProgress CleaveProgress;

/* NULL where MPI may not be called from another thread.  The lock is held for each call. */
CleaveProgress *cleave_progress_new (MPI_Comm comm, GMutex *mpi_lock);
/* Around each run: outside of one, MPI is not called. */
void cleave_progress_begin (CleaveProgress *progress);
void cleave_progress_end (CleaveProgress *progress);
void cleave_progress_free (CleaveProgress *progress);
