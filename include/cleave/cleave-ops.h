/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The attribute struct of each op, and typed constructors for common ops. Any op can be added by
 * cleave_graph_add (graph, cleave_op_lookup ("LRN"), …).
 *
 * Fields have the names and the meanings of the ONNX attributes; docs/operators.md lists the ops.
 * Where 0 is not a legal value, 0 stands for the default; an empty list stands for the default,
 * too. NULL in place of a struct stands for all defaults. Lists for spatial dimensions are in the
 * order of the dimensions: D, H, W. */

#include <cleave/cleave-ops-elementwise.h>
#include <cleave/cleave-ops-images.h>
#include <cleave/cleave-ops-layers.h>
#include <cleave/cleave-ops-moves.h>
#include <cleave/cleave-ops-series.h>
