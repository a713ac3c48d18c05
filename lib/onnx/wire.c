/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "wire.h"

#include "../ir/op.h"

#include <stdlib.h>
#include <sys/mman.h>

/* A model without subgraphs nests 7 deep; a subgraph adds 3. */
#define MAX_DEPTH 64
/* Each message costs some hundred bytes of memory, and 2 bytes of file are enough for one. */
#define MAX_MESSAGES (1 << 25)
/* A copy of so many bytes is worth to look after what has been copied. */
#define LARGE (1 << 20)

enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };

typedef struct
{
  const ProtobufCMessageDescriptor *descriptor;
  gsize end;
  guint64 seen; /* fields that may come once and did */
} Level;

typedef struct
{
  const guint8 *data;
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
    return fail_at (walk, what, "a length reaches beyond the end", error);
  if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE)
    return enter (walk, field, walk->at + (gsize) n, what, error);
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
       const char *what,
       GError **error)
{
  gsize size;
  Walk walk = { .data = g_bytes_get_data (bytes, &size), .depth = 1 };

  walk.levels[0] = (Level){ .descriptor = descriptor, .end = size };
  while (walk.depth > 0)
    if (walk.at == walk.levels[walk.depth - 1].end)
      walk.depth--;
    else if (!walk_field (&walk, what, error))
      return FALSE;
  return TRUE;
}

/* Pages of a mapped file that are read again come back from it. */
static void *
allocate (void *bytes, size_t size)
{
  gsize n_bytes;
  gconstpointer data;

  if (bytes != NULL && size >= LARGE)
    {
      data = g_bytes_get_data (bytes, &n_bytes);
      madvise ((gpointer) data, n_bytes, MADV_DONTNEED);
    }
  return malloc (size);
}

static void
release (void *bytes, void *block)
{
  free (block);
}

gpointer
cleave_wire_unpack (const ProtobufCMessageDescriptor *descriptor,
                    GBytes *bytes,
                    gboolean is_mapped,
                    const char *what,
                    GError **error)
{
  ProtobufCAllocator allocator = { allocate, release, is_mapped ? bytes : NULL };
  ProtobufCMessage *message;
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size == 0)
    {
      cleave_fail (error, CLEAVE_ERROR_MODEL, "not an %s: it is empty", what);
      return NULL;
    }
  if (!check (descriptor, bytes, what, error))
    return NULL;
  message = protobuf_c_message_unpack (descriptor, &allocator, size, data);
  if (message == NULL)
    cleave_fail (error, CLEAVE_ERROR_MODEL, "not an %s: a field has the wrong type", what);
  return message;
}
