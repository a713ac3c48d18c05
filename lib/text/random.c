/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fills tensors with random numbers that are the same on every machine. */

#include <cleave/cleave-text.h>

#include <string.h>

static guint64
hash_bytes (guint64 hash, const char *text, gsize n)
{
  for (gsize i = 0; i < n; i++)
    hash = (hash ^ (guint8) text[i]) * 0x100000001b3u;
  return hash;
}

static guint64
start (const CleaveTensor *tensor, const char *name, guint64 seed)
{
  g_autofree char *type = cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));
  guint64 hash = hash_bytes (0xcbf29ce484222325u, name, strlen (name) + 1);

  return seed ^ hash_bytes (hash, type, strlen (type));
}

static guint64
next (guint64 *state)
{
  guint64 z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Advances the generator, and returns a number in [-1, 1) made of the highest `bits` bits of the
 * next random number. A float type with a significand of `bits` bits represents the result
 * exactly. */
static double
draw (guint64 *state, guint bits)
{
  return (double) (next (state) >> (64 - bits)) / (double) (1u << (bits - 1)) - 1;
}

/* Converts a result of draw() to IEEE half precision. The conversion is exact: the float has at
 * most 11 significant bits and no small exponent. */
static guint16
to_half (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) == 0)
    return 0;
  return (guint16) ((bits >> 16 & 0x8000) | ((((bits >> 23) & 0xff) - 112) << 10) |
                    (bits >> 13 & 0x3ff));
}

static guint16
to_bfloat (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return (guint16) (bits >> 16);
}

static void
fill_whole (guint8 *data, gsize size, guint64 *state)
{
  guint64 number = next (state);

  memset (data, 0, size);
  data[0] = (guint8) (size == 1 ? number >> 56 : number >> 63);
}

/**
 * cleave_tensor_fill_random:
 * @tensor: a dense tensor
 * @name: the name of the tensor
 * @seed: a number
 *
 * Fills a tensor with numbers that depend only on the seed, the name, and the tensor's type and
 * shape. The numbers are the same on every machine.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014). The generator starts from the seed, xored with the 64-bit FNV-1a hash of the name, a zero
 * byte, and the type as text (`float32 1x3x8x8`). Each element takes one number and uses its
 * highest bits. Floats are uniform in [-1, 1), and 8-bit integers have any value. Other integers
 * and booleans are 0 or 1, which is a valid index into any dimension of at least two elements.
 *
 * Since: 0.1
 */
void
cleave_tensor_fill_random (CleaveTensor *tensor, const char *name, guint64 seed)
{
  g_return_if_fail (tensor != NULL && name != NULL && cleave_tensor_is_dense (tensor));

  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gint64 n = cleave_shape_n_elements (&type->shape);
  gsize size = cleave_element_size (type->element);
  gpointer data = cleave_tensor_get_mutable_data (tensor);
  guint64 state = start (tensor, name, seed);

  for (gint64 i = 0; i < n; i++)
    if (type->element == CLEAVE_FLOAT32)
      ((float *) data)[i] = (float) draw (&state, 24);
    else if (type->element == CLEAVE_FLOAT64)
      ((double *) data)[i] = draw (&state, 24);
    else if (type->element == CLEAVE_FLOAT16)
      ((guint16 *) data)[i] = to_half ((float) draw (&state, 11));
    else if (type->element == CLEAVE_BFLOAT16)
      ((guint16 *) data)[i] = to_bfloat ((float) draw (&state, 8));
    else if (type->element == CLEAVE_BOOL)
      ((guint8 *) data)[i] = (guint8) (next (&state) >> 63);
    else
      fill_whole ((guint8 *) data + (gsize) i * size, size, &state);
}
