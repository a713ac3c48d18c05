/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Returns the SHA-256 of the constant's elements, in hexadecimal.  It stands in the key of packed
 * weights for a constant that is packed along with the base.  An address must not stand there:
 * saved programs hold the keys, and another constant may lie at that address later. */
char *cleave_constant_dup_digest (CleaveTensor *constant);
