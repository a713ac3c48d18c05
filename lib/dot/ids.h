/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <graphviz/cgraph.h>

/* Functions that number the objects of a drawing in the order in which they are made; canvas.c
 * passes the functions to cgraph. cgraph's own numbers are addresses. Since cgraph sorts subgraphs
 * by number, the text of a drawing would otherwise differ from run to run. */
extern Agiddisc_t cleave_drawing_ids;
