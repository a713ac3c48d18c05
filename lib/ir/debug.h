/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* What the environment asks for: CLEAVE_DEBUG=validate,print,reference. */
typedef enum {
  CLEAVE_DEBUG_VALIDATE = 1 << 0,  /* the runner of passes checks each pass */
  CLEAVE_DEBUG_PRINT = 1 << 1,     /* it prints the graph after each change */
  CLEAVE_DEBUG_REFERENCE = 1 << 2, /* programs run reference kernels only */
} CleaveDebug;

gboolean cleave_debug_is_on (CleaveDebug what);
