/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-types.h>

G_BEGIN_DECLS

#define CLEAVE_ERROR (cleave_error_quark ())

/**
 * CleaveError:
 * @CLEAVE_ERROR_SHAPE: shapes do not fit each other, or a size does not fit 64 bits
 * @CLEAVE_ERROR_ELEMENT_TYPE: element types do not fit each other or the op
 * @CLEAVE_ERROR_ATTRIBUTE: an attribute is out of range
 * @CLEAVE_ERROR_CYCLE: the graph has a cycle
 * @CLEAVE_ERROR_OPTION: a request, such as a split, is wrong
 * @CLEAVE_ERROR_MODEL: a model is broken, or asks for what is not supported
 * @CLEAVE_ERROR_BINDING: a tensor bound to a program is missing or has another type
 * @CLEAVE_ERROR_MEMORY: there is not as much memory as a tensor or a program takes
 * @CLEAVE_ERROR_LIMIT: a limit cannot be met
 *
 * What a user can get wrong.
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
