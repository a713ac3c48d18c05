/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What a peak is said to be of, wherever one is printed. */
#define CLEAVE_CONVENTION_NAME "live activations"

/* The last line of what has printed peaks says what the name means. */
#define CLEAVE_CONVENTION_NOTE "How it is counted: " CLEAVE_MEMORY_CONVENTION ".\n"
