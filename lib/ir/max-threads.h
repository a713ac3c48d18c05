/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The most threads that a program has, and so that anything is split for. */
#define CLEAVE_MAX_THREADS 1024
