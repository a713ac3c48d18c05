/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes a failing random model small. A tape records the random choices that make a model (tape.h).
 * For each failure, workers.c calls shrink(), which simplifies choices while the model still fails.
 * The option `--replay FILE` of the program `differential` judges a stored failure again. */

#include "workers.h"

/* Minimizes the choices of a failing seed while the verdict stays the same. Stores and prints the
 * result. */
void shrink (guint64 seed, guint way, Verdict verdict, const Plan *plan);
/* Judges the stored case in the file `path`, in this process. Returns the exit status. */
int shrink_replay (const char *path);
