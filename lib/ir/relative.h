/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "range.h"

/* A range counted from the begin of another, and back. */
CleaveRange cleave_range_relative (const CleaveRange *range, const CleaveRange *frame);
CleaveRange cleave_range_absolute (const CleaveRange *range, const CleaveRange *frame);
