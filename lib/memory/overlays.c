/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses results that overlay an operand at the peak, and moves the operand into the buffer of the
 * result. buffers.c keeps overlays only if they lower the peak. */

#include "../ir/overlay.h"
#include "buffers.h"

/* Row overlays: a result that is computed row by row may be written over its operand, at the offset
 * that cleave_call_overlay() returns. Operand and result then share one buffer. The shared buffer
 * is as large as operand and result need together, and exists as long as one of the two values. So
 * buffers.c makes overlays only at the peak, and undoes an overlay if the peak does not fall. */

typedef struct
{
  CleaveAssignment *x, *y;
  gint64 shift;
} Overlay;

/* Returns whether a value can move into the buffer of another value: the value has its own buffer,
 * has no reader after `node`, and is no view or join. */
static gboolean
is_free (const CleaveStorage *storage, const CleaveAssignment *assignment, const CleaveNode *node)
{
  const CleaveNode *maker = assignment->result->node;
  guint value = (guint) (assignment - storage->assignments);

  return assignment->location.root == value && assignment->flags == 0 &&
         assignment->whole == CLEAVE_NEVER &&
         assignment->last == cleave_storage_position (storage, node) &&
         (maker->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) == 0;
}

/* Returns whether a value's buffer holds only this value and values that overwrite it. Returns
 * FALSE for a value in the buffer of a join, since this buffer also holds other operands of the
 * join. Returns FALSE for an output, since an output may be in the caller's memory. */
static gboolean
is_alone (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  const CleaveAssignment *root = &storage->assignments[assignment->location.root];

  return (root->result->node->op->flags & CLEAVE_OP_JOIN) == 0 &&
         assignment->location.offset == 0 &&
         assignment->base == (guint) (assignment - storage->assignments) &&
         root->last != storage->n_nodes && root->location.root == assignment->location.root &&
         (root->flags & CLEAVE_ASSIGNMENT_CONSTANT) == 0 &&
         cleave_tensor_type_equal (&root->result->type, &assignment->result->type);
}

/* Returns whether a value is stored without gaps, row after row: dimension `rows` is outermost. */
static gboolean
lies_in_rows (const CleaveAssignment *assignment, guint rows)
{
  const CleaveShape *shape = &assignment->result->type.shape;
  gint64 end = 1;

  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] > 1)
      end += (shape->dim[d] - 1) * assignment->location.stride[d];
  return end == cleave_shape_n_elements (shape) &&
         (shape->dim[rows] == 1 || assignment->location.stride[rows] * shape->dim[rows] == end);
}

/* Returns whether another operand of the node is the value of operand `operand`, or a view of that
 * value. */
static gboolean
is_read_twice (const CleaveStorage *storage, const CleaveNode *node, guint operand)
{
  guint base = cleave_storage_assignment (storage, node->operands[operand].result)->base;

  for (guint i = 0; i < node->n_operands; i++)
    if (i != operand && node->operands[i].result != NULL &&
        cleave_storage_assignment (storage, node->operands[i].result)->base == base)
      return TRUE;
  return FALSE;
}

/* Returns whether the op computes the result row by row from the operand, and an overlay saves
 * memory. Sets `overlay->shift` to the offset of the operand in the shared buffer, in elements. */
static gboolean
find_shift (const CleaveNode *node, guint operand, Overlay *overlay)
{
  g_auto (CleaveNodeCall) call = { 0 };
  guint rows;

  return cleave_call_overlay (cleave_node_call_init (&call, node), operand, &rows,
                              &overlay->shift) &&
         lies_in_rows (overlay->x, rows) && lies_in_rows (overlay->y, rows) &&
         overlay->shift * (gint64) cleave_element_size (overlay->x->result->type.element) <
             cleave_tensor_type_n_bytes (&overlay->y->result->type);
}

/* Finds the overlay of the result over one operand. Returns FALSE if an overlay is impossible or
 * saves no memory. */
static gboolean
find_overlay (const CleaveStorage *storage, const CleaveNode *node, guint operand, Overlay *overlay)
{
  const CleaveResult *x = node->operands[operand].result;

  if (x == NULL)
    return FALSE;
  overlay->x = cleave_storage_assignment (storage, x);
  return is_free (storage, overlay->x, node) && find_shift (node, operand, overlay) &&
         !is_read_twice (storage, node, operand);
}

static gboolean
can_overlay (const CleaveStorage *storage, const CleaveNode *node, Overlay *overlay)
{
  if (node->op->kernel == NULL || node->n_results != 1 || cleave_node_is_fixed (node))
    return FALSE;
  overlay->y = cleave_storage_assignment (storage, &node->results[0]);
  if (!is_alone (storage, overlay->y))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (find_overlay (storage, node, i, overlay))
      return TRUE;
  return FALSE;
}

void
cleave_storage_overlay (CleaveStorage *storage, const CleaveNode *node)
{
  Overlay overlay;

  if (!can_overlay (storage, node, &overlay))
    return;
  overlay.x->location.root = overlay.y->location.root;
  overlay.x->location.offset = overlay.shift;
  overlay.x->deadline = cleave_storage_position (storage, node);
  overlay.x->flags |= CLEAVE_ASSIGNMENT_MOVED | CLEAVE_ASSIGNMENT_OVERLAID;
}

gboolean
cleave_storage_is_overlaid (const CleaveStorage *storage, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      const CleaveAssignment *assignment =
          x == NULL ? NULL : cleave_storage_assignment (storage, x);

      if (assignment != NULL && (assignment->flags & CLEAVE_ASSIGNMENT_OVERLAID) != 0 &&
          assignment->deadline == cleave_storage_position (storage, node))
        return TRUE;
    }
  return FALSE;
}

gboolean
cleave_storage_find_overlays (const CleaveStorage *storage, gboolean **overlaid)
{
  for (guint s = 0; s < storage->steps->len; s++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);
      Overlay overlay;
      guint at;

      if (storage->live[s] < storage->peak)
        continue;
      if (step->kind != CLEAVE_STEP_COMPUTE || !can_overlay (storage, step->node, &overlay))
        return FALSE;
      if (*overlaid == NULL)
        *overlaid = g_new0 (gboolean, storage->n_nodes + 1);
      at = cleave_storage_position (storage, step->node);
      if ((*overlaid)[at])
        return FALSE;
      (*overlaid)[at] = TRUE;
    }
  return *overlaid != NULL;
}
