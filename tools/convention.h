/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* The name of the quantity whose peak is printed. */
#define CLEAVE_CONVENTION_NAME "live activations"

/* The last line of every output that prints peaks: it explains the name. */
#define CLEAVE_CONVENTION_NOTE "How it is counted: " CLEAVE_MEMORY_CONVENTION ".\n"
