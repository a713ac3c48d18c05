/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>
#include <cleave/cleave-program.h>

#include <mpi.h>

/* Ranks of one host, which read each other's messages where they lie.  Whoever has a value says so
 * on a board that all of them see, and waits until it has been taken. */
typedef struct _CleaveNear CleaveNear;

/* Collective; a code of MPI.  MPI carries what is sent by a rank that others cannot read, and
 * everything with CLEAVE_DEBUG=mpi. */
int
cleave_near_new (MPI_Comm comm, guint n_messages, const CleaveProgram *program, CleaveNear **made);
void cleave_near_free (CleaveNear *near);
/* Whether the second reads what the first has. */
gboolean cleave_near_has (const CleaveNear *near, int from, int to);

/* `run` counts how often the message has been sent. */
void
cleave_near_offer (CleaveNear *near, guint message, guint run, const CleaveMessagePlace *place);
gboolean cleave_near_is_offered (const CleaveNear *near, int from, guint message, guint run);
/* Copies what is offered and says that it is taken: how many bytes, or -1 with an errno. */
gint64 cleave_near_take (
    CleaveNear *near, int from, guint message, guint run, const CleaveMessagePlace *place);
gboolean cleave_near_is_taken (const CleaveNear *near, guint message, guint run);
