/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "workers.h"

/* Finds fewer and smaller choices with the same verdict, and keeps and tells what they make. */
void shrink (guint64 seed, guint way, Verdict verdict, const Plan *plan);
/* Judges a case that was kept, in this process. */
int shrink_replay (const char *path);
