/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Views read and written line by line, in one of four types wide enough to compute in, so that a
 * reference kernel is written once for all element types.  A value is rounded once, when it is
 * written. */

#include "reference.h"

typedef enum {
  CLEAVE_WIDE_F32, /* float32, float16, bfloat16 */
  CLEAVE_WIDE_F64, /* float64 */
  CLEAVE_WIDE_I64, /* signed integers */
  CLEAVE_WIDE_U64, /* unsigned integers, and bool as 0 or 1 */
  CLEAVE_N_WIDES
} CleaveWide;

/* How many elements a kernel takes at once, so that its buffers fit on the stack. */
#define CLEAVE_LINE 256
/* As many lists side by side are gone through element by element, all of them at once: CumSum of 8
 * lists of 512 takes 27 us one by one and 47 at once, of 16 as long either way. */
#define CLEAVE_MIN_ACROSS 16

typedef union
{
  float f32[CLEAVE_LINE];
  double f64[CLEAVE_LINE];
  gint64 i64[CLEAVE_LINE];
  guint64 u64[CLEAVE_LINE];
} CleaveLineBuffer;

CleaveWide cleave_wide_of (CleaveElement element);
/* Less than, equal to or greater than 0, as `a` is to `b`; a NaN is greater than all else. */
int cleave_wide_compare (CleaveWide wide, gconstpointer a, gconstpointer b);

/* `n` elements from the one `offset` elements after the first, `step` apart: where they are as
 * `wide`, which is in the view itself or in `buffer`.  `wide` is that of the element type, or
 * CLEAVE_WIDE_F64. */
gconstpointer cleave_line_read (const CleaveView *view,
                                gint64 offset,
                                gint64 step,
                                gint64 n,
                                CleaveWide wide,
                                CleaveLineBuffer *buffer);
/* Where to put `n` elements for cleave_line_write(): in the view itself or in `buffer`. */
gpointer cleave_line_begin (
    const CleaveView *view, gint64 offset, gint64 step, CleaveWide wide, CleaveLineBuffer *buffer);
/* A real number becomes the nearest integer towards zero that the type has, NaN becomes 0; an
 * integer is cut off to the bits of the type; bool is "not 0". */
void cleave_line_write (const CleaveView *view,
                        gint64 offset,
                        gint64 step,
                        gint64 n,
                        CleaveWide wide,
                        gconstpointer from);

#define CLEAVE_LINES_MAX_VIEWS 4

/* The lines that several views have in common:
 *
 *   for (gboolean more = cleave_lines_init (…); more; more = cleave_lines_next (&lines))
 *     … lines.length elements, of view k from lines.offset[k], lines.step[k] apart …
 */
typedef struct
{
  guint n_views, rank;
  gint64 length;
  gint64 dim[CLEAVE_MAX_RANK], index[CLEAVE_MAX_RANK];
  gint64 stride[CLEAVE_LINES_MAX_VIEWS][CLEAVE_MAX_RANK];
  gint64 step[CLEAVE_LINES_MAX_VIEWS], offset[CLEAVE_LINES_MAX_VIEWS];
} CleaveLines;

/* Lines in row-major order of the first `rank` dimensions in `dim`; neighbours that all views allow
 * are joined. FALSE: there is no element. */
gboolean cleave_lines_init (CleaveLines *lines, guint n_views);
/* Elements of views[0], to which the others are broadcast, in whatever order suits views[0] best.
 */
gboolean
cleave_lines_init_views (CleaveLines *lines, const CleaveView *const *views, guint n_views);
/* Elements along those dimensions of views[0] whose bits are set in `dims`, in row-major order;
 * views of one rank. */
gboolean cleave_lines_init_dims (CleaveLines *lines,
                                 const CleaveView *const *views,
                                 guint n_views,
                                 guint dims);
/* FALSE: that was the last; then the first comes again. */
gboolean cleave_lines_next (CleaveLines *lines);
