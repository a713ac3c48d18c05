/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds a number by its key in a map in the format FlexBuffers (flex.h). */

#include "flex.h"

#include <string.h>

#include "../ir/error.h"

/* Kinds of values in the format. For an indirect number, the map holds an offset of the number; the
 * kind of such a number is the kind of a direct number plus INDIRECT. */
enum { FLEX_NULL, FLEX_INT, FLEX_UINT, FLEX_FLOAT, FLEX_MAP = 9, FLEX_BOOL = 26 };
#define INDIRECT 5

/* The place of a number, an offset or a FlexBuffers map in the options. `at`: position of the first
 * byte. `width`: bytes of the number or the offset; for a map, bytes of each number that the map
 * stores. */
typedef struct
{
  guint64 at;
  guint64 width;
} Place;

static gboolean
refuse (GError **error, const char *problem)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "its options are no valid FlexBuffers map: %s",
                      problem);
}

static gboolean
load (const CleaveFlatVector *bytes, Place place, guint64 *value, GError **error)
{
  if (place.width != 1 && place.width != 2 && place.width != 4 && place.width != 8)
    return refuse (error, "a number has a width other than 1, 2, 4 or 8 bytes");
  if (place.at > bytes->n || place.width > bytes->n - place.at)
    return refuse (error, "a number is beyond the end");
  *value = 0;
  for (guint i = 0; i < place.width; i++)
    *value |= (guint64) bytes->items[place.at + i] << (8 * i);
  return TRUE;
}

/* Sets `to` to the position to which the offset at `place` points. */
static gboolean
follow (const CleaveFlatVector *bytes, Place place, guint64 *to, GError **error)
{
  guint64 offset = 0;

  if (!load (bytes, place, &offset, error))
    return FALSE;
  if (offset > place.at)
    return refuse (error, "an offset refers to a position before the begin");
  *to = place.at - offset;
  return TRUE;
}

static gboolean
find_map (const CleaveFlatVector *bytes, Place *map, GError **error)
{
  guint8 type, width;

  if (bytes->n < 3)
    return refuse (error, "it has fewer than 3 bytes");
  type = bytes->items[bytes->n - 2];
  width = bytes->items[bytes->n - 1];
  if (width > bytes->n - 2)
    return refuse (error, "the root is before the begin");
  if (type >> 2 != FLEX_MAP)
    return refuse (error, "the root is no map");
  map->width = 1u << (type & 3);
  return follow (bytes, (Place){ bytes->n - 2 - width, width }, &map->at, error);
}

/* Returns whether the text at position `at`, which is inside the bytes, equals `key`. */
static gboolean
is_key (const CleaveFlatVector *bytes, guint64 at, const char *key)
{
  gsize n = strlen (key) + 1;

  return n <= bytes->n - at && memcmp (bytes->items + at, key, n) == 0;
}

/* Finds the value with the key `key` in the map at the end of the options. Sets `value` to the
 * position of the value, and `type` to its type. If the map lacks the key, the type is 0 (null). */
static gboolean
find_value (const CleaveFlatVector *bytes,
            const Place *map,
            const char *key,
            Place *value,
            guint8 *type,
            GError **error)
{
  guint64 width = map->width, n = 0, keys = 0, keys_width = 0, text = 0;

  *type = FLEX_NULL;
  if (map->at < 3 * width)
    return refuse (error, "the map has no size");
  if (!load (bytes, (Place){ map->at - width, width }, &n, error) ||
      !load (bytes, (Place){ map->at - 2 * width, width }, &keys_width, error) ||
      !follow (bytes, (Place){ map->at - 3 * width, width }, &keys, error))
    return FALSE;
  if (n > (bytes->n - map->at) / (width + 1))
    return refuse (error, "the map is beyond the end");
  for (guint64 i = 0; i < n; i++)
    {
      if (!follow (bytes, (Place){ keys + i * keys_width, keys_width }, &text, error))
        return FALSE;
      if (!is_key (bytes, text, key))
        continue;
      *value = (Place){ map->at + i * width, width };
      *type = bytes->items[map->at + n * width + i];
      return TRUE;
    }
  return TRUE;
}

/* Returns a number as a double. `bits` are the bits of the number, which has `width` bytes and the
 * kind `kind`. */
static double
convert (guint64 bits, guint64 width, guint kind)
{
  guint unused = (guint) (64 - 8 * width);
  guint32 half = (guint32) bits;
  double wide;
  float narrow;

  if (kind == FLEX_INT)
    return (double) ((gint64) (bits << unused) >> unused);
  if (kind != FLEX_FLOAT)
    return (double) bits;
  memcpy (&narrow, &half, sizeof (narrow));
  memcpy (&wide, &bits, sizeof (wide));
  return width == 4 ? (double) narrow : wide;
}

gboolean
cleave_flex_get_number (const CleaveFlatVector *bytes,
                        const char *key,
                        double *value,
                        GError **error)
{
  Place map = { 0 }, place = { 0 };
  guint64 bits = 0;
  guint8 type = FLEX_NULL;
  guint kind;

  if (!find_map (bytes, &map, error) || !find_value (bytes, &map, key, &place, &type, error))
    return FALSE;
  kind = type >> 2;
  if (kind == FLEX_NULL)
    return TRUE;
  if (kind > INDIRECT && kind <= INDIRECT + FLEX_FLOAT)
    {
      kind -= INDIRECT;
      if (!follow (bytes, place, &place.at, error))
        return FALSE;
      place.width = 1u << (type & 3);
    }
  if ((kind > FLEX_FLOAT && kind != FLEX_BOOL) || (kind == FLEX_FLOAT && place.width < 4))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "option '%s' is no number", key);
  if (!load (bytes, place, &bits, error))
    return FALSE;
  *value = convert (bits, place.width, kind);
  return TRUE;
}
