/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "workers.h"

/* Minimizes the choices of a failing seed while the verdict stays the same. Stores and prints the
 * result. */
void shrink (guint64 seed, guint way, Verdict verdict, const Plan *plan);
/* Judges a stored case in this process. */
int shrink_replay (const char *path);
