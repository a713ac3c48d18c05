/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes a failing random model small. workers.c calls shrink() for each failure. shrink()
 * simplifies the choices of the tape, and keeps a change if the model still fails. `differential
 * --replay FILE` judges a stored case again. */

#include "workers.h"

/* Minimizes the choices of a failing seed while the verdict stays the same. Stores and prints the
 * result. */
void shrink (guint64 seed, guint way, Verdict verdict, const Plan *plan);
/* Judges the stored case in the file `path`, in this process. Returns the exit status. */
int shrink_replay (const char *path);
