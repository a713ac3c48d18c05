/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attribute structs, seen through an op's table of attributes (CleaveAttr). op.h declares most
 * functions for attribute structs, at its end. This header declares only the swap of one attribute.
 * The reducer (`passes/reduce/rebuild.c`) swaps an attribute for its default value, and tests
 * whether a failure remains. */

#include "op.h"

/* Swaps one field between two attribute structs of the same op. */
void cleave_attr_swap (const CleaveAttr *attr, gpointer a, gpointer b);
