/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Small networks of int8 that a bundle can compute. The suites in tests/bundle make a bundle of
 * each network, compile it, and compare its outputs with the outputs of a program. Two suites of
 * tests/passes/fit fit the networks. */

#include <cleave/cleave.h>

/* A convolution in the layout NHWC. */
typedef struct
{
  gint64 channels, group, kernel[2], strides[2], dilations[2], pads[4];
} NetworkConv;

/* Adds an input of int8, `[1, rows, columns, channels]`. */
CleaveResult *network_input (CleaveGraph *graph, gint64 rows, gint64 columns, gint64 channels);
/* Adds a TfliteConv with random weights. Returns NULL if the op refuses the operands. */
CleaveResult *
network_conv (CleaveGraph *graph, CleaveResult *x, const NetworkConv *conv, GRand *rand);
/* Adds a TfliteAdd of two values of one shape, with random scales. */
CleaveResult *network_add (CleaveGraph *graph, CleaveResult *a, CleaveResult *b, GRand *rand);
/* Returns a random network: convolutions of all kinds, diamonds, residual additions, several
 * outputs. */
CleaveGraph *network_random (guint32 seed);
/* Returns a random network of the kind that network_random () makes. The input has at least `least`
 * and fewer than `most` rows. */
CleaveGraph *network_random_rows (guint32 seed, gint least, gint most);
/* Compiles a bundle with the C compiler `cc` and runs its test. Returns the exit status of the
 * test, or -1 if the bundle does not compile. In a build with a sanitizer, only writes the bundle
 * and returns 0. */
int network_check (const CleaveBundle *bundle, const char *flags);
