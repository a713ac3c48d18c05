/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>
#include <cleave/cleave-program.h>

#include <mpi.h>

/* Messages between ranks on one host, without MPI: the receiver reads the value from the sender's
 * memory. channels.c sends messages this way between two ranks if the system allows it. Each rank
 * has a board: an array in shared memory, with an entry for each message. The sender writes the
 * address and strides of the value into the entry. The receiver copies the value and marks it as
 * taken. The sender waits for that mark before it overwrites the value.
 *
 *   sender:   offer (place)                          is_taken? -> may overwrite the value
 *   receiver:       is_offered? -> take (copies the value, sets the mark) */
typedef struct _CleaveHostMessages CleaveHostMessages;

/* Makes the board of this rank and maps the boards of the other ranks. Collective; returns an MPI
 * error code. If other ranks cannot read the memory of a rank, MPI carries the messages of that
 * rank. With CLEAVE_DEBUG=mpi, MPI carries all messages. */
int cleave_host_messages_new (MPI_Comm comm,
                              guint n_messages,
                              const CleaveProgram *program,
                              CleaveHostMessages **made);
void cleave_host_messages_free (CleaveHostMessages *host);
/* Returns whether rank `to` can read the memory of rank `from`. */
gboolean cleave_host_messages_has (const CleaveHostMessages *host, int from, int to);

/* Offers a message to its receiver. `run` is the number of times that the message has been sent,
 * including this time. */
void cleave_host_messages_offer (CleaveHostMessages *host,
                                 guint message,
                                 guint run,
                                 const CleaveMessagePlace *place);
gboolean cleave_host_messages_is_offered (const CleaveHostMessages *host,
                                          int from,
                                          guint message,
                                          guint run);
/* Copies an offered message to `place` and marks the message as taken. Returns the number of bytes,
 * or -1 with errno set. */
gint64 cleave_host_messages_take (
    CleaveHostMessages *host, int from, guint message, guint run, const CleaveMessagePlace *place);
gboolean cleave_host_messages_is_taken (const CleaveHostMessages *host, guint message, guint run);
