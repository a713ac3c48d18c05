/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <graphviz/cgraph.h>

/* Functions that number the objects of a drawing in the order in which they are made; canvas.c
 * passes the functions to cgraph. cgraph's own numbers are addresses. cgraph sorts subgraphs by
 * number, so with addresses as numbers, the text of a drawing would differ from run to run. */
extern Agiddisc_t cleave_drawing_ids;
