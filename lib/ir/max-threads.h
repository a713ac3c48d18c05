/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The largest number of threads of a program, and so of a split for threads. Options with a larger
 * number fail with an error; lib/runtime/plan, passes/threads, passes/fit and passes/ranks check
 * the number. */
#define CLEAVE_MAX_THREADS 1024
