/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Networks of convolutions for the suite tests/memory/overlays.c: a pointwise convolution, a
 * depthwise convolution whose result can overlay its operand, and a pointwise convolution.
 *
 * OverlayForm says which ops compute the convolutions of a network. */
typedef enum {
  OVERLAY_FLOATS,    /* Conv of floats */
  OVERLAY_LINEAR,    /* QLinearConv */
  OVERLAY_SYMMETRIC, /* QLinearConv, with zero points of 0 for the weights */
  OVERLAY_CONVERTED, /* Conv between DequantizeLinear and QuantizeLinear */
  OVERLAY_INTEGERS   /* ConvInteger */
} OverlayForm;

typedef struct
{
  OverlayForm form;
  CleaveElement element;
  guint n_spatial;
  gboolean never; /* no overlay is possible, since no kernel reads the rows in order */
} OverlayKind;

#define OVERLAY_N_KINDS 14
extern const OverlayKind overlay_kinds[OVERLAY_N_KINDS];

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  const OverlayKind *kind;
} OverlayNet;

/* Makes a network of three layers: the first expands few channels to many, the second keeps or
 * doubles the number of channels, and the third reduces them to few. */
OverlayNet overlay_make_net (guint32 seed, gint64 n_images);
void overlay_clear (OverlayNet *net);
/* Returns the number of nodes whose result overlays an operand when the graph runs. */
guint overlay_count (const CleaveGraph *graph);

/* The functions below add nodes to a network. */

CleaveResult *overlay_random_constant (OverlayNet *net, CleaveElement element, CleaveShape shape);
/* Adds a DequantizeLinear or QuantizeLinear with the scale `by` and a random zero point. */
CleaveResult *overlay_convert (OverlayNet *net, const char *op, CleaveResult *x, float by);
/* Adds a convolution with the element type and form of `net->kind`, and at times a Relu. */
CleaveResult *overlay_add_conv (OverlayNet *net,
                                CleaveResult *x,
                                CleaveShape weights,
                                const CleaveConvAttrs *attrs);
/* Adds a pointwise convolution with `n` channels. */
CleaveResult *
overlay_add_pointwise (OverlayNet *net, CleaveResult *x, gint64 n, CleaveLayout layout);
/* Adds the last layer, and makes its result an output. */
void overlay_end_net (OverlayNet *net, CleaveResult *y, CleaveLayout layout);
