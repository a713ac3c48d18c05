/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses the equation of an Einsum, such as `bij,bjk->bik`. Each dimension has a label: a letter,
 * or a number for the dimensions of an ellipsis. The record (einsum.c) infers shapes and maps from
 * the parsed equation. The reference kernel parses the equation again in each run. The fast kernel
 * parses it when a program is made. */

#include "../ir/op.h"

#define CLEAVE_N_LETTERS 52
/* An equation has at most this many labels: one for each letter, and one for each dimension of the
 * ellipsis. */
#define CLEAVE_MAX_LABELS (CLEAVE_N_LETTERS + CLEAVE_MAX_RANK)
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
  /* indexed by label: extent of the label; -1 if the label does not occur */
  gint64 extent[CLEAVE_MAX_LABELS];
  guint n_ellipsis; /* number of dimensions of the ellipsis */
  guint n_summed;
  guint8 summed[CLEAVE_MAX_LABELS];
} CleaveEquation;

/* Parses the equation of a call. Fails if the equation is malformed, or if the operands do not
 * match it. Allocates nothing. */
gboolean cleave_equation_read (CleaveEquation *e, const CleaveCall *call, GError **error);
