/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes NonMaxSuppression during the import. The number of selected boxes, and so the shape of
 * the result, depends on values. So the operands must be constant. */

#include "upgrades.h"

#include "../../ops/reference.h"
#include "../import/dynamic.h"

enum { BOXES, SCORES, MAX_BOXES, IOU, SCORE };

typedef struct
{
  float bottom, left, top, right;
} Box;

typedef struct
{
  gint64 box;
  float score;
} Candidate;

/* The operands of the node, indexed by operand of ONNX; NULL: absent. */
typedef struct
{
  CleaveTensor *operands[SCORE + 1];
  gint64 n_batches, n_boxes, n_classes, max_boxes;
  double iou, score;
  gboolean by_center;
} Boxes;

static void
boxes_clear (Boxes *b)
{
  for (guint i = 0; i <= SCORE; i++)
    g_clear_pointer (&b->operands[i], cleave_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Boxes, boxes_clear)

static gboolean
read_operands (Boxes *b, CleaveOnnxNode *node, GError **error)
{
  for (guint i = 0; i <= SCORE; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_node_operand (node, i);

      if (value == NULL && i <= SCORES)
        return cleave_onnx_node_fail (node, error, "operand %u is missing", i);
      if (value == NULL)
        continue;
      if (cleave_onnx_value_constant (node->import, value) == NULL)
        cleave_onnx_why_unknown (node->import, value);
      if (value->constant == NULL && value->is_costly)
        return cleave_onnx_node_fail (node, error, "operand %u " CLEAVE_ONNX_TOO_COSTLY, i);
      if (value->constant == NULL)
        return cleave_onnx_node_fail (
            node, error,
            "operand %u is computed, but must be constant: how many boxes it selects follows from "
            "their values, and shapes are static",
            i);
      if (cleave_onnx_value_type (value)->element !=
          (i == MAX_BOXES ? CLEAVE_INT64 : CLEAVE_FLOAT32))
        return cleave_onnx_node_fail (node, error, "operand %u has another element type", i);
      b->operands[i] = cleave_tensor_dup_dense (value->constant);
    }
  return TRUE;
}

/* Reads an operand of one number into `number`. Leaves `number` unchanged if the operand is absent.
 */
static gboolean
read_number (const Boxes *b, guint operand, CleaveOnnxNode *node, double *number, GError **error)
{
  CleaveTensor *tensor = b->operands[operand];

  if (tensor == NULL)
    return TRUE;
  if (cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape) != 1)
    return cleave_onnx_node_fail (node, error, "operand %u is not one number", operand);
  *number =
      cleave_real_load (cleave_tensor_get_type (tensor)->element, cleave_tensor_get_data (tensor));
  return TRUE;
}

static gboolean
read_shapes (Boxes *b, CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *boxes = &cleave_tensor_get_type (b->operands[BOXES])->shape;
  const CleaveShape *scores = &cleave_tensor_get_type (b->operands[SCORES])->shape;

  if (boxes->rank != 3 || boxes->dim[2] != 4 || scores->rank != 3 ||
      scores->dim[0] != boxes->dim[0] || scores->dim[2] != boxes->dim[1])
    {
      g_autofree char *one = cleave_shape_to_string (boxes);
      g_autofree char *two = cleave_shape_to_string (scores);

      return cleave_onnx_node_fail (node, error, "boxes are %s and scores %s, not NxBx4 and NxCxB",
                                    one, two);
    }
  b->n_batches = boxes->dim[0];
  b->n_boxes = boxes->dim[1];
  b->n_classes = scores->dim[1];
  return TRUE;
}

static gboolean
boxes_read (Boxes *b, CleaveOnnxNode *node, GError **error)
{
  double max_boxes = 0;

  *b = (Boxes){ .score = -G_MAXDOUBLE,
                .by_center = cleave_onnx_node_take_int (node, "center_point_box", 0) != 0 };
  if (!cleave_onnx_node_check_no_attrs (node, error) || !read_operands (b, node, error) ||
      !read_shapes (b, node, error) || !read_number (b, MAX_BOXES, node, &max_boxes, error) ||
      !read_number (b, IOU, node, &b->iou, error) ||
      !read_number (b, SCORE, node, &b->score, error))
    return FALSE;
  b->max_boxes = (gint64) CLAMP (max_boxes, 0, (double) b->n_boxes);
  return TRUE;
}

/* Subtracts the work of the worst case from the budget of constant folding: each box is compared
 * with each selected box. Returns FALSE if the budget is too small. */
static gboolean
spend (const Boxes *b, CleaveOnnxNode *node, GError **error)
{
  double cost = (double) b->n_batches * (double) b->n_classes * (double) b->n_boxes *
                (double) (b->max_boxes + 1);

  if (cleave_onnx_spend (node->import, cost))
    return TRUE;
  cleave_onnx_note_unknown (node->import, NULL, "takes too much work to compute at import");
  return cleave_onnx_node_fail (node, error, "it " CLEAVE_ONNX_TOO_COSTLY);
}

static Box
load_box (const Boxes *b, gint64 batch, gint64 index)
{
  const float *v = (const float *) cleave_tensor_get_data (b->operands[BOXES]) +
                   (batch * b->n_boxes + index) * 4;

  if (b->by_center)
    return (Box){ v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2 };
  return (Box){ MIN (v[0], v[2]), MIN (v[1], v[3]), MAX (v[0], v[2]), MAX (v[1], v[3]) };
}

static float
box_area (const Box *box)
{
  return (box->top - box->bottom) * (box->right - box->left);
}

/* Returns whether two boxes overlap too much: intersection over union exceeds the threshold. */
static gboolean
overlap (const Boxes *b, const Box *one, const Box *other)
{
  Box both = { MAX (one->bottom, other->bottom), MAX (one->left, other->left),
               MIN (one->top, other->top), MIN (one->right, other->right) };
  float area = both.top <= both.bottom || both.right <= both.left ? 0 : box_area (&both);

  if (!(area > 0) || !(box_area (one) > 0) || !(box_area (other) > 0))
    return FALSE;
  return area / (box_area (one) + box_area (other) - area) > b->iou;
}

/* Compares two candidates for sorting: the higher score comes first; for equal scores, the lower
 * index. */
static gint
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *one = a, *other = b;

  if (one->score != other->score)
    return one->score > other->score ? -1 : 1;
  return (one->box > other->box) - (one->box < other->box);
}

static GArray *
list_candidates (const Boxes *b, gint64 batch, gint64 class)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  const float *scores = (const float *) cleave_tensor_get_data (b->operands[SCORES]) +
                        (batch * b->n_classes + class) * b->n_boxes;

  for (gint64 i = 0; i < b->n_boxes; i++)
    {
      Candidate candidate = { i, scores[i] };

      if (scores[i] > b->score)
        g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, compare_candidates);
  return candidates;
}

static void
select_boxes (const Boxes *b, gint64 batch, gint64 class, GArray *selected)
{
  g_autoptr (GArray) candidates = list_candidates (b, batch, class);
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (Box));

  for (guint i = 0; i < candidates->len && kept->len < b->max_boxes; i++)
    {
      gint64 found[] = { batch, class, g_array_index (candidates, Candidate, i).box };
      Box box = load_box (b, batch, found[2]);
      gboolean is_free = TRUE;

      for (guint k = 0; k < kept->len && is_free; k++)
        is_free = !overlap (b, &box, &g_array_index (kept, Box, k));
      if (!is_free)
        continue;
      g_array_append_val (kept, box);
      g_array_append_vals (selected, found, 3);
    }
}

gboolean
cleave_onnx_upgrade_nms (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (GArray) selected = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_auto (Boxes) b = { 0 };
  CleaveTensorType type;

  if (!boxes_read (&b, node, error) || !spend (&b, node, error))
    return FALSE;
  for (gint64 batch = 0; batch < b.n_batches; batch++)
    for (gint64 class = 0; class < b.n_classes && b.max_boxes > 0; class ++)
      select_boxes (&b, batch, class, selected);
  type = CLEAVE_TYPE (CLEAVE_INT64, selected->len / 3, 3);
  return cleave_onnx_finish (node, cleave_onnx_constant (node, &type, selected->data));
}
