/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-needs.h"

/* Notes what strips have of a value, which the walk needs. */
void cleave_fit_add_window (CleaveFitState *state, guint value);
/* What begins at a step is in the segment from now on: whole if it outlives it. */
void cleave_fit_add_buffers (CleaveFitState *state, guint step);
