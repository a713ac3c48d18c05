/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The cases of the test program ranks.c, and functions that they share. mpirun starts the program
 * as four processes. ranks-on-host.c and rank-failures.c have the cases for shared memory and for
 * failures. */

#include <cleave/cleave-mpi.h>
#include <cleave/cleave.h>

/* Number of programs that take turns in a stream of runs. */
#define N_LANES 3

extern int rank, n_ranks;

/* Numbers of MPI_Start() calls, and of reads of another process's memory, that still succeed. All
 * later calls or reads fail. */
extern gint starts_left, reads_left;

/* Aborts all ranks, with a message, if `good` is FALSE. */
void demand (gboolean good, const char *what, guint32 seed);
/* Returns a tensor for each output on rank 0, and an empty list on other ranks. */
GPtrArray *make_outputs (const CleaveGraph *graph);
/* Compares the outputs with the outputs of a program of the whole graph. */
void assert_outputs (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs, guint32 seed);
/* Makes a chain of nodes with weights that depend on `seed`. Returns a placement of the chain on
 * `n` ranks. */
CleavePlacement *make_chain (int seed, guint n);

/* Runs random graphs on 1, 2, 3 and 4 of the ranks. */
void run_same (guint n_cases);
/* Tests that all ranks report an error of one rank. */
void run_errors (void);
/* Tests that if MPI fails on a rank during a run, all ranks fail, and none waits forever. */
void run_failure (int failing);
/* Tests that if one of several programs in flight fails, all programs fail on all ranks. */
void run_stream_failure (int failing);
/* Tests that ranks on one host read each other's memory, and that MPI carries no message. */
void run_host (void);
