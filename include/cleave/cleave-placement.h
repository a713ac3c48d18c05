/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Placements of the nodes of a graph on ranks: processes that run a graph together, each with
 * memory of its own. cleave_placement_new() decides which rank runs which node, for a given
 * network. cleave_placement_build() makes the graph of one rank, in which a node sends or receives
 * each message. A CleaveTransport carries the messages. <cleave/cleave-mpi.h> has a transport over
 * MPI. */

#include <cleave/cleave-program.h>
#include <cleave/cleave-split.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_MESSAGE (cleave_message_get_gtype ())
#define CLEAVE_TYPE_NETWORK (cleave_network_get_gtype ())
#define CLEAVE_TYPE_PLACEMENT (cleave_placement_get_gtype ())
#define CLEAVE_TYPE_RANK_ESTIMATE (cleave_rank_estimate_get_gtype ())

/**
 * CleavePlacement:
 *
 * Assigns each node of a graph to a rank, and lists the messages: the values that one rank computes
 * and another rank reads. The assignment never changes.
 */
typedef struct _CleavePlacement CleavePlacement;

/**
 * CleaveNetwork:
 * @n_ranks: number of ranks, each a process with separate memory; at most %CLEAVE_MAX_RANKS
 * @n_threads: number of threads of each rank; at most %CLEAVE_MAX_RANK_THREADS
 * @bandwidth: bytes that a rank sends per second, at least 1
 * @latency: seconds from the first byte sent to the first byte received, at most 1e6
 *
 * Ranks and the network that connects them.
 */
typedef struct
{
  guint n_ranks, n_threads;
  double bandwidth, latency;
} CleaveNetwork;

/* The largest number of ranks of a placement, and the largest number of threads of a rank. */
#define CLEAVE_MAX_RANKS 4096
#define CLEAVE_MAX_RANK_THREADS 1024

/* Default bandwidth (10 Gbit/s) and default latency (30 µs): typical of TCP on a local network. */
#define CLEAVE_NETWORK_BANDWIDTH 1.25e9
#define CLEAVE_NETWORK_LATENCY 3e-5

/**
 * CleaveMessage:
 * @value: name of the value
 * @from: the rank that computes the value
 * @to: the rank that reads the value
 * @n_bytes: size of the value
 *
 * A value that one rank sends to another rank, once in each run.
 */
typedef struct
{
  char *value;
  guint from, to;
  gint64 n_bytes;
} CleaveMessage;

/**
 * CleaveRankEstimate:
 * @n_nodes: number of nodes that the rank computes
 * @busy: seconds of computation, summed over the threads of the rank
 * @sending: seconds during which the rank sends
 * @sent_bytes: bytes that the rank sends
 * @received_bytes: bytes that the rank receives
 * @arena_bytes: size of the rank's arena
 * @weight_bytes: bytes of the constants that the rank's nodes read
 *
 * The time and memory that one run takes on one rank.
 */
typedef struct
{
  guint n_nodes;
  double busy, sending;
  gint64 sent_bytes, received_bytes;
  gint64 arena_bytes, weight_bytes;
} CleaveRankEstimate;

/**
 * CleaveMessagePlace:
 * @data: the first byte
 * @run_bytes: length of a run of contiguous bytes
 * @n_loops: number of loops over runs, at most %CLEAVE_MAX_RANK
 * @counts: number of iterations of each loop, the innermost loop first
 * @strides: bytes from one iteration of a loop to the next
 *
 * Describes the memory of a message: nested loops over runs of contiguous bytes. Bytes are sent in
 * the order of the loops. Sender and receiver have the same bytes in the same order, but may have
 * different strides.
 */
typedef struct
{
  gpointer data;
  gint64 run_bytes;
  guint n_loops;
  gint64 counts[CLEAVE_MAX_RANK], strides[CLEAVE_MAX_RANK];
} CleaveMessagePlace;

/**
 * CleaveTransportBegin:
 * @data: the `data` of the transport
 * @message: index of the message in the placement
 * @place: the memory to send from or to receive into
 *
 * Begins to send or to receive a message, and returns without waiting. Until the matching wait
 * returns, the program does not access the memory of a message that is received, and does not
 * change the memory of a message that is sent.
 */
typedef void (*CleaveTransportBegin) (gpointer data,
                                      guint message,
                                      const CleaveMessagePlace *place);

/**
 * CleaveTransportWait:
 * @data: the `data` of the transport
 * @message: index of the message in the placement
 *
 * Waits until a message has been received, or until the memory of a sent message may be changed.
 *
 * Returns: %FALSE if no message can arrive any more
 */
typedef gboolean (*CleaveTransportWait) (gpointer data, guint message);

/**
 * CleaveTransport:
 * @data: passed to the functions
 * @expect: begins to receive a message
 * @receive: waits until the message has been received
 * @send: begins to send a message
 * @finish: waits until the message has been sent
 *
 * Carries messages between ranks. The functions report no errors: the caller of the program asks
 * the transport after the run. `finish` may wait until the receiver has called `expect`, or return
 * earlier if the transport has copied the message. A program calls these functions from one thread
 * at a time.
 */
typedef struct
{
  gpointer data;
  CleaveTransportBegin expect;
  CleaveTransportWait receive;
  CleaveTransportBegin send;
  CleaveTransportWait finish;
} CleaveTransport;

CLEAVE_API GType cleave_network_get_gtype (void);
CLEAVE_API GType cleave_message_get_gtype (void);
CLEAVE_API GType cleave_rank_estimate_get_gtype (void);
CLEAVE_API GType cleave_placement_get_gtype (void);
CLEAVE_API gboolean cleave_network_parse (GHashTable *options,
                                          CleaveNetwork *network,
                                          GError **error);
CLEAVE_API CleavePlacement *
cleave_placement_new (CleaveGraph *graph, const CleaveNetwork *network, GError **error);
CLEAVE_API CleavePlacement *cleave_placement_new_for_stream (CleaveGraph *graph,
                                                             const CleaveNetwork *network,
                                                             guint n_in_flight,
                                                             GError **error);
CLEAVE_API CleavePlacement *cleave_placement_new_by_node (
    CleaveGraph *graph, guint n_ranks, const guint *ranks, guint n_nodes, GError **error);
CLEAVE_API CleavePlacement *cleave_placement_ref (CleavePlacement *placement);
CLEAVE_API void cleave_placement_unref (CleavePlacement *placement);

CLEAVE_API CleaveGraph *cleave_placement_get_graph (const CleavePlacement *placement);
CLEAVE_API guint cleave_placement_get_n_ranks (const CleavePlacement *placement);
CLEAVE_API int cleave_placement_get_rank (const CleavePlacement *placement, const CleaveNode *node);
CLEAVE_API guint cleave_placement_get_n_messages (const CleavePlacement *placement);
CLEAVE_API const CleaveMessage *cleave_placement_get_message (const CleavePlacement *placement,
                                                              guint index);
CLEAVE_API guint64 cleave_placement_get_hash (const CleavePlacement *placement);
CLEAVE_API CleaveGraph *cleave_placement_build (const CleavePlacement *placement,
                                                guint rank,
                                                const CleaveTransport *transport);
CLEAVE_API void cleave_placement_set_profile (CleavePlacement *placement,
                                              const CleaveProfile *profile);
CLEAVE_API double cleave_placement_simulate (const CleavePlacement *placement,
                                             const CleaveNetwork *network);
CLEAVE_API double cleave_placement_simulate_stream (const CleavePlacement *placement,
                                                    const CleaveNetwork *network,
                                                    guint n_in_flight);
CLEAVE_API gboolean cleave_placement_estimate (const CleavePlacement *placement,
                                               const CleaveNetwork *network,
                                               guint rank,
                                               CleaveRankEstimate *estimate,
                                               GError **error);

CLEAVE_API CleaveSplitReport *
cleave_split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePlacement, cleave_placement_unref)

G_END_DECLS
