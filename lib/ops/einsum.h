/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The equation of an Einsum. */

#include "../ir/op.h"

#define CLEAVE_N_LETTERS 52
#define CLEAVE_MAX_LABELS                                                                          \
  (CLEAVE_N_LETTERS + CLEAVE_MAX_RANK) /* the last ones: dimensions of the ellipsis */
#define CLEAVE_EINSUM_OPERANDS 16

/* What stands for the dimensions of one operand, or of the result. */
typedef struct
{
  guint rank;
  guint8 label[CLEAVE_MAX_RANK];
} CleaveTerm;

typedef struct
{
  CleaveTerm operands[CLEAVE_EINSUM_OPERANDS], result;
  gint64 extent[CLEAVE_MAX_LABELS]; /* -1: of a label that does not occur */
  guint n_ellipsis;                 /* dimensions */
  guint n_summed;
  guint8 summed[CLEAVE_MAX_LABELS];
} CleaveEquation;

/* Nothing is allocated.  FALSE: the operands do not fit it. */
gboolean cleave_equation_read (CleaveEquation *e, const CleaveCall *call, GError **error);
