/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Places the rings and the whole values of a plan in one arena. */

#include "plan.h"

/* A part of the arena: a whole value or a ring. */
typedef struct
{
  guint value;       /* the base of a view; for a ring, the result of the step that owns it */
  guint first, last; /* segments that use it */
  gint64 n_bytes, offset;
  gint64 n_used; /* bytes without the alignment at the end */
  guint over;    /* value whose buffer this one may overlap in its first segment, or
                  * CLEAVE_BUNDLE_NONE; see CleaveBundleOverlay */
  gint64 lag;
  gint64 row_bytes; /* of the end */
  gboolean is_upward;
} CleaveBundleBuffer;

typedef struct
{
  gint64 n_bytes;      /* bytes of the arena */
  GArray *buffers;     /* CleaveBundleBuffer */
  GHashTable *offsets; /* gint64 + 1 by value */
} CleaveBundleLayout;

CleaveBundleLayout *cleave_bundle_layout_new (const CleaveBundleModel *model,
                                              const CleaveBundlePlan *plan,
                                              gint64 align);
void cleave_bundle_layout_free (CleaveBundleLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveBundleLayout, cleave_bundle_layout_free)
/* Returns where the value begins that is in the arena and owns its memory. */
gint64 cleave_bundle_layout_offset (const CleaveBundleLayout *layout, guint value);
