/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The built-in model of `cleave demo`. cmd-demo.c builds MobileNetV2 with random weights, splits a
 * stage of the model, and runs the model before and after the split. No model file is needed. */

#include <cleave/cleave.h>

/* The last node of the first stage, whose result is 28x28x32. The demo begins its recursive
 * split here. */
#define CLEAVE_MOBILENET_STAGE_END "block4.project"

/* Returns the graph of MobileNetV2 (Sandler, Howard and others, 2018): width 1.0, 224x224 pixels,
 * 1000 classes, batch normalization folded into the convolutions. Weights are random and depend
 * only on the seed. */
CleaveGraph *cleave_mobilenet_new (guint64 seed, GError **error);
