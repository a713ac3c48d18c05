/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A case of ONNX's operator tests whose inputs or outputs are strings, sequences or optional
 * values. golden.c runs these cases with a dynamic part. */

#include "models.h"

/* Imports the model of a case with a dynamic part, runs it, and compares the outputs with the files
 * of the case. Also exports and imports the model, and compares the bits of both runs. Returns a
 * text about the first mistake; NULL if there is none. */
char *golden_run_values (GBytes *bytes, const char *folder);
