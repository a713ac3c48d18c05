/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Switches for debugging, which the environment variable CLEAVE_DEBUG sets:
 * CLEAVE_DEBUG=validate,print turns two switches on. cleave_program_new() reads
 * CLEAVE_DEBUG_REFERENCE. The writer of ONNX files (lib/onnx/save.c) reads CLEAVE_DEBUG_EXTERNAL. A
 * run of a dynamic part (lib/onnx/import/compute.c) reads CLEAVE_DEBUG_EXPENSIVE. The pass runner
 * (passes/pass.c) reads the switches `validate` and `print`. */

#include <glib.h>

typedef enum {
  CLEAVE_DEBUG_VALIDATE = 1 << 0,  /* the pass runner validates the graph after each pass */
  CLEAVE_DEBUG_PRINT = 1 << 1,     /* the pass runner prints the graph after each change */
  CLEAVE_DEBUG_REFERENCE = 1 << 2, /* programs run reference kernels only */
  CLEAVE_DEBUG_EXTERNAL = 1 << 3,  /* models are saved as if they were larger than 2 GiB */
  CLEAVE_DEBUG_EXPENSIVE = 1 << 4, /* all nodes of a dynamic part run as programs */
} CleaveDebug;

gboolean cleave_debug_is_on (CleaveDebug what);
