/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* Two structs of an op change the fields of this attribute with each other. */
void cleave_attr_swap (const CleaveAttr *attr, gpointer a, gpointer b);
