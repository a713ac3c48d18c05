/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The networks of the paper msf-CNN, for comparisons of memory. bench-fit.c lists the plans of each
 * chain, and prints the arena of each plan beside the figure of the paper. */

#include <cleave/cleave.h>

/* Returns a chain of convolutions: the layers that msf-CNN counts, without residual additions,
 * pooling and classifier. `name` is "mbv2-w035-r144", "vww-r80" or "320kb-r176"; for another name,
 * returns NULL. Weights are random, with a fixed seed. The chain omits the network's last
 * convolution, whose result msf-CNN does not count. Sets `last_macs` to the MACs of that
 * convolution. */
CleaveGraph *chain_new (const char *name, gint64 *last_macs);
