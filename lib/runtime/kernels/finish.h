/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts floats to bytes: results of pooling (pool.c) and of quantizing (convert-lines.h) are
 * computed in float and stored as bytes. */

#include "upcast.h"

/* Rounds n floats to bytes with scale 1 and zero point 0. Saturates floats outside the range,
 * infinities included. */
static inline void
cleave_finish_plain_byte (gboolean is_signed, const float *from, guint8 *y, gint64 step, gint64 n)
{
  const gint32 least = is_signed ? G_MININT8 : 0;

  for (gint64 j = 0; j < n; j++)
    y[j * step] = (guint8) cleave_quantize_byte (from[j], 0, least, least + G_MAXUINT8);
}
