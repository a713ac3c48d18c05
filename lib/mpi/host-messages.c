/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads messages from the memory of other processes on the host. MPI copies a message only while
 * the sender and the receiver call MPI. MPI divides a message that is large or not dense into
 * parts, and copies some parts in each call. With the functions of this file, the receiver alone
 * copies the whole message. If the value is in the sender's arena, the receiver copies it from
 * there: each rank maps the arenas of the other ranks of the host. If the value is in a bound
 * tensor, the receiver calls process_vm_readv(). */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* declares memfd_create() and process_vm_readv() */
#endif

#include "host-messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "copy-runs.h"

#define LINE 64
/* A call of process_vm_readv() reads at most this many parts; Linux allows 1024. */
#define MAX_PARTS 512
/* Runs (contiguous ranges) of fewer bytes than this are short. If a value has short runs in the
 * sender's or in the receiver's memory, the receiver fetches one range from the first run to the
 * last run, including the gaps. In a call of process_vm_readv(), an additional run takes longer
 * than SHORT_RUN additional bytes. */
#define SHORT_RUN 256
#define KEY_BYTES 40

/* The state of one message. The sender writes `offered` and `place`, and the receiver writes
 * `taken`, which is on another cache line. */
typedef struct
{
  _Alignas(LINE) atomic_uint offered; /* number of times that the sender has offered the message */
  CleaveMessagePlace place;           /* place of the value in the sender's memory */
  _Alignas(LINE) atomic_uint taken;
} Entry;

typedef struct
{
  _Alignas(LINE) char key[KEY_BYTES]; /* random text, unique to this board */
  Entry entries[]; /* indexed by message; entry m is used only if the rank that owns this board
                    * sends message m */
} Board;

/* The data that each rank sends to all other ranks, so that the other ranks can read its memory. A
 * `pid` of -1 means that the other ranks cannot read this rank's memory. */
typedef struct
{
  gint64 pid, board_fd, arena_fd, arena_bytes;
  guint64 board, arena; /* addresses in the process that sends this data */
  char key[KEY_BYTES];
} Description;

typedef struct
{
  Description description;
  Board *board;
  char *arena; /* address at which this process has mapped the peer's arena; NULL: not mapped */
} Peer;

struct _CleaveHostMessages
{
  int rank, n_ranks;
  gsize board_bytes;
  int board_fd;
  Board *board;
  Peer *peers;    /* indexed by rank: the description, board and arena of that rank */
  char *can_read; /* [reader * n_ranks + sender]: whether the rank `reader` can read the memory of
                   * the rank `sender` */
};

static gboolean
is_wanted (void)
{
  static const GDebugKey keys[] = { { "mpi", 1 } };

  return g_parse_debug_string (g_getenv ("CLEAVE_DEBUG"), keys, G_N_ELEMENTS (keys)) == 0;
}

static gpointer
map (int fd, gsize n_bytes, int protection)
{
  gpointer memory = mmap (NULL, n_bytes, protection, MAP_SHARED, fd, 0);

  return memory == MAP_FAILED ? NULL : memory;
}

/* Makes the board of this rank. If there is no memory for the board, MPI carries the messages of
 * this rank. */
static void
make_board (CleaveHostMessages *host)
{
  g_autofree char *key = g_uuid_string_random ();

  host->board_fd = memfd_create ("cleave-messages", MFD_CLOEXEC);
  if (host->board_fd < 0 || ftruncate (host->board_fd, (off_t) host->board_bytes) != 0)
    return;
  host->board = map (host->board_fd, host->board_bytes, PROT_READ | PROT_WRITE);
  if (host->board != NULL)
    g_strlcpy (host->board->key, key, sizeof host->board->key);
}

static Description
describe (const CleaveHostMessages *host, const CleaveProgram *program)
{
  CleaveProgramStats stats;
  gconstpointer arena;
  int arena_fd = cleave_program_get_arena_file (program, &arena);
  gboolean is_there = host->board != NULL && arena_fd >= 0 && is_wanted ();
  Description description = { .pid = is_there ? getpid () : -1,
                              .board_fd = host->board_fd,
                              .arena_fd = arena_fd,
                              .board = (guintptr) host->board,
                              .arena = (guintptr) arena };

  cleave_program_get_stats (program, &stats);
  description.arena_bytes = MAX (stats.arena_bytes, 1);
  if (is_there)
    memcpy (description.key, host->board->key, sizeof description.key);
  return description;
}

static gpointer
map_other (const Description *other, gint64 fd, gsize n_bytes, gboolean write)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/fd/%" G_GINT64_FORMAT, other->pid, fd);
  int own = open (path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  gpointer memory = NULL;
  off_t size;

  if (own < 0)
    return NULL;
  size = lseek (own, 0, SEEK_END);
  if (size >= 0 && (gsize) size >= n_bytes)
    memory = map (own, n_bytes, write ? PROT_READ | PROT_WRITE : PROT_READ);
  close (own);
  return memory;
}

/* Reads `n_bytes` in `n_parts` parts from another process's memory with one system call. `here` and
 * `there` are the addresses and sizes of the parts in this and in the other process. Returns FALSE
 * and sets errno on failure. */
static gboolean
fetch_parts (const Description *other,
             const struct iovec *here,
             const struct iovec *there,
             guint n_parts,
             gint64 n_bytes)
{
  gssize n = process_vm_readv ((pid_t) other->pid, here, n_parts, there, n_parts, 0);

  if (n >= 0 && n < n_bytes)
    errno = EFAULT;
  return n == n_bytes;
}

static gboolean
read_other (const Description *other, gpointer to, guint64 address, gsize n_bytes)
{
  const struct iovec here = { to, n_bytes }, there = { (gpointer) (guintptr) address, n_bytes };

  return fetch_parts (other, &here, &there, 1, (gint64) n_bytes);
}

/* Maps the board and the arena of a peer. Returns FALSE on failure. If the peer is on another host
 * or in a container, a different process of this host may have the peer's pid. So the function
 * compares the key that the peer sent with the key in the memory of the process, and with the key
 * in the mapped file. If the keys are equal, the process is the peer. */
static gboolean
map_peer (CleaveHostMessages *host, Peer *peer)
{
  char key[KEY_BYTES] = "";

  if (peer->description.pid < 0 ||
      !read_other (&peer->description, key, peer->description.board, sizeof key) ||
      memcmp (key, peer->description.key, sizeof key) != 0)
    return FALSE;
  peer->board = map_other (&peer->description, peer->description.board_fd, host->board_bytes, TRUE);
  if (peer->board == NULL || memcmp (peer->board->key, peer->description.key, sizeof key) != 0)
    return FALSE;
  peer->arena = map_other (&peer->description, peer->description.arena_fd,
                           (gsize) peer->description.arena_bytes, FALSE);
  return peer->arena != NULL;
}

/* Sends this rank's Description to all other ranks and receives theirs, then maps the boards and
 * arenas of the other ranks, then exchanges the table `can_read`. Returns an MPI error code. A rank
 * takes part in the second exchange even if the first exchange failed, since the other ranks would
 * wait for this rank. */
static int
map_peers (CleaveHostMessages *host, MPI_Comm comm, const CleaveProgram *program)
{
  const Description own = describe (host, program);
  g_autofree Description *all = g_new0 (Description, (gsize) host->n_ranks);
  g_autofree char *mine = g_new0 (char, (gsize) host->n_ranks);
  int first = MPI_Allgather (&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, comm), second;

  for (int r = 0; r < host->n_ranks && first == MPI_SUCCESS; r++)
    {
      host->peers[r].description = all[r];
      mine[r] = r != host->rank && own.pid >= 0 && map_peer (host, &host->peers[r]);
    }
  second =
      MPI_Allgather (mine, host->n_ranks, MPI_BYTE, host->can_read, host->n_ranks, MPI_BYTE, comm);
  return first != MPI_SUCCESS ? first : second;
}

int
cleave_host_messages_new (MPI_Comm comm,
                          guint n_messages,
                          const CleaveProgram *program,
                          CleaveHostMessages **made)
{
  CleaveHostMessages *host = *made = g_new0 (CleaveHostMessages, 1);

  MPI_Comm_rank (comm, &host->rank);
  MPI_Comm_size (comm, &host->n_ranks);
  host->board_bytes = sizeof (Board) + n_messages * sizeof (Entry);
  host->peers = g_new0 (Peer, (gsize) host->n_ranks);
  host->can_read = g_new0 (char, (gsize) host->n_ranks *(gsize) host->n_ranks);
  make_board (host);
  return map_peers (host, comm, program);
}

void
cleave_host_messages_free (CleaveHostMessages *host)
{
  if (host == NULL)
    return;
  for (int r = 0; r < host->n_ranks; r++)
    {
      if (host->peers[r].board != NULL)
        munmap (host->peers[r].board, host->board_bytes);
      if (host->peers[r].arena != NULL)
        munmap (host->peers[r].arena, (gsize) host->peers[r].description.arena_bytes);
    }
  if (host->board != NULL)
    munmap (host->board, host->board_bytes);
  if (host->board_fd >= 0)
    close (host->board_fd);
  g_free (host->peers);
  g_free (host->can_read);
  g_free (host);
}

gboolean
cleave_host_messages_has (const CleaveHostMessages *host, int from, int to)
{
  return host->can_read[to * host->n_ranks + from];
}

void
cleave_host_messages_offer (CleaveHostMessages *host,
                            guint message,
                            guint run,
                            const CleaveMessagePlace *place)
{
  Entry *entry = &host->board->entries[message];

  entry->place = *place;
  atomic_store_explicit (&entry->offered, run, memory_order_release);
}

gboolean
cleave_host_messages_is_offered (const CleaveHostMessages *host, int from, guint message, guint run)
{
  const Entry *entry = &host->peers[from].board->entries[message];

  return atomic_load_explicit (&entry->offered, memory_order_acquire) == run;
}

/* Copies up to MAX_PARTS parts of the value with one system call, and advances both iterators.
 * Returns the number of bytes, or -1 with errno set. */
static gint64
fetch_some (const Peer *peer, CleaveRuns *source, CleaveRuns *target)
{
  struct iovec here[MAX_PARTS], there[MAX_PARTS];
  guint n_parts = 0;
  gint64 n_bytes = 0;

  while (n_parts < MAX_PARTS && source->left > 0 && target->left > 0)
    {
      gint64 n = MIN (source->left, target->left);

      here[n_parts] = (struct iovec){ target->data, (gsize) n };
      there[n_parts++] = (struct iovec){ source->data, (gsize) n };
      cleave_runs_skip (source, n);
      cleave_runs_skip (target, n);
      n_bytes += n;
    }
  return fetch_parts (&peer->description, here, there, n_parts, n_bytes) ? n_bytes : -1;
}

static gint64
fetch_span (const Peer *peer, const CleaveMessagePlace *from, const CleaveMessagePlace *to)
{
  gsize span = (gsize) cleave_runs_get_span (from);
  g_autofree char *memory = g_try_malloc (span);
  CleaveMessagePlace copy = *from;

  if (memory == NULL)
    errno = ENOMEM;
  if (memory == NULL || !read_other (&peer->description, memory, (guintptr) from->data, span))
    return -1;
  copy.data = memory;
  return cleave_runs_copy (&copy, to);
}

static gint64
fetch (const Peer *peer, const CleaveMessagePlace *from, const CleaveMessagePlace *to)
{
  CleaveRuns source, target;
  gint64 n_bytes = 0;

  if (MIN (from->run_bytes, to->run_bytes) < SHORT_RUN)
    return fetch_span (peer, from, to);
  cleave_runs_init (&source, from);
  cleave_runs_init (&target, to);
  while (source.left > 0 && target.left > 0)
    {
      gint64 n = fetch_some (peer, &source, &target);

      if (n < 0)
        return -1;
      n_bytes += n;
    }
  return n_bytes;
}

gint64
cleave_host_messages_take (
    CleaveHostMessages *host, int from, guint message, guint run, const CleaveMessagePlace *place)
{
  const Peer *peer = &host->peers[from];
  Entry *entry = &peer->board->entries[message];
  CleaveMessagePlace source = entry->place;
  guint64 offset = (guintptr) source.data - peer->description.arena;
  gint64 n_bytes;

  if ((guintptr) source.data >= peer->description.arena &&
      offset < (guint64) peer->description.arena_bytes)
    {
      source.data = peer->arena + offset;
      n_bytes = cleave_runs_copy (&source, place);
    }
  else
    n_bytes = fetch (peer, &source, place);
  if (n_bytes >= 0)
    atomic_store_explicit (&entry->taken, run, memory_order_release);
  return n_bytes;
}

gboolean
cleave_host_messages_is_taken (const CleaveHostMessages *host, guint message, guint run)
{
  return atomic_load_explicit (&host->board->entries[message].taken, memory_order_acquire) == run;
}
