/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <graphviz/cgraph.h>

/* Numbers the objects of a drawing as they come.  cgraph's own numbers are addresses, by which it
 * sorts subgraphs, so that the same drawing would not always be written the same. */
extern Agiddisc_t cleave_drawing_ids;
