/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Floats of some dimensions of a view in row-major order, side by side. */

#include "../../ops/lines.h"

#include <string.h>

static inline gboolean
cleave_flat_is_dense (const CleaveLines *lines)
{
  return lines->rank == 0 && (lines->step[0] == 1 || lines->length == 1);
}

/* Where they are; they are put into `to` unless they lie so. */
static inline const float *
cleave_flat_read (CleaveLines lines, const float *from, float *to)
{
  float *at = to;

  if (cleave_flat_is_dense (&lines))
    return from;
  do
    for (gint64 i = 0; i < lines.length; i++)
      *at++ = from[lines.offset[0] + i * lines.step[0]];
  while (cleave_lines_next (&lines));
  return to;
}

static inline void
cleave_flat_write (CleaveLines lines, const float *from, float *to)
{
  do
    for (gint64 i = 0; i < lines.length; i++)
      to[lines.offset[0] + i * lines.step[0]] = *from++;
  while (cleave_lines_next (&lines));
}
