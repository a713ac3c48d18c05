/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "../ir/view.h"

/* Computes a Resize with the reference kernel. */
void cleave_resize_compute (const CleaveCall *call,
                            const CleaveView *operands,
                            const CleaveView *results);
