/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads tables, vectors, strings and numbers of a FlatBuffer, and checks every offset (flat.h). */

#include "flat.h"

#include <string.h>

#include "../ir/error.h"

/* Returns the signed little-endian integer of `size` bytes at `at`. */
static gint64
load (const guint8 *at, gsize size)
{
  guint64 value = 0;
  guint unused = (guint) (64 - 8 * size);

  for (gsize i = 0; i < size; i++)
    value |= (guint64) at[i] << (8 * i);
  return (gint64) (value << unused) >> unused;
}

static guint32
load_u32 (const CleaveFlat *flat, gsize at)
{
  return (guint32) load (flat->data + at, 4);
}

static guint16
load_u16 (const CleaveFlat *flat, gsize at)
{
  return (guint16) load (flat->data + at, 2);
}

/* Subtracts `n_bytes` from the number of bytes that the reader may still visit. Fails if fewer are
 * left. */
static gboolean
spend (CleaveFlat *flat, gsize n_bytes, GError **error)
{
  if (flat->budget < n_bytes)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the file lists the same tables or vectors too many times");
  flat->budget -= n_bytes;
  return TRUE;
}

/* Checks that `size` bytes at position `at` are inside the file, and that the position is a
 * multiple of `alignment`. Sets the error if not. */
static gboolean
check (const CleaveFlat *flat, guint64 at, guint64 size, gsize alignment, GError **error)
{
  if (at % alignment != 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the offset %" G_GUINT64_FORMAT " is not a multiple of %zu", at, alignment);
  if (at > flat->n_bytes || size > flat->n_bytes - at)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "%" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT
                        " are beyond the file of %zu bytes",
                        size, at, flat->n_bytes);
  return TRUE;
}

void
cleave_flat_init (CleaveFlat *flat, const guint8 *data, gsize n_bytes)
{
  *flat = (CleaveFlat){ .data = data, .n_bytes = n_bytes, .budget = 4 * n_bytes };
}

/* Checks the table at position `at` and its vtable, and makes `table` refer to it. */
static gboolean
open_table (CleaveFlat *flat, guint64 at, CleaveFlatTable *table, GError **error)
{
  guint16 vtable_size, table_size;
  gint64 vtable;

  if (!check (flat, at, 4, 4, error) || !spend (flat, 4, error))
    return FALSE;
  vtable = (gint64) at - load (flat->data + at, 4);
  if (vtable < 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the table at offset %" G_GUINT64_FORMAT " has its vtable before the file",
                        at);
  if (!check (flat, (guint64) vtable, 4, 2, error))
    return FALSE;
  vtable_size = load_u16 (flat, (gsize) vtable);
  table_size = load_u16 (flat, (gsize) vtable + 2);
  if (vtable_size < 4 || vtable_size % 2 != 0 || table_size < 4)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the vtable at offset %" G_GINT64_FORMAT " has %u bytes, its table %u",
                        vtable, vtable_size, table_size);
  if (!check (flat, (guint64) vtable, vtable_size, 2, error) ||
      !check (flat, at, table_size, 4, error))
    return FALSE;
  *table = (CleaveFlatTable){ .flat = flat,
                              .at = (guint32) at,
                              .n_bytes = table_size,
                              .vtable = (guint32) vtable,
                              .n_fields = (vtable_size - 4u) / 2u };
  return TRUE;
}

gboolean
cleave_flat_root (CleaveFlat *flat, CleaveFlatTable *root, GError **error)
{
  return check (flat, 0, 8, 1, error) && open_table (flat, load_u32 (flat, 0), root, error);
}

/* Sets `at` to the position of a field of `size` bytes. Sets `at` to 0 if the table lacks the
 * field. */
static gboolean
find_field (const CleaveFlatTable *table, guint field, gsize size, guint32 *at, GError **error)
{
  guint16 offset;

  *at = 0;
  if (table->flat == NULL || field >= table->n_fields)
    return TRUE;
  offset = load_u16 (table->flat, table->vtable + 4 + 2 * field);
  if (offset == 0)
    return TRUE;
  if (offset < 4 || offset + size > table->n_bytes)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "field %u is at byte %u of a table of %u bytes",
                        field, offset, table->n_bytes);
  *at = table->at + offset;
  return *at % size == 0 || check (table->flat, *at, size, size, error);
}

/* Sets `at` to the position to which the offset in a field points. Sets `at` to 0 if the table
 * lacks the field. */
static gboolean
follow (const CleaveFlatTable *table, guint field, guint64 *at, GError **error)
{
  guint32 from;

  if (!find_field (table, field, 4, &from, error))
    return FALSE;
  *at = from == 0 ? 0 : (guint64) from + load_u32 (table->flat, from);
  return TRUE;
}

gboolean
cleave_flat_get_table (const CleaveFlatTable *table,
                       guint field,
                       CleaveFlatTable *found,
                       GError **error)
{
  guint64 at;

  *found = (CleaveFlatTable){ 0 };
  if (!follow (table, field, &at, error))
    return FALSE;
  return at == 0 || open_table (table->flat, at, found, error);
}

gboolean
cleave_flat_get_vector (
    const CleaveFlatTable *table, guint field, gsize size, CleaveFlatVector *found, GError **error)
{
  guint32 n;
  guint64 at;

  *found = (CleaveFlatVector){ 0 };
  if (!follow (table, field, &at, error))
    return FALSE;
  if (at == 0)
    return TRUE;
  if (!check (table->flat, at, 4, 4, error))
    return FALSE;
  n = load_u32 (table->flat, (gsize) at);
  if (!check (table->flat, at + 4, (guint64) n * size, size, error) ||
      !spend (table->flat, size == 1 ? 4 : n * size, error))
    return FALSE;
  *found = (CleaveFlatVector){ table->flat->data + at + 4, n };
  return TRUE;
}

gboolean
cleave_flat_get_item (CleaveFlat *flat,
                      const CleaveFlatVector *tables,
                      guint index,
                      CleaveFlatTable *found,
                      GError **error)
{
  const guint8 *item = tables->items + 4 * (gsize) index;

  return open_table (flat, (guint64) (item - flat->data) + (guint32) load (item, 4), found, error);
}

gboolean
cleave_flat_get_integer (const CleaveFlatTable *table,
                         guint field,
                         gsize size,
                         gint64 fallback,
                         gint64 *value,
                         GError **error)
{
  guint32 at;

  if (!find_field (table, field, size, &at, error))
    return FALSE;
  *value = at == 0 ? fallback : load (table->flat->data + at, size);
  return TRUE;
}

gboolean
cleave_flat_get_float (
    const CleaveFlatTable *table, guint field, float fallback, float *value, GError **error)
{
  gint64 bits = 0;
  guint32 at;

  *value = fallback;
  if (!find_field (table, field, 4, &at, error))
    return FALSE;
  if (at == 0)
    return TRUE;
  bits = load (table->flat->data + at, 4);
  memcpy (value, &(gint32){ (gint32) bits }, 4);
  return TRUE;
}

gboolean
cleave_flat_dup_string (const CleaveFlatTable *table, guint field, char **value, GError **error)
{
  CleaveFlatVector bytes;

  *value = NULL;
  if (!cleave_flat_get_vector (table, field, 1, &bytes, error))
    return FALSE;
  if (bytes.items == NULL)
    return TRUE;
  if (!spend (table->flat, bytes.n, error))
    return FALSE;
  *value = g_utf8_make_valid ((const char *) bytes.items, (gssize) bytes.n);
  return TRUE;
}

gint64
cleave_flat_integer (const CleaveFlatVector *vector, gsize size, guint index)
{
  return load (vector->items + size * index, size);
}

float
cleave_flat_float (const CleaveFlatVector *vector, guint index)
{
  gint32 bits = (gint32) load (vector->items + 4 * (gsize) index, 4);
  float value;

  memcpy (&value, &bits, 4);
  return value;
}
