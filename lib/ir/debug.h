/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* What the environment asks for: CLEAVE_DEBUG=validate,print,reference,external. */
typedef enum {
  CLEAVE_DEBUG_VALIDATE = 1 << 0,  /* the runner of passes checks each pass */
  CLEAVE_DEBUG_PRINT = 1 << 1,     /* it prints the graph after each change */
  CLEAVE_DEBUG_REFERENCE = 1 << 2, /* programs run reference kernels only */
  CLEAVE_DEBUG_EXTERNAL = 1 << 3,  /* models are saved as if they were larger than 2 GiB */
} CleaveDebug;

gboolean cleave_debug_is_on (CleaveDebug what);
