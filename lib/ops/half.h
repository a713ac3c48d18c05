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
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

/* a if `choice`, else b: both are there, nothing branches. */
static inline guint32
cleave_bits_select (gboolean choice, guint32 a, guint32 b)
{
  guint32 mask = -(guint32) choice;

  return (a & mask) | (b & ~mask);
}

/* All cases are there and one is selected, so that compilers do several at once.  What is smaller
 * than 2^-14 is rounded by adding 0.5, which leaves room for as many bits as a half has. */
static inline guint16
cleave_half_from_float (float value)
{
  guint32 bits = cleave_float_bits (value), sign = bits >> 16 & 0x8000;
  gint32 size = (gint32) (bits & 0x7fffffff);
  guint32 normal = cleave_bits_round ((guint32) size - 0x38000000, 13);
  guint32 small =
      cleave_float_bits (cleave_float_from_bits ((guint32) size) + 0.5f) - cleave_float_bits (0.5f);
  guint32 half = cleave_bits_select (size < 0x38800000, small, normal);

  half = cleave_bits_select (size >= 0x477ff000, 0x7c00, half); /* 65520 and more */
  half = cleave_bits_select (size > 0x7f800000, 0x7e00 | ((guint32) size >> 13 & 0x3ff),
                             half); /* NaN: made quiet */
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
  guint32 bits = cleave_float_bits (value), quiet = bits >> 16 | 0x40;
  gboolean is_nan = (gint32) (bits & 0x7fffffff) > 0x7f800000;

  return (guint16) cleave_bits_select (is_nan, quiet, cleave_bits_round (bits, 16));
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
