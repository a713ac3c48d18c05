/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Hashes constants for the keys of packed weights (packed-weights.h). A kernel calls this function
 * if it packs several constants into one copy. Example: the factors that batch-norm.c packs depend
 * on the scales and the variances. */

/* Returns the SHA-256 of the constant's elements, in hexadecimal. The key of a packed copy contains
 * the digest of each constant that is packed together with the base. A digest is used instead of an
 * address: saved programs store the keys, and another constant may have that address later. */
char *cleave_constant_dup_digest (CleaveTensor *constant);
