/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions of elementwise-math.h on several vectors at once, operation by operation, with the same
 * bits.  One is a chain of some twenty operations that each wait for the one before; of several,
 * one does not wait while the other does. */

#include "level.h"
#include "vector.h"

/* More would push each other out of the registers. */
#define CLEAVE_FUNCTION_VECTORS 2

typedef unsigned CleaveBits __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));

/* As cleave_f32_sigmoid. */
static CLEAVE_SPECIALISED void
cleave_vectors_sigmoid (CleaveVector *v, int n)
{
  const CleaveVector magic = cleave_vector_all (12582912.0f + 127.0f);
  CleaveVector a[CLEAVE_FUNCTION_VECTORS], s[CLEAVE_FUNCTION_VECTORS], r[CLEAVE_FUNCTION_VECTORS],
      u[CLEAVE_FUNCTION_VECTORS], p[CLEAVE_FUNCTION_VECTORS], q[CLEAVE_FUNCTION_VECTORS];

  CLEAVE_EACH (i, n)
    {
      a[i] = cleave_vector_at_least (-v[i], cleave_vector_all (-88.0f));
      a[i] = cleave_vector_at_most (a[i], cleave_vector_all (89.0f));
    }
  CLEAVE_EACH (i, n)
    s[i] = a[i] * 1.44269504f + magic;
  CLEAVE_EACH (i, n)
    q[i] = s[i] - magic;
  CLEAVE_EACH (i, n)
    r[i] = (a[i] - q[i] * 0.693359375f) + q[i] * 2.12194440e-4f;
  CLEAVE_EACH (i, n)
    u[i] = r[i] * r[i];
  CLEAVE_EACH (i, n)
    q[i] = (0.00836895779f * r[i] + 0.041666206f) + u[i] * 0.00139505533f;
  CLEAVE_EACH (i, n)
    p[i] = (0.166665182f * r[i] + 0.5f) + u[i] * q[i];
  CLEAVE_EACH (i, n)
    p[i] = 1.0f + (r[i] + u[i] * p[i]);
  CLEAVE_EACH (i, n)
    p[i] = p[i] * (CleaveVector) ((CleaveBits) s[i] << 23);
  CLEAVE_EACH (i, n)
    v[i] = 1.0f / (1.0f + p[i]);
}
