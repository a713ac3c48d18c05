/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Error codes. A function fails with a GError in this domain for mistakes that a user can make. The
 * message names the node or option, the expected value and the value found. Mistakes of the calling
 * program, such as NULL for a graph, are critical warnings of GLib instead. */

#include <cleave/cleave-types.h>

G_BEGIN_DECLS

#define CLEAVE_ERROR (cleave_error_quark ())

/**
 * CleaveError:
 * @CLEAVE_ERROR_SHAPE: shapes do not match, or a size exceeds 64 bits
 * @CLEAVE_ERROR_ELEMENT_TYPE: element types do not match each other or the op
 * @CLEAVE_ERROR_ATTRIBUTE: an attribute is out of range
 * @CLEAVE_ERROR_CYCLE: the graph has a cycle
 * @CLEAVE_ERROR_OPTION: a request, such as a split, is wrong
 * @CLEAVE_ERROR_MODEL: a model file is broken, or needs a feature that is not supported
 * @CLEAVE_ERROR_BINDING: a tensor bound to a program is missing or has another type
 * @CLEAVE_ERROR_MEMORY: the memory for a tensor or a program cannot be allocated
 * @CLEAVE_ERROR_LIMIT: a limit, such as a memory budget, cannot be met
 *
 * The codes of errors that users can cause.
 */
typedef enum {
  CLEAVE_ERROR_SHAPE,
  CLEAVE_ERROR_ELEMENT_TYPE,
  CLEAVE_ERROR_ATTRIBUTE,
  CLEAVE_ERROR_CYCLE,
  CLEAVE_ERROR_OPTION,
  CLEAVE_ERROR_MODEL,
  CLEAVE_ERROR_BINDING,
  CLEAVE_ERROR_MEMORY,
  CLEAVE_ERROR_LIMIT,
} CleaveError;

CLEAVE_API GQuark cleave_error_quark (void);

G_END_DECLS
