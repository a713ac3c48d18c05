/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where: selects elements of X or Y by a condition. The condition, X and Y are broadcast to each
 * other. Elements are copied as bytes. All dimensions can be split. */

#include "../ir/op.h"
#include "lines.h"

enum { CONDITION, X, Y };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveShape shape = call->operands[CONDITION].shape;

  if (!cleave_call_check_element (call, CONDITION, CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error) ||
      !cleave_call_check_same_element (call, X, Y, error))
    return FALSE;
  if (!cleave_shape_broadcast (&shape, &call->operands[X].shape, &shape) ||
      !cleave_shape_broadcast (&shape, &call->operands[Y].shape, &shape))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "condition, X and Y do not broadcast to each other");
  results[0] = (CleaveTensorType){ call->operands[X].element, shape };
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_maps_broadcast (&call->operands[operand].shape, &call->results[0].shape, map);
}

/* Defines a function that selects a line of elements of one size. */
#define SELECT(name, Storage)                                                                      \
  static void name (const CleaveLines *lines, const CleaveView *const *views)                      \
  {                                                                                                \
    Storage *to = cleave_view_element (views[0], lines->offset[0]);                                \
    const guint8 *choice = cleave_view_element (views[1], lines->offset[1]);                       \
    const Storage *x = cleave_view_element (views[2], lines->offset[2]);                           \
    const Storage *y = cleave_view_element (views[3], lines->offset[3]);                           \
                                                                                                   \
    for (gint64 i = 0; i < lines->length; i++)                                                     \
      to[i * lines->step[0]] =                                                                     \
          choice[i * lines->step[1]] != 0 ? x[i * lines->step[2]] : y[i * lines->step[3]];         \
  }
SELECT (select_1, guint8)
SELECT (select_2, guint16)
SELECT (select_4, guint32)
SELECT (select_8, guint64)

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *views[] = { &results[0], &operands[CONDITION], &operands[X], &operands[Y] };
  gsize size = cleave_element_size (results[0].type.element);
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 4); more;
       more = cleave_lines_next (&lines))
    (size == 1 ? select_1 : size == 2 ? select_2 : size == 4 ? select_4 : select_8) (&lines, views);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CHOOSE;
}

const CleaveOp cleave_op_where = {
  .name = "Where",
  .operands = (const char *const[]){ "condition", "X", "Y", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 3,
  .flags = CLEAVE_OP_BY_STRIDES,
  .infer = infer,
  .maps = maps,
  .kernel = kernel,
  .compute = compute,
};
