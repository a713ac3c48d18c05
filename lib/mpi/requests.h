/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include <mpi.h>

/* Persistent requests of MPI, one for each message of channels.c. MPI reads and writes a message at
 * its place in the arena, without a copy. Example: a value consists of 3 runs of 16 contiguous
 * bytes, and the runs are 32 bytes apart. The 3 runs are one MPI type, and the message is one
 * element of this type. */

/* Makes and commits the MPI type of a message whose value is at `place`. Returns an MPI error code.
 * The number of bytes of the value, and the number of its runs, may exceed the largest int. */
int cleave_message_type_init (const CleaveMessagePlace *place, MPI_Datatype *type);
/* Makes a persistent request that sends the value at `place` to the peer (if `is_sent`), or
 * receives a value from the peer into `place`. Returns an MPI error code. */
int cleave_request_init (MPI_Request *request,
                         const CleaveMessagePlace *place,
                         gboolean is_sent,
                         int peer,
                         int tag,
                         MPI_Comm comm);
gboolean cleave_message_place_equal (const CleaveMessagePlace *a, const CleaveMessagePlace *b);
