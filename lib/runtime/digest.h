/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Hashes constants for the keys of packed weights (packed-weights.h). A kernel calls this function
 * if it packs several constants into one copy. Example: the factors that batch-norm.c packs depend
 * on the scales and the variances. */

/* Returns the SHA-256 of the constant's elements, in hexadecimal. If a kernel packs further
 * constants together with the base, the key of the packed copy contains their digests. The key does
 * not contain their addresses: saved programs store the keys, and a later process may have another
 * constant at the same address. */
char *cleave_constant_dup_digest (CleaveTensor *constant);
