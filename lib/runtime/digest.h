/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* Returns the SHA-256 of the constant's elements, in hexadecimal. The key of packed weights
 * contains the digest of each constant that is packed together with the base. The key must not
 * contain an address: saved programs hold the keys, and another constant may have that address
 * later. */
char *cleave_constant_dup_digest (CleaveTensor *constant);
