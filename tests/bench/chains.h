/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The networks of the paper msf-CNN, for comparisons of memory. bench-fit.c lists the plans of each
 * chain, and prints their arenas beside the figures of the paper. */

#include <cleave/cleave.h>

/* Returns a chain of convolutions: the layers that msf-CNN counts, without residual additions,
 * pooling and classifier. `name` is "mbv2-w035-r144", "vww-r80" or "320kb-r176"; NULL for any
 * other. Weights are random, with a fixed seed. The last convolution is left out, since msf-CNN
 * does not count its result; sets `last_macs` to its MACs. */
CleaveGraph *chain_new (const char *name, gint64 *last_macs);
