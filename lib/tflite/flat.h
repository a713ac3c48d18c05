/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads FlatBuffers, the format of TensorFlow Lite files. Every offset of the file is checked
 * before it is followed. model.c reads the tables of a model with these functions.
 *
 *   table ──► [vtable offset][field 0][field 1] …
 *   vtable    [its size][size of the table][offset of field 0][offset of field 1] …
 *   vector    [number of items][item 0][item 1] …
 *
 * All numbers are little-endian and aligned to their size. A vtable offset is subtracted from the
 * position of the table; all other offsets are added to their own position. */

#include <glib.h>

typedef struct
{
  const guint8 *data;
  gsize n_bytes;
  gsize budget; /* number of bytes of tables and vectors that may still be visited */
} CleaveFlat;

typedef struct
{
  CleaveFlat *flat; /* the file; NULL: the table is absent, and with it all its fields */
  guint32 at, n_bytes;
  guint32 vtable, n_fields;
} CleaveFlatTable;

typedef struct
{
  const guint8 *items; /* first item; NULL: the file lacks the vector */
  guint32 n;
} CleaveFlatVector;

/* Begins to read a file. The tables and vectors that are visited may together have up to four times
 * the bytes of the file. So the work is linear, even if a file refers to one table many times. */
void cleave_flat_init (CleaveFlat *flat, const guint8 *data, gsize n_bytes);
/* Sets `root` to the table to which the first four bytes of the file point. */
gboolean cleave_flat_root (CleaveFlat *flat, CleaveFlatTable *root, GError **error);
/* Makes `found` refer to the table in field `field` of `table`. If the field is absent, `found` is
 * an absent table. */
gboolean cleave_flat_get_table (const CleaveFlatTable *table,
                                guint field,
                                CleaveFlatTable *found,
                                GError **error);
/* Makes `found` refer to field `field`, a vector whose items have `size` bytes. */
gboolean cleave_flat_get_vector (
    const CleaveFlatTable *table, guint field, gsize size, CleaveFlatVector *found, GError **error);
/* Makes `found` refer to table `index` of a vector of tables. */
gboolean cleave_flat_get_item (CleaveFlat *flat,
                               const CleaveFlatVector *tables,
                               guint index,
                               CleaveFlatTable *found,
                               GError **error);
/* Reads field `field`, an integer of `size` bytes (1, 2, 4 or 8), into `value`. If the field is
 * absent, sets `value` to `fallback`. */
gboolean cleave_flat_get_integer (const CleaveFlatTable *table,
                                  guint field,
                                  gsize size,
                                  gint64 fallback,
                                  gint64 *value,
                                  GError **error);
gboolean cleave_flat_get_float (
    const CleaveFlatTable *table, guint field, float fallback, float *value, GError **error);
/* Sets `value` to a copy of field `field`, a string, with invalid UTF-8 replaced. Sets `value` to
 * NULL if the field is absent. */
gboolean
cleave_flat_dup_string (const CleaveFlatTable *table, guint field, char **value, GError **error);

/* Returns item `index` of a vector whose items are integers of `size` bytes. */
gint64 cleave_flat_integer (const CleaveFlatVector *vector, gsize size, guint index);
float cleave_flat_float (const CleaveFlatVector *vector, guint index);
