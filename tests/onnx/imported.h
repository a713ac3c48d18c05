/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Models with one operator, for the suites import.c and import-inputs.c. A suite makes a model,
 * changes one detail, such as an attribute, and asserts the imported graph or the error. */

#include "test.h"

#include <string.h>
#include <time.h>

#include "interpret.h"
#include "models.h"

static const CleaveTensorType pair = { CLEAVE_FLOAT32, { 1, { 2 } } };

/* Makes a model with an input x of 1x3x8x8, and one node that computes the output y. */
static inline Model *
model_of (gint64 opset, const char *op, const char *operands)
{
  Model *model = model_new (opset);

  model_add_input (model, "x", "1x3x8x8");
  model_add_node (model, op, "n", operands, "y");
  model_add_output (model, "y");
  return model;
}
