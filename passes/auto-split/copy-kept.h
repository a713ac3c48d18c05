/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-pieces.h"

/* What a piece makes, and several joins of its part read whole, is to lie in the first of them: the
 * others read a Slice of all of it, which can be kept as a copy, so that neither the first join
 * stays for it nor a later one is there before its time.  `copies` says of each part whether it is
 * done there. */
void cleave_copy_kept (CleaveGraph *graph, const CleaveFitPieces *pieces, const gboolean *copies);
