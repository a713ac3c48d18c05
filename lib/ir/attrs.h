/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attribute structs, seen through an op's table of attributes. The rest of this interface is at the
 * end of op.h. */

#include "op.h"

/* Swaps one field between two attribute structs of the same op. */
void cleave_attr_swap (const CleaveAttr *attr, gpointer a, gpointer b);
