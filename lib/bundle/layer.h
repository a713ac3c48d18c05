/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The kernel and the constants of a layer, and the pool of constant arrays of a bundle. */

#include "op.h"

/* The constant arrays of a bundle. */
typedef struct
{
  char *prefix;      /* prefix of the names of the arrays */
  GArray *arrays;    /* CleaveBundleArray */
  GHashTable *names; /* from the contents of an array to its index + 1 */
} CleaveBundlePool;

typedef struct
{
  char *name, *type;
  char *expression; /* C expression for the address; with a cast if bytes are stored in words */
  GBytes *bytes;
  gsize n_elements;
} CleaveBundleArray;

struct _CleaveBundleLayer
{
  CleaveBundlePool *pool;
  char *file, *kernel, *type, *fields;
  char *sums; /* kernel that adds rows up; NULL: none */
  gint64 sum_columns;
  gsize sum_pixel_bytes;
  gboolean has_float_scales;
  guint in_place;     /* a bit for each variable operand */
  guint slot;         /* the operand of the node that is the first variable operand */
  guint zero_operand; /* the operand of the node with the zero point `zero`, plus 1; 0: none */
  gint64 zero;
};

CleaveBundlePool *cleave_bundle_pool_new (const char *prefix);
void cleave_bundle_pool_free (CleaveBundlePool *pool);
CleaveBundleLayer *cleave_bundle_layer_new (CleaveBundlePool *pool);
void cleave_bundle_layer_free (CleaveBundleLayer *layer);
