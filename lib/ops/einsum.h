/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses the equation of an Einsum, such as `bij,bjk->bik`. Each dimension has a label: a letter,
 * or a number for the dimensions of an ellipsis. */

#include "../ir/op.h"

#define CLEAVE_N_LETTERS 52
#define CLEAVE_MAX_LABELS                                                                          \
  (CLEAVE_N_LETTERS + CLEAVE_MAX_RANK) /* letters, then dimensions of the ellipsis */
#define CLEAVE_EINSUM_OPERANDS 16

/* The labels of the dimensions of one operand, or of the result. */
typedef struct
{
  guint rank;
  guint8 label[CLEAVE_MAX_RANK];
} CleaveTerm;

typedef struct
{
  CleaveTerm operands[CLEAVE_EINSUM_OPERANDS], result;
  gint64 extent[CLEAVE_MAX_LABELS]; /* extent of each label; -1 for one that does not occur */
  guint n_ellipsis;                 /* number of dimensions of the ellipsis */
  guint n_summed;
  guint8 summed[CLEAVE_MAX_LABELS];
} CleaveEquation;

/* Parses the equation of a call. Returns FALSE and the error if it is malformed, or if the operands
 * do not match it. Allocates nothing. */
gboolean cleave_equation_read (CleaveEquation *e, const CleaveCall *call, GError **error);
