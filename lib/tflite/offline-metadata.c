/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds a memory plan to a TensorFlow Lite file, as metadata. Offsets of a FlatBuffer point forward
 * only. So a new root table goes before the contents of the old file, and points into them:
 *
 *   [root][TFL3][new root table, lists of buffers and metadata, the plan][old file]
 *
 * Offsets inside the old file are relative to their own position, so they need no change. */

#include "memory-plan.h"

#include <string.h>

#include "../ir/error.h"

/* Indices of the fields of the root table. */
enum { VERSION, CODES, SUBGRAPHS, DESCRIPTION, BUFFERS, METADATA_BUFFER, METADATA, SIGNATURES };
enum { N_FIELDS = SIGNATURES + 1 };
enum { BUFFER_OFFSET = 1 };
enum { METADATA_NAME, METADATA_INDEX };

#define NAME "OfflineMemoryAllocation"
#define PLAN_VERSION 1
#define ALIGNMENT 16 /* alignment, in bytes, of the old file and the plan inside the new file */

/* The old file, and the new bytes that go before it. */
typedef struct
{
  CleaveFlat flat;
  CleaveFlatTable root;
  CleaveFlatVector fields[N_FIELDS], buffers, metadata;
  GArray *kept; /* guint32: the metadata tables that the new file keeps, each as its position in the
                 * old file */
  GByteArray *head;
  guint32 n_head; /* number of bytes that the new file has before the old file */
} File;

static guint32
append (GByteArray *head, gconstpointer data, gsize n_bytes, gsize alignment)
{
  static const guint8 zeros[ALIGNMENT];
  guint32 at;

  g_byte_array_append (head, zeros, (guint) (-(gsize) head->len % alignment));
  at = head->len;
  g_byte_array_append (head, data, (guint) n_bytes);
  return at;
}

static void
set_32 (GByteArray *head, guint32 at, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (head->data + at, &value, sizeof (value));
}

/* Sets the offset at position `at` so that it points to `target`, a later position. */
static void
point (GByteArray *head, guint32 at, guint32 target)
{
  set_32 (head, at, target - at);
}

/* Appends `n` numbers of 32 bits, whose values the caller sets later. Returns the position of the
 * first number. */
static guint32
append_words (GByteArray *head, guint32 n)
{
  g_autofree guint32 *zeros = g_new0 (guint32, n);

  return append (head, zeros, n * sizeof (guint32), sizeof (guint32));
}

/* Appends a table of `n` fields of 32 bits, whose values the caller sets later. If bit i of
 * `absent` is set, the table lacks field i. Returns the position of the table; field i is 4 + 4 * i
 * bytes after it. */
static guint32
append_table (GByteArray *head, guint n, guint absent)
{
  guint16 vtable[2 + N_FIELDS] = { (guint16) (4 + 2 * n), (guint16) (4 + 4 * n) };
  guint32 at, table;

  for (guint i = 0; i < n; i++)
    vtable[2 + i] = (absent >> i & 1) != 0 ? 0 : (guint16) (4 + 4 * i);
  for (guint i = 0; i < 2 + n; i++)
    vtable[i] = GUINT16_TO_LE (vtable[i]);
  at = append (head, vtable, (2 + n) * sizeof (guint16), 4);
  table = append_words (head, 1 + n);
  set_32 (head, table, table - at);
  return table;
}

/* Appends a vector of `n` numbers of 32 bits, whose values the caller sets later. Returns the
 * position of the vector's length. */
static guint32
append_vector (GByteArray *head, guint32 n)
{
  guint32 at = append_words (head, n + 1);

  set_32 (head, at, n);
  return at;
}

static guint32
position (const File *file, const guint8 *at)
{
  return (guint32) (at - file->flat.data);
}

/* Finds the vectors of the old file to which its root table refers. */
static gboolean
read_root (File *file, GError **error)
{
  if (!cleave_flat_root (&file->flat, &file->root, error))
    return FALSE;
  for (guint i = CODES; i < N_FIELDS; i++)
    if (!cleave_flat_get_vector (&file->root, i, i == DESCRIPTION ? 1 : 4, &file->fields[i], error))
      return FALSE;
  file->buffers = file->fields[BUFFERS];
  file->metadata = file->fields[METADATA];
  return TRUE;
}

/* Fails if the data of a buffer lies after the FlatBuffer. Such data has an offset from the begin
 * of the file, and this offset would become wrong. */
static gboolean
check_buffers (File *file, GError **error)
{
  for (guint i = 0; i < file->buffers.n; i++)
    {
      CleaveFlatTable table;
      gint64 offset;

      if (!cleave_flat_get_item (&file->flat, &file->buffers, i, &table, error) ||
          !cleave_flat_get_integer (&table, BUFFER_OFFSET, 8, 0, &offset, error))
        return FALSE;
      if (offset > 1)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "buffer %u is behind the FlatBuffer, so the file cannot be extended",
                            i);
    }
  return TRUE;
}

/* Lists the metadata of the old file. Leaves out an older memory plan. */
static gboolean
list_metadata (File *file, GError **error)
{
  for (guint i = 0; i < file->metadata.n; i++)
    {
      g_autofree char *name = NULL;
      CleaveFlatTable table;

      if (!cleave_flat_get_item (&file->flat, &file->metadata, i, &table, error) ||
          !cleave_flat_dup_string (&table, METADATA_NAME, &name, error))
        return FALSE;
      if (g_strcmp0 (name, NAME) != 0)
        g_array_append_val (file->kept, table.at);
    }
  return TRUE;
}

/* Appends a buffer table that holds the memory plan. Returns the position of the table. */
static guint32
append_plan (GByteArray *head, const gint32 *offsets, guint n)
{
  guint32 table = append_table (head, 1, 0), at;
  gint32 first[3] = { GINT32_TO_LE (PLAN_VERSION), 0, (gint32) GUINT32_TO_LE (n) };
  guint32 n_bytes = (guint32) (sizeof (first) + n * sizeof (gint32));

  append (head, "", 0, ALIGNMENT);
  append_words (head, ALIGNMENT / 4 - 1); /* padding before the length of the plan, so that the plan
                                           * itself is aligned */
  at = append_vector (head, 0);
  set_32 (head, at, n_bytes);
  append (head, first, sizeof (first), 4);
  for (guint i = 0; i < n; i++)
    append (head, &(gint32){ GINT32_TO_LE (offsets[i]) }, 4, 4);
  point (head, table + 4, at);
  return table;
}

/* Appends a metadata table that names the memory plan. `index` is the index of the plan in the list
 * of buffers of the file. Returns the position of the metadata table. */
static guint32
append_entry (GByteArray *head, guint32 index)
{
  guint32 table = append_table (head, 2, 0), at;

  at = append_vector (head, 0);
  set_32 (head, at, (guint32) strlen (NAME));
  append (head, NAME, strlen (NAME) + 1, 1);
  point (head, table + 4 + 4 * METADATA_NAME, at);
  set_32 (head, table + 4 + 4 * METADATA_INDEX, index);
  return table;
}

/* Positions of the tables and vectors in the new bytes. */
typedef struct
{
  guint32 root, buffers, metadata, plan, entry;
} Parts;

static Parts
append_parts (File *file, const gint32 *offsets, guint n_offsets)
{
  GByteArray *head = file->head;
  guint absent = 0;
  Parts p;

  for (guint i = CODES; i < N_FIELDS; i++)
    if (i != METADATA && file->fields[i].items == NULL)
      absent |= 1u << i;
  append (head, "\0\0\0\0TFL3", 8, 1);
  p.root = append_table (head, N_FIELDS, absent);
  p.buffers = append_vector (head, file->buffers.n + 1);
  p.metadata = append_vector (head, file->kept->len + 1);
  p.plan = append_plan (head, offsets, n_offsets);
  p.entry = append_entry (head, file->buffers.n);
  append (head, "", 0, ALIGNMENT);
  file->n_head = head->len;
  return p;
}

/* Sets the offsets in the new tables and vectors. These offsets point into the old file, or to
 * other new tables and vectors. */
static void
connect (File *file, const Parts *p)
{
  GByteArray *head = file->head;

  set_32 (head, 0, p->root);
  set_32 (head, p->root + 4, 3);
  for (guint i = CODES; i < N_FIELDS; i++)
    if (file->fields[i].items != NULL && i != BUFFERS && i != METADATA)
      point (head, p->root + 4 + 4 * i, file->n_head + position (file, file->fields[i].items) - 4);
  point (head, p->root + 4 + 4 * BUFFERS, p->buffers);
  point (head, p->root + 4 + 4 * METADATA, p->metadata);
  for (guint i = 0; i < file->buffers.n; i++)
    {
      guint32 at = position (file, file->buffers.items) + 4 * i;

      point (head, p->buffers + 4 + 4 * i,
             file->n_head + at + (guint32) cleave_flat_integer (&file->buffers, 4, i));
    }
  point (head, p->buffers + 4 + 4 * file->buffers.n, p->plan);
  for (guint i = 0; i < file->kept->len; i++)
    point (head, p->metadata + 4 + 4 * i, file->n_head + g_array_index (file->kept, guint32, i));
  point (head, p->metadata + 4 + 4 * file->kept->len, p->entry);
}

GBytes *
cleave_tflite_write_offsets (GBytes *bytes, const gint32 *offsets, guint n_offsets, GError **error)
{
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (guint32));
  GByteArray *head;
  File file = { .kept = kept };
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (bytes, &n_bytes);
  Parts parts;

  cleave_flat_init (&file.flat, data, n_bytes);
  if (!read_root (&file, error) || !check_buffers (&file, error) || !list_metadata (&file, error))
    return NULL;
  if (n_bytes > G_MAXINT32 / 2)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the file is larger than 1 GiB");
  head = g_byte_array_new ();
  file.head = head;
  parts = append_parts (&file, offsets, n_offsets);
  connect (&file, &parts);
  g_byte_array_append (head, data, (guint) n_bytes);
  return g_byte_array_free_to_bytes (head);
}
