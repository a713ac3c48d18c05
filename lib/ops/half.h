/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The 16-bit floats as bits: IEEE 754 binary16, and bfloat16, the upper half of a float.
 * Conversions round to nearest, ties to even; a NaN stays a NaN. */

#include <glib.h>
#include <string.h>

static inline guint32
cleave_float_bits (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
cleave_float_from_bits (guint32 bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* `bits` without its last `shift` bits, rounded. */
static inline guint32
cleave_bits_round (guint32 bits, guint shift)
{
  guint32 kept = bits >> shift;
  guint32 rest = bits & ((1u << shift) - 1), tie = 1u << (shift - 1);

  return kept + (rest > tie || (rest == tie && (kept & 1) != 0));
}

static inline guint16
cleave_half_from_float (float value)
{
  guint32 bits = cleave_float_bits (value);
  guint32 sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff, half;

  if (size > 0x7f800000) /* NaN: made quiet */
    half = 0x7e00 | (size >> 13 & 0x3ff);
  else if (size >= 0x477ff000) /* 65520 and more */
    half = 0x7c00;
  else if (size >= 0x38800000) /* 2^-14 and more: normal */
    half = cleave_bits_round (size - 0x38000000, 13);
  else if (size > 0x33000000) /* more than 2^-25 */
    half = cleave_bits_round ((size & 0x7fffff) | 0x800000, 126 - (size >> 23));
  else
    half = 0;
  return (guint16) (sign | half);
}

/* A half is a float with fewer bits, once 2^112 makes up for the bias of its exponent. */
static inline float
cleave_half_to_float (guint16 half)
{
  float value = cleave_float_from_bits ((guint32) (half & 0x7fff) << 13) * 0x1p112f;
  guint32 bits = cleave_float_bits (value);

  bits = bits >= 0x47800000 ? bits | 0x7f800000 : bits; /* infinities and NaNs */
  return cleave_float_from_bits (bits | (guint32) (half & 0x8000) << 16);
}

static inline guint16
cleave_bfloat16_from_float (float value)
{
  guint32 bits = cleave_float_bits (value);

  if ((bits & 0x7fffffff) > 0x7f800000) /* NaN: made quiet */
    return (guint16) (bits >> 16 | 0x40);
  return (guint16) cleave_bits_round (bits, 16);
}

static inline float
cleave_bfloat16_to_float (guint16 bfloat)
{
  return cleave_float_from_bits ((guint32) bfloat << 16);
}

/* A double cut off to a float whose last bit says whether something was lost, so that rounding the
 * float once more gives what rounding the double at once would. */
static inline float
cleave_float_round_to_odd (double value)
{
  float nearest = (float) value;
  guint32 bits = cleave_float_bits (nearest);

  if ((double) nearest == value || value != value)
    return nearest;
  if ((value < 0 ? -(double) nearest : (double) nearest) > (value < 0 ? -value : value))
    bits--;
  return cleave_float_from_bits (bits | 1);
}

static inline guint16
cleave_half_from_double (double value)
{
  return cleave_half_from_float (cleave_float_round_to_odd (value));
}

static inline guint16
cleave_bfloat16_from_double (double value)
{
  return cleave_bfloat16_from_float (cleave_float_round_to_odd (value));
}
