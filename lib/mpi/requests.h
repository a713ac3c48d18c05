/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

#include <mpi.h>

/* Makes the committed type of what lies at a place, for one element; a code of MPI.  Places may
 * have more bytes or more runs than an int counts. */
int cleave_message_type_init (const CleaveMessagePlace *place, MPI_Datatype *type);
/* A persistent request of what lies at a place, to send it to the peer or to receive it; a code of
 * MPI. */
int cleave_request_init (MPI_Request *request,
                         const CleaveMessagePlace *place,
                         gboolean is_sent,
                         int peer,
                         int tag,
                         MPI_Comm comm);
gboolean cleave_message_place_equal (const CleaveMessagePlace *a, const CleaveMessagePlace *b);
