/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "move.h"

#include <math.h>
#include <string.h>

void
cleave_move_fill (const CleaveView *view, gconstpointer element)
{
  CleaveView from = { .data = (gpointer) element, .type = view->type };

  cleave_view_copy (view, &from);
}

static gint64
clamp_signed (double value, gint n_bits)
{
  double limit = ldexp (1, n_bits - 1);
  gint64 most = (gint64) (G_MAXUINT64 >> (65 - n_bits));

  if (isnan (value))
    return 0;
  if (value >= limit)
    return most;
  return value <= -limit ? -most - 1 : (gint64) value;
}

static guint64
clamp_unsigned (double value, gint n_bits)
{
  if (!(value > 0))
    return 0;
  return value >= ldexp (1, n_bits) ? G_MAXUINT64 >> (64 - n_bits) : (guint64) value;
}

void
cleave_move_from_double (CleaveElement element, double value, guint64 *bytes)
{
  gint n_bits = 8 * (gint) cleave_element_size (element);
  guint64 bits;

  if (cleave_element_is_float (element))
    {
      cleave_real_store (element, bytes, value);
      return;
    }
  if (element == CLEAVE_BOOL)
    bits = value != 0;
  else if (element >= CLEAVE_INT8 && element <= CLEAVE_INT64)
    bits = (guint64) clamp_signed (value, n_bits);
  else
    bits = clamp_unsigned (value, n_bits);
  /* The low bytes come first, as on every machine that this library is built for. */
  G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  memcpy (bytes, &bits, sizeof bits);
}
