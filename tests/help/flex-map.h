/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes the options of a custom operator of TensorFlow Lite: a map of numbers in the format
 * FlexBuffers. The suite tests/tflite/detections.c and the corpus of fuzz-tflite.c put the bytes
 * into files, which the import reads. */

#include <glib.h>
#include <string.h>

/* A number of the map. The last entry has no key. */
typedef struct
{
  const char *key;
  double value;
  char kind; /* 'i': an integer, 'b': a boolean, 'f': a float, '*': a float that the map points to,
              * 's': a text instead of a number */
} FlexEntry;

/* Appends the `width` lowest bytes of a number. */
static inline void
flex_append (GByteArray *bytes, guint64 number, guint width)
{
  for (guint i = 0; i < width; i++)
    g_byte_array_append (bytes, &(guint8){ (guint8) (number >> (8 * i)) }, 1);
}

/* Appends an offset of FlexBuffers: the distance from the end of `bytes` back to the position
 * `to`. */
static inline void
flex_append_offset (GByteArray *bytes, guint to, guint width)
{
  flex_append (bytes, bytes->len - to, width);
}

static inline guint64
flex_float_bits (double value, guint width)
{
  float narrow = (float) value;
  guint32 narrow_bits;
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  memcpy (&narrow_bits, &narrow, sizeof (narrow_bits));
  return width == 4 ? narrow_bits : bits;
}

/* Returns a map whose numbers and offsets have `width` bytes, 4 or 8. */
static inline GBytes *
flex_map_new (const FlexEntry *entries, guint width)
{
  const guint8 types[256] = { ['i'] = 1, ['f'] = 3, ['s'] = 5, ['*'] = 8, ['b'] = 26 };
  guint8 packed_width = width == 4 ? 2 : 3;
  GByteArray *bytes = g_byte_array_new ();
  guint keys[16], floats[16], n = 0, at;

  for (; entries[n].key != NULL; n++)
    {
      keys[n] = bytes->len;
      g_byte_array_append (bytes, (const guint8 *) entries[n].key,
                           (guint) strlen (entries[n].key) + 1);
      floats[n] = bytes->len;
      if (entries[n].kind == '*')
        flex_append (bytes, flex_float_bits (entries[n].value, width), width);
    }
  flex_append (bytes, n, width);
  at = bytes->len;
  for (guint i = 0; i < n; i++)
    flex_append_offset (bytes, keys[i], width);
  flex_append_offset (bytes, at, width);
  flex_append (bytes, width, width);
  flex_append (bytes, n, width);
  at = bytes->len;
  for (guint i = 0; i < n; i++)
    if (entries[i].kind == '*')
      flex_append_offset (bytes, floats[i], width);
    else if (entries[i].kind == 'f')
      flex_append (bytes, flex_float_bits (entries[i].value, width), width);
    else
      flex_append (bytes, (guint64) (gint64) entries[i].value, width);
  for (guint i = 0; i < n; i++)
    flex_append (bytes, (guint64) types[(guint8) entries[i].kind] << 2 | packed_width, 1);
  flex_append_offset (bytes, at, width);
  flex_append (bytes, 9 << 2 | packed_width, 1);
  flex_append (bytes, width, 1);
  return g_byte_array_free_to_bytes (bytes);
}
