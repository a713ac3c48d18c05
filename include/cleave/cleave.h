/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Includes all public headers except <cleave/cleave-mpi.h>, which needs MPI. Start with
 * cleave-graph.h (build a graph) or cleave-onnx.h (load one), then cleave-split.h or cleave-fit.h
 * (split it), then cleave-program.h (run it). */

#include <cleave/cleave-bundle.h>
#include <cleave/cleave-dot.h>
#include <cleave/cleave-enums.h>
#include <cleave/cleave-error.h>
#include <cleave/cleave-fit.h>
#include <cleave/cleave-frameworks.h>
#include <cleave/cleave-graph.h>
#include <cleave/cleave-languages.h>
#include <cleave/cleave-load.h>
#include <cleave/cleave-onnx.h>
#include <cleave/cleave-ops.h>
#include <cleave/cleave-partition.h>
#include <cleave/cleave-pass.h>
#include <cleave/cleave-placement.h>
#include <cleave/cleave-program.h>
#include <cleave/cleave-shaped.h>
#include <cleave/cleave-split.h>
#include <cleave/cleave-tensor.h>
#include <cleave/cleave-text.h>
#include <cleave/cleave-tflite.h>
#include <cleave/cleave-types.h>
