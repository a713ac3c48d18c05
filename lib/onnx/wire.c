/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks and unpacks the bytes of protobuf messages (wire.h), with an allocator that releases pages
 * of the file. */

#include "wire.h"

#include "../ir/memory.h"
#include "../ir/op.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Messages may be nested this deep at most. A model without subgraphs needs 7 levels, and each
 * subgraph adds 3. */
#define MAX_DEPTH 64
/* A file may have at most this many messages. A message takes some hundred bytes of memory, but as
 * few as 2 bytes in a file. */
#define MAX_MESSAGES (1 << 25)
/* The pages of a field of at least this many bytes are released after the field is copied. */
#define LARGE (1 << 20)

enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };

typedef struct
{
  const ProtobufCMessageDescriptor *descriptor;
  gsize end;
  guint64 seen; /* set of bits: bit i is 1 if the field with number i, which is a message, has
                 * occurred */
} Level;

/* A field of at least LARGE bytes. */
typedef struct
{
  gsize begin, n_bytes;
} Field;

typedef struct
{
  const guint8 *data;
  GArray *large; /* Field: fields of at least LARGE bytes, in the order of the file */
  gsize at;
  guint depth;
  guint n_messages;
  Level levels[MAX_DEPTH];
} Walk;

static gboolean
read_varint (Walk *walk, gsize end, guint64 *value)
{
  *value = 0;
  for (guint shift = 0; shift < 64 && walk->at < end; shift += 7)
    {
      guint8 byte = walk->data[walk->at++];

      *value |= (guint64) (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
skip_bytes (Walk *walk, gsize end, guint64 n)
{
  if (n > end - walk->at)
    return FALSE;
  walk->at += (gsize) n;
  return TRUE;
}

static gboolean
fail_at (const Walk *walk, const char *what, const char *why, GError **error)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "not an %s: %s at byte %" G_GSIZE_FORMAT, what,
                      why, walk->at);
}

static gboolean
enter (
    Walk *walk, const ProtobufCFieldDescriptor *field, gsize end, const char *what, GError **error)
{
  Level *level = &walk->levels[walk->depth - 1];
  guint64 bit = field->id < 64 ? G_GUINT64_CONSTANT (1) << field->id : 0;

  if (field->label != PROTOBUF_C_LABEL_REPEATED && (level->seen & bit) != 0)
    return fail_at (walk, what, "a field comes twice", error);
  level->seen |= bit;
  if (walk->depth == MAX_DEPTH)
    return fail_at (walk, what, "messages nest too deep", error);
  if (++walk->n_messages > MAX_MESSAGES)
    return fail_at (walk, what, "too many messages", error);
  walk->levels[walk->depth++] = (Level){ .descriptor = field->descriptor, .end = end };
  return TRUE;
}

static gboolean
walk_length (Walk *walk, const ProtobufCFieldDescriptor *field, const char *what, GError **error)
{
  gsize end = walk->levels[walk->depth - 1].end;
  guint64 n;

  if (!read_varint (walk, end, &n) || n > end - walk->at)
    return fail_at (walk, what, "the file is incomplete, since a length reaches beyond its end",
                    error);
  if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE)
    return enter (walk, field, walk->at + (gsize) n, what, error);
  if (field != NULL && field->type == PROTOBUF_C_TYPE_BYTES && n >= LARGE)
    g_array_append_val (walk->large, ((Field){ walk->at, (gsize) n }));
  walk->at += (gsize) n;
  return TRUE;
}

static gboolean
walk_field (Walk *walk, const char *what, GError **error)
{
  const Level *level = &walk->levels[walk->depth - 1];
  guint64 tag, value;
  gboolean whole = FALSE;

  if (!read_varint (walk, level->end, &tag) || tag >> 3 == 0 || tag >> 3 > G_MAXINT32)
    return fail_at (walk, what, "no field", error);
  if ((tag & 7) == LENGTH)
    return walk_length (
        walk, protobuf_c_message_descriptor_get_field (level->descriptor, (unsigned) (tag >> 3)),
        what, error);
  if ((tag & 7) == VARINT)
    whole = read_varint (walk, level->end, &value);
  else if ((tag & 7) == FIXED64)
    whole = skip_bytes (walk, level->end, 8);
  else if ((tag & 7) == FIXED32)
    whole = skip_bytes (walk, level->end, 4);
  return whole || fail_at (walk, what, "no value", error);
}

static gboolean
check (const ProtobufCMessageDescriptor *descriptor,
       GBytes *bytes,
       GArray *large,
       const char *what,
       GError **error)
{
  gsize size;
  Walk walk = { .data = g_bytes_get_data (bytes, &size), .large = large, .depth = 1 };

  walk.levels[0] = (Level){ .descriptor = descriptor, .end = size };
  while (walk.depth > 0)
    if (walk.at == walk.levels[walk.depth - 1].end)
      walk.depth--;
    else if (!walk_field (&walk, what, error))
      return FALSE;
  return TRUE;
}

/* State of the allocator that protobuf-c uses: the bytes of the file, the file's large fields in
 * order, and the latest large block that protobuf-c allocated. */
typedef struct
{
  guint8 *data; /* NULL: the bytes belong to the caller and must not be released */
  GArray *large;
  guint next;
  gconstpointer block;
  gsize block_size;
  gboolean failed;
} Memory;

/* If protobuf-c has copied the next large field of the file into memory->block, releases the pages
 * of this field in the bytes of the file. So no large field is in memory twice. */
static void
release_copied (Memory *memory)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE), begin, end;
  const Field *field;

  if (memory->block == NULL || memory->next == memory->large->len)
    return;
  field = &g_array_index (memory->large, Field, memory->next);
  if (memory->block_size != field->n_bytes ||
      memcmp (memory->block, memory->data + field->begin, field->n_bytes) != 0)
    return;
  begin = (field->begin + page - 1) / page * page;
  end = (field->begin + field->n_bytes) / page * page;
  madvise (memory->data + begin, end - begin, MADV_DONTNEED);
  memory->next++;
}

static void *
allocate (void *data, size_t size)
{
  Memory *memory = data;
  void *block;

  if (memory->data == NULL || size < LARGE)
    block = malloc (size);
  else
    {
      release_copied (memory);
      memory->block = block = malloc (size);
      memory->block_size = size;
    }
  if (block != NULL)
    cleave_memory_populate (block, size);
  memory->failed |= block == NULL;
  return block;
}

static void
release (void *memory, void *block)
{
  free (block);
}

gpointer
cleave_wire_unpack (const ProtobufCMessageDescriptor *descriptor,
                    GBytes *bytes,
                    gboolean is_ours,
                    const char *what,
                    GError **error)
{
  g_autoptr (GArray) large = g_array_new (FALSE, FALSE, sizeof (Field));
  Memory memory = { .large = large };
  ProtobufCAllocator allocator = { allocate, release, &memory };
  ProtobufCMessage *message;
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size == 0)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "not an %s: it is empty", what);
  if (!check (descriptor, bytes, large, what, error))
    return NULL;
  memory.data = is_ours ? (guint8 *) data : NULL;
  message = protobuf_c_message_unpack (descriptor, &allocator, size, data);
  if (message == NULL && memory.failed)
    cleave_fail (error, CLEAVE_ERROR_MEMORY,
                 "there is no memory for an %s of %" G_GSIZE_FORMAT " bytes", what, size);
  else if (message == NULL)
    cleave_fail (error, CLEAVE_ERROR_MODEL, "not an %s: a field has the wrong type", what);
  return message;
}

/* Uses GLib's allocator. GLib allocates with malloc(), as protobuf-c does, so protobuf-c may free
 * the list. */
void
cleave_wire_append (gpointer list, size_t *n, gpointer item)
{
  gpointer **items = list;

  /* double the memory whenever the length is a power of two */
  if ((*n & (*n - 1)) == 0)
    *items = g_renew (gpointer, *items, MAX (*n * 2, 1));
  (*items)[(*n)++] = item;
}
