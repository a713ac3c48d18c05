/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Classes of random networks of convolutions, poolings, sums and joins, for the table of
 * fit-graphs.c. */

CleaveGraph *fit_make_image (guint32 seed);
CleaveGraph *fit_make_nhwc (guint32 seed);
CleaveGraph *fit_make_bytes (guint32 seed);
CleaveGraph *fit_make_sequence (guint32 seed);
/* Returns a random network on a sequence. The values of the network are images of height 1. */
CleaveGraph *fit_make_flat_sequence (guint32 seed);
CleaveGraph *fit_make_volume (guint32 seed);

/* Returns the graph of a text. An error fails the test. */
CleaveGraph *fit_parse (const GString *text);
