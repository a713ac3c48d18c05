/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The largest number of threads of a program, and so of a split for threads. */
#define CLEAVE_MAX_THREADS 1024
