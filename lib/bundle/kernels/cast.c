/* SPDX-License-Identifier: 0BSD */

/* Conversions between types. A float is truncated and clamped to the range of an integer type. An
 * integer keeps its low bits. */

#include "elements.h"

/* Converts a float to an integer type: truncates it, and clamps it to the range of the type. */
static int64_t
cast_float (float a, int32_t type)
{
  const float limit = type == CLEAVE_S8    ? 128.0f
                      : type == CLEAVE_U8  ? 256.0f
                      : type == CLEAVE_S32 ? 2147483648.0f
                                           : 9223372036854775808.0f;
  const int64_t most = type == CLEAVE_S64 ? INT64_MAX : (int64_t) limit - 1;

  if (cleave_is_nan (a))
    return 0;
  if (a >= limit)
    return most;
  if (type == CLEAVE_U8)
    return a < 0 ? 0 : (int64_t) a;
  return a <= -limit ? -most - 1 : (int64_t) a;
}

static void
cast_element (const CleaveCast *p, const unsigned char *x, unsigned char *y)
{
  const int32_t is_float = p->from == CLEAVE_F32;
  const float real = is_float ? element_load_float (x) : 0;
  int64_t value = is_float ? 0 : element_load (x, p->from);
  float rounded;

  if (p->to == CLEAVE_F32)
    {
      rounded = is_float ? real : (float) value;
      memcpy (y, &rounded, sizeof rounded);
      return;
    }
  if (p->to == CLEAVE_TRUTH)
    value = is_float ? real < 0 || real > 0 || cleave_is_nan (real) : value != 0;
  else if (is_float)
    value = cast_float (real, p->to);
  memcpy (y, &value, (size_t) element_size (p->to));
}

void
cleave_cast (const CleaveCall *call)
{
  const CleaveCast *p = call->params;
  const int32_t from = element_size (p->from), to = element_size (p->to);
  const unsigned char *at = (const unsigned char *) cleave_pixels (call, p->channels * from);
  unsigned char *y = call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    {
      cast_element (p, at, y);
      at += from;
      y += to;
    }
}
