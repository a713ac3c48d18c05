/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Conversions between float and the 16-bit floats: float16 (IEEE 754 binary16), and bfloat16, the
 * upper 16 bits of a float. The conversions round to nearest, ties to even; NaN gives NaN. The
 * reference kernels (reference.h) and the fast kernels (lib/runtime/kernels/upcast.h) convert
 * elements with these functions. */

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

/* Returns `bits` without the last `shift` bits, rounded to nearest, ties to even. */
static inline guint32
cleave_bits_round (guint32 bits, guint shift)
{
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

/* Returns a if `choice`, else b, without a branch. */
static inline guint32
cleave_bits_select (gboolean choice, guint32 a, guint32 b)
{
  guint32 mask = -(guint32) choice;

  return (a & mask) | (b & ~mask);
}

/* Converts a float to a float16. Computes all cases and selects one, so that compilers can
 * vectorize the function. Numbers below 2^-14 are rounded by adding 0.5: the sum has as many bits
 * after the point as a subnormal float16. */
static inline guint16
cleave_half_from_float (float value)
{
  guint32 bits = cleave_float_bits (value), sign = bits >> 16 & 0x8000;
  gint32 size = (gint32) (bits & 0x7fffffff);
  guint32 normal = cleave_bits_round ((guint32) size - 0x38000000, 13);
  guint32 small =
      cleave_float_bits (cleave_float_from_bits ((guint32) size) + 0.5f) - cleave_float_bits (0.5f);
  guint32 half = cleave_bits_select (size < 0x38800000, small, normal);

  half = cleave_bits_select (size >= 0x477ff000, 0x7c00, half); /* a float of 65520 or more becomes
                                                                 * infinity */
  half = cleave_bits_select (size > 0x7f800000, 0x7e00 | ((guint32) size >> 13 & 0x3ff),
                             half); /* a NaN becomes a quiet NaN of float16 */
  return (guint16) (sign | half);
}

/* Converts a float16 to a float: shifts the exponent and the significand to their positions in a
 * float, and multiplies by 2^112 to correct the bias of the exponent. */
static inline float
cleave_half_to_float (guint16 half)
{
  float value = cleave_float_from_bits ((guint32) (half & 0x7fff) << 13) * 0x1p112f;
  guint32 bits = cleave_float_bits (value);

  bits = bits >= 0x47800000 ? bits | 0x7f800000 : bits; /* a float16 infinity or NaN gets the
                                                         * exponent of a float infinity or NaN */
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

/* Converts a double to a float, rounding to odd: truncates the number, and sets the last bit if
 * bits were lost. If the float is then rounded to 16 bits, the result is the same as if the double
 * were rounded directly. */
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
