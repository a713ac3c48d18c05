/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Fills a dense tensor with numbers that depend on nothing but the seed, the name, and the tensor's
 * type and shape: the same everywhere.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014).  It starts from the seed, xored with the 64-bit FNV-1a hash of the name, a zero byte, and
 * the type as text ("float32 1x3x8x8"). Each element takes one number and uses its highest bits:
 * floats are in [-1, 1), all multiples of their precision below 1 alike; 8-bit integers are any;
 * other integers and booleans 0 or 1, which is an index into anything. */
void cleave_random_fill (CleaveTensor *tensor, const char *name, guint64 seed);
