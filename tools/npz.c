/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the directory at the end of a zip archive, unpacks each entry and checks its checksum, and
 * parses the entry as a .npy file. A member is the record of one entry in the directory. */

#include "npz.h"

#include "arguments.h"
#include "npy.h"
#include "standard.h"

#include <gio/gio.h>
#include <string.h>

/* Sizes and signatures of the records of a zip archive: PKWARE's APPNOTE.TXT, 4.3. */
#define END_SIZE 22
#define DIRECTORY_SIZE 46
#define LOCAL_SIZE 30
#define END_MAGIC 0x06054b50
#define DIRECTORY_MAGIC 0x02014b50
#define LOCAL_MAGIC 0x04034b50
#define STORED 0
#define DEFLATED 8

/* Highest compression ratio that deflate can reach. An entry that claims a higher ratio is an
 * error. */
#define MAX_RATIO 1032

typedef struct
{
  guint method;
  guint32 checksum;
  gsize packed, size, name_length, local_at;
  const guint8 *name;
} Member;

static guint32
read_number (const guint8 *at, guint n_bytes)
{
  guint32 number = 0;

  for (guint i = n_bytes; i-- > 0;)
    number = number << 8 | at[i];
  return number;
}

static guint32
get_checksum (const guint8 *data, gsize size)
{
  guint32 table[256], sum = G_MAXUINT32;

  for (guint32 i = 0; i < 256; i++)
    {
      table[i] = i;
      for (guint bit = 0; bit < 8; bit++)
        table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320 : table[i] >> 1;
    }
  for (gsize i = 0; i < size; i++)
    sum = table[(sum ^ data[i]) & 0xff] ^ sum >> 8;
  return ~sum;
}

/* Returns the end record of the archive, which a comment may follow. Returns NULL if the bytes are
 * not a zip archive. */
static const guint8 *
find_end (const guint8 *data, gsize size)
{
  gsize last = size < END_SIZE ? 0 : MIN (size - END_SIZE, G_MAXUINT16);

  if (size < END_SIZE)
    return NULL;
  for (gsize back = 0; back <= last; back++)
    if (read_number (data + size - END_SIZE - back, 4) == END_MAGIC)
      return data + size - END_SIZE - back;
  return NULL;
}

/* Reads a record of the directory. Returns the length of the record in bytes, or 0 if the record is
 * truncated. */
static gsize
read_member (const guint8 *at, gsize left, Member *member)
{
  gsize length;

  if (left < DIRECTORY_SIZE || read_number (at, 4) != DIRECTORY_MAGIC)
    return 0;
  member->method = read_number (at + 10, 2);
  member->checksum = read_number (at + 16, 4);
  member->packed = read_number (at + 20, 4);
  member->size = read_number (at + 24, 4);
  member->name_length = read_number (at + 28, 2);
  member->local_at = read_number (at + 42, 4);
  member->name = at + DIRECTORY_SIZE;
  length =
      DIRECTORY_SIZE + member->name_length + read_number (at + 30, 2) + read_number (at + 32, 2);
  return length > left ? 0 : length;
}

static const guint8 *
find_packed (const guint8 *data, gsize size, const Member *member)
{
  gsize begin;

  if (size < LOCAL_SIZE || member->local_at > size - LOCAL_SIZE ||
      read_number (data + member->local_at, 4) != LOCAL_MAGIC)
    return NULL;
  begin = member->local_at + LOCAL_SIZE + read_number (data + member->local_at + 26, 2) +
          read_number (data + member->local_at + 28, 2);
  return begin > size || member->packed > size - begin ? NULL : data + begin;
}

static GBytes *
inflate (const guint8 *packed, const Member *member, GError **error)
{
  g_autoptr (GConverter) converter =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW));
  g_autoptr (GInputStream) memory =
      g_memory_input_stream_new_from_data (packed, (gssize) member->packed, NULL);
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (memory, converter);
  g_autofree guint8 *data = g_try_malloc (member->size + 1);
  gsize n_read = 0;

  /* One byte more than expected, to detect an entry that is too long */
  if (data == NULL ||
      !g_input_stream_read_all (stream, data, member->size + 1, &n_read, NULL, error) ||
      n_read != member->size)
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&data), n_read);
}

/* Returns the bytes of an entry. Returns NULL without an error if the entry is damaged. */
static GBytes *
unpack (const guint8 *data, gsize size, const Member *member, GError **error)
{
  const guint8 *packed = find_packed (data, size, member);
  g_autoptr (GBytes) bytes = NULL;

  if (packed == NULL)
    return NULL;
  if (member->method == STORED && member->packed == member->size)
    bytes = g_bytes_new (packed, member->size);
  else if (member->method == DEFLATED && member->size / MAX_RATIO <= member->packed)
    bytes = inflate (packed, member, error);
  if (bytes == NULL ||
      get_checksum (g_bytes_get_data (bytes, NULL), member->size) != member->checksum)
    return NULL;
  return g_steal_pointer (&bytes);
}

static void
clear_entry (gpointer data)
{
  CleaveNpzEntry *entry = data;

  g_free (entry->name);
  g_clear_pointer (&entry->tensor, cleave_tensor_unref);
}

static gboolean
add_entry (GArray *entries, const guint8 *data, gsize size, const Member *member, GError **error)
{
  g_autofree char *raw = g_strndup ((const char *) member->name, member->name_length);
  g_autofree char *name = g_utf8_make_valid (raw, -1);
  g_autoptr (GBytes) bytes = NULL;
  CleaveNpzEntry entry;

  if (member->packed == G_MAXUINT32 || member->size == G_MAXUINT32)
    return cleave_argument_fail (error, "entry '%s' takes more than 4 GiB", name);
  bytes = unpack (data, size, member, error);
  if (bytes == NULL && error != NULL && *error != NULL)
    g_prefix_error (error, "entry '%s': ", name);
  else if (bytes == NULL)
    cleave_argument_fail (error, "entry '%s' is broken", name);
  if (bytes == NULL)
    return FALSE;
  entry.tensor = cleave_npy_parse (bytes, error);
  if (entry.tensor == NULL)
    {
      g_prefix_error (error, "entry '%s': ", name);
      return FALSE;
    }
  if (g_str_has_suffix (name, ".npy"))
    name[strlen (name) - strlen (".npy")] = '\0';
  entry.name = g_steal_pointer (&name);
  g_array_append_val (entries, entry);
  return TRUE;
}

GArray *
cleave_npz_parse (GBytes *bytes, GError **error)
{
  gsize size, at, end;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const guint8 *last = find_end (data, size);
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (CleaveNpzEntry));
  guint n_members = last == NULL ? 0 : read_number (last + 10, 2);

  g_array_set_clear_func (entries, clear_entry);
  at = last == NULL ? 0 : read_number (last + 16, 4);
  end = last == NULL ? 0 : (gsize) (last - data);
  for (guint i = 0; i < n_members; i++)
    {
      Member member;
      gsize length = at > end ? 0 : read_member (data + at, end - at, &member);

      if (length == 0)
        {
          last = NULL;
          break;
        }
      if (!add_entry (entries, data, size, &member, error))
        return NULL;
      at += length;
    }
  if (last == NULL)
    {
      cleave_argument_fail (error, "not a .npz file");
      return NULL;
    }
  return g_steal_pointer (&entries);
}

GArray *
cleave_npz_load (const char *path, GError **error)
{
  g_autofree char *data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GArray *entries;
  gsize size;

  if (!cleave_read_file (path, &data, &size, error))
    return NULL;
  bytes = g_bytes_new_take (g_steal_pointer (&data), size);
  entries = cleave_npz_parse (bytes, error);
  if (entries == NULL)
    g_prefix_error (error, "'%s': ", path);
  return entries;
}
