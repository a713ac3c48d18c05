/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the switches of the environment variable CLEAVE_DEBUG. */

#include "debug.h"

/* Returns whether a switch is on. Reads the environment at each call, so that a test can change the
 * variable. */
gboolean
cleave_debug_is_on (CleaveDebug what)
{
  static const GDebugKey keys[] = {
    { "validate", CLEAVE_DEBUG_VALIDATE },   { "print", CLEAVE_DEBUG_PRINT },
    { "reference", CLEAVE_DEBUG_REFERENCE }, { "external", CLEAVE_DEBUG_EXTERNAL },
    { "expensive", CLEAVE_DEBUG_EXPENSIVE },
  };

  return (g_parse_debug_string (g_getenv ("CLEAVE_DEBUG"), keys, G_N_ELEMENTS (keys)) & what) != 0;
}
