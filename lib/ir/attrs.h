/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attribute structs, seen through an op's table of attributes (CleaveAttr). op.h declares most of
 * these functions, at its end. This header declares only the swap, for the reducer
 * (`passes/reduce/rebuild.c`). The reducer tests whether a failure remains after one attribute gets
 * its default value. */

#include "op.h"

/* Swaps one field between two attribute structs of the same op. */
void cleave_attr_swap (const CleaveAttr *attr, gpointer a, gpointer b);
