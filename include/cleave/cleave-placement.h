/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>
#include <cleave/cleave-program.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_MESSAGE (cleave_message_get_gtype ())
#define CLEAVE_TYPE_NETWORK (cleave_network_get_gtype ())
#define CLEAVE_TYPE_PLACEMENT (cleave_placement_get_gtype ())
#define CLEAVE_TYPE_RANK_ESTIMATE (cleave_rank_estimate_get_gtype ())

/**
 * CleavePlacement:
 *
 * On which rank each node of a graph runs, and which values ranks send each other for it.  It never
 * changes.
 */
typedef struct _CleavePlacement CleavePlacement;

/**
 * CleaveNetwork:
 * @n_ranks: number of ranks, each a process that has memory of its own, up to %CLEAVE_MAX_RANKS
 * @n_threads: number of threads of each rank, up to %CLEAVE_MAX_RANK_THREADS
 * @bandwidth: bytes that a rank sends in a second, at least 1
 * @latency: seconds from the first byte sent to the first one received, at most 1e6
 *
 * Ranks, and what lies between them.
 */
typedef struct
{
  guint n_ranks, n_threads;
  double bandwidth, latency;
} CleaveNetwork;

/* Of a placement, and of each rank. */
#define CLEAVE_MAX_RANKS 4096
#define CLEAVE_MAX_RANK_THREADS 1024

/* 10 Gbit/s, and a latency as TCP on a local network may have it. */
#define CLEAVE_NETWORK_BANDWIDTH 1.25e9
#define CLEAVE_NETWORK_LATENCY 3e-5

/**
 * CleaveMessage:
 * @value: name of the value
 * @from: the rank that computes it
 * @to: the rank that needs it
 * @n_bytes: its size
 *
 * A value that one rank sends to another, once in each run.
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
 * @busy: seconds for which a thread of the rank computes, of all its threads
 * @sending: seconds for which the rank sends
 * @sent_bytes: bytes that it sends
 * @received_bytes: bytes that it receives
 * @arena_bytes: size of its arena
 * @weight_bytes: bytes of the constants that its nodes read
 *
 * What a run takes of one rank.
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
 * @run_bytes: bytes that follow each other
 * @n_loops: loops over such runs, up to %CLEAVE_MAX_RANK
 * @counts: how often each loop repeats what is in it, the innermost first
 * @strides: how many bytes it goes on each time
 *
 * Where the bytes of a message lie.  They are sent in the order in which the loops reach them: the
 * same on both sides, which may have the loops in other places.
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
 * @data: that of the transport
 * @message: number of the message in the placement
 * @place: where it lies, or is to come to
 *
 * Begins to send or to receive a message.  It waits for nobody.  Until the message has been waited
 * for, nothing else uses the place; what is sent does not change.
 */
typedef void (*CleaveTransportBegin) (gpointer data,
                                      guint message,
                                      const CleaveMessagePlace *place);

/**
 * CleaveTransportWait:
 * @data: that of the transport
 * @message: number of the message in the placement
 *
 * Waits until a message is there, or its place is no longer needed for it.
 *
 * Returns: %FALSE if no message can come any more
 */
typedef gboolean (*CleaveTransportWait) (gpointer data, guint message);

/**
 * CleaveTransport:
 * @data: what the functions are called with
 * @expect: begins to receive a message
 * @receive: waits until it is there
 * @send: begins to send one
 * @finish: waits until it has been sent
 *
 * What carries messages between ranks.  No function may fail: whoever runs the program asks the
 * transport afterwards.  `finish` may wait until the message is expected where it goes, or return
 * before that if it has a copy.  At any time at most one thread is in one of the functions of a
 * program.
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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePlacement, cleave_placement_unref)

G_END_DECLS
