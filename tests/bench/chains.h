/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A chain of convolutions: the layers that msf-CNN's analysis counts, without residual additions,
 * pooling and classifier; one value for each.  "mbv2-w035-r144", "vww-r80" or "320kb-r176"; NULL if
 * it is none of them.  Weights are random, the same each time.  The last convolution is not in it,
 * since its result is not counted there; `last_macs` gets its MACs. */
CleaveGraph *chain_new (const char *name, gint64 *last_macs);
