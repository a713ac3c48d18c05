/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of ops that copy elements, such as Pad, Slice, Expand, nearest Resize and Transpose. */

#include <string.h>

#include "../ops/reference.h"
#include "layer.h"
#include "op-help.h"
#include "ops.h"

#define FILLED (-1)
#define UNKNOWN (-2)
#define FAR (1 << 24) /* larger than each extent of a bundle's values */

/* at[d][i]: the source, that is, the index in dimension d of operand 0 from which the op copies
 * index i of the result; FILLED: no source, as in the padding of a Pad. */
typedef struct
{
  gint64 *at[CLEAVE_MAX_RANK];
  gsize filled; /* byte offset, in the result, of an element that has no source; G_MAXSIZE: none */
} Sources;

/* Runs the op on an operand whose elements are `base` plus their index in dimension `d`. */
static CleaveTensor *
run_on_indices (const CleaveNode *node, guint d, gint32 base)
{
  g_autoptr (CleaveTensor) x = cleave_bundle_new_integers (node);
  CleaveView view = cleave_view_tensor (x);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &view.type.shape)
    *(gint32 *) cleave_view_at (&view, at) = base + (gint32) at[d];
  return cleave_bundle_run_on (node, x);
}

/* Sets `at` of dimension d (Sources). Returns FALSE if a source also depends on the indices of
 * other dimensions. */
static gboolean
find_sources_in (const CleaveNode *node, guint d, Sources *sources)
{
  g_autoptr (CleaveTensor) near = run_on_indices (node, d, 0), far = run_on_indices (node, d, FAR);
  const CleaveTensorType *type = &node->results[0].type;
  CleaveView a = cleave_view_tensor (near), b = cleave_view_tensor (far);
  gint64 at[CLEAVE_MAX_RANK], n = 0;

  for (gint64 i = 0; i < type->shape.dim[d]; i++)
    sources->at[d][i] = UNKNOWN;
  CLEAVE_EACH_INDEX (at, &type->shape)
    {
      gint32 from = *(gint32 *) cleave_view_at (&a, at);
      gint64 *source = &sources->at[d][at[d]];

      if (*(gint32 *) cleave_view_at (&b, at) == from)
        sources->filled = (gsize) n * cleave_element_size (type->element);
      else if (*source == UNKNOWN)
        *source = from;
      else if (*source != from)
        return FALSE;
      n++;
    }
  for (gint64 i = 0; i < type->shape.dim[d]; i++)
    if (sources->at[d][i] == UNKNOWN)
      sources->at[d][i] = FILLED;
  return TRUE;
}

static gboolean
is_shifted (const gint64 *at, gint64 n, gint64 extent, gint64 shift)
{
  for (gint64 i = 0; i < n; i++)
    if (at[i] != (i + shift >= 0 && i + shift < extent ? i + shift : FILLED))
      return FALSE;
  return TRUE;
}

/* Appends the C initializer of a CleaveAxis. */
static void
print_axis (const gint64 *at, gint64 n, gint64 extent, CleaveBundleLayer *layer, GString *fields)
{
  g_autofree guint16 *table = g_new (guint16, (gsize) n);
  gint64 first = 0;

  while (first < n && at[first] == FILLED)
    first++;
  if (first == n || is_shifted (at, n, extent, at[first] - first))
    {
      g_string_append_printf (fields, "{ NULL, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }, ",
                              first == n ? extent : at[first] - first, extent);
      return;
    }
  for (gint64 i = 0; i < n; i++)
    table[i] = at[i] == FILLED ? G_MAXUINT16 : (guint16) at[i];
  g_string_append_printf (fields, "{ %s, 0, %" G_GINT64_FORMAT " }, ",
                          cleave_bundle_layer_add_array (layer, "uint16_t", table, (gsize) n),
                          extent);
}

/* Appends the field `fill`: runs the node on zeros, and reads the result at byte offset `at`. */
static void
print_fill (const CleaveNode *node, gsize at, GString *fields)
{
  g_auto (CleaveNodeCall) call = { 0 };
  g_autofree CleaveView *views = g_new0 (CleaveView, node->n_operands);
  const CleaveTensorType *y = &node->results[0].type;
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&node->operands[0].result->type, NULL);
  g_autoptr (CleaveTensor) result = cleave_tensor_new (y, NULL);
  CleaveView to = cleave_view_tensor (result);

  g_string_append (fields, ", .fill = { ");
  if (at != G_MAXSIZE)
    {
      const guint8 *bytes = cleave_tensor_get_data (result);

      memset (cleave_tensor_get_mutable_data (x), 0,
              (gsize) cleave_tensor_type_n_bytes (&node->operands[0].result->type));
      views[0] = cleave_view_tensor (x);
      for (guint i = 1; i < node->n_operands; i++)
        if (node->operands[i].result != NULL)
          views[i] = cleave_view_dense (&node->operands[i].result->type,
                                        (gpointer) cleave_bundle_constant (node, i));
      node->op->compute (cleave_node_call_init (&call, node), views, &to);
      for (gsize i = 0; i < cleave_element_size (y->element); i++)
        g_string_append_printf (fields, "%u, ", bytes[at + i]);
    }
  else
    g_string_append (fields, "0 ");
  g_string_append (fields, "}");
}

/* Returns whether the op's dimension map covers the source at[i] (Sources) of each index i of the
 * result. A Pad that repeats border elements has sources that the map does not cover. */
static gboolean
are_mapped (const CleaveNode *node, guint d, const gint64 *at)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveDimMap maps[CLEAVE_MAX_RANK];

  node->op->maps (cleave_node_call_init (&call, node), 0, maps);
  maps[d].from = 0;
  for (gint64 i = 0; i < node->results[0].type.shape.dim[d]; i++)
    {
      CleaveSpan index = { i, i + 1 }, span = cleave_dim_map_apply (&maps[d], &index);

      if (at[i] != FILLED && maps[d].stride != 0 && (at[i] < span.begin || at[i] >= span.end))
        return FALSE;
    }
  return TRUE;
}

/* Returns whether an image of the result copies elements of another image. */
static gboolean
mixes_images (const CleaveNode *node, const Sources *sources)
{
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  const CleaveShape *shape = &node->results[0].type.shape;
  const CleaveShape *x = &node->operands[0].result->type.shape;

  for (gint d = 0; d < (gint) shape->rank; d++)
    if (d != y.row_dim && d != y.column_dim && d != y.channel_dim &&
        (x->dim[d] != shape->dim[d] || !is_shifted (sources->at[d], shape->dim[d], x->dim[d], 0)))
      return TRUE;
  return FALSE;
}

/* Returns whether are_mapped() is FALSE for the rows or the columns of the result. */
static gboolean
mirrors (const CleaveNode *node, const Sources *sources)
{
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  const gint dims[] = { y.row_dim, y.column_dim };

  for (guint i = 0; i < G_N_ELEMENTS (dims); i++)
    if (dims[i] >= 0 && !are_mapped (node, (guint) dims[i], sources->at[dims[i]]))
      return TRUE;
  return FALSE;
}

static gboolean
set_move (const CleaveNode *node, const Sources *sources, CleaveBundleLayer *layer, GError **error)
{
  CleaveBundleImage x = cleave_bundle_image (node->operands[0].result);
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  const gint dims[] = { y.row_dim, y.column_dim, y.channel_dim };
  const gint64 extents[] = { x.rows, x.columns, x.channels };
  const CleaveShape *shape = &node->results[0].type.shape;
  const gint64 only[] = { 0 };
  g_autoptr (GString) fields = g_string_new (".axes = { ");

  if (mixes_images (node, sources))
    return cleave_bundle_fail (node, error,
                               "a bundle computes image by image, but this node fills images of a "
                               "batch; use a batch of 1");
  if (mirrors (node, sources))
    return cleave_bundle_fail (node, error,
                               "a bundle has no kernel that repeats or mirrors elements and fills "
                               "others");
  for (guint i = 0; i < 3; i++)
    print_axis (dims[i] < 0 ? only : sources->at[dims[i]], dims[i] < 0 ? 1 : shape->dim[dims[i]],
                extents[i], layer, fields);
  g_string_append_printf (fields, "}, .channels = %" G_GINT64_FORMAT ", .size = %u", y.channels,
                          (guint) cleave_element_size (node->results[0].type.element));
  print_fill (node, sources->filled, fields);
  cleave_bundle_layer_set_kernel (layer, "move", "cleave_move");
  cleave_bundle_layer_set_params (layer, "CleaveMove", fields->str);
  return TRUE;
}

gboolean
cleave_bundle_describe_move (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveShape *x = &node->operands[0].result->type.shape, *y = &node->results[0].type.shape;
  Sources sources = { .filled = G_MAXSIZE };
  gboolean is_ok = TRUE;

  if (!cleave_bundle_need_constants (node, 1, node->n_operands, "indices", error))
    return FALSE;
  if (x->rank != y->rank)
    return cleave_bundle_describe_reorder (node, layer, error);
  for (guint d = 0; d < x->rank; d++)
    if (x->dim[d] > G_MAXUINT16 || y->dim[d] > G_MAXUINT16)
      return cleave_bundle_fail (node, error, "dimension %u exceeds %d, the limit of a bundle", d,
                                 G_MAXUINT16);
  for (guint d = 0; d < x->rank; d++)
    {
      sources.at[d] = g_new (gint64, (gsize) y->dim[d]);
      is_ok = is_ok && find_sources_in (node, d, &sources);
    }
  if (is_ok && (mixes_images (node, &sources) || mirrors (node, &sources)) &&
      sources.filled == G_MAXSIZE)
    is_ok = cleave_bundle_describe_reorder (node, layer, error);
  else
    is_ok = is_ok ? set_move (node, &sources, layer, error)
                  : cleave_bundle_fail (node, error,
                                        "a bundle has no kernel for this order of elements");
  for (guint d = 0; d < x->rank; d++)
    g_free (sources.at[d]);
  return is_ok;
}

static gboolean
describe_resize (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResizeAttrs *a = node->attrs;

  if (a->mode != CLEAVE_RESIZE_NEAREST)
    return cleave_bundle_describe_linear (node, layer, error);
  return cleave_bundle_describe_move (node, layer, error);
}

/* Adds the elements of `x`, a constant that is one image, as an array in the memory order of
 * images. Returns the C expression of the array. */
static const char *
add_image (const CleaveResult *x, CleaveBundleLayer *layer)
{
  CleaveBundleImage image = cleave_bundle_image (x);
  CleaveTensor *tensor = cleave_node_get_constant (x->node);
  CleaveView view = cleave_view_tensor (tensor);
  gsize size = cleave_element_size (x->type.element);
  gsize n = (gsize) cleave_shape_n_elements (&x->type.shape);
  g_autofree char *memory = g_malloc (n * size);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &x->type.shape)
    {
      gint64 row = image.row_dim < 0 ? 0 : at[image.row_dim];
      gint64 column = image.column_dim < 0 ? 0 : at[image.column_dim];
      gint64 channel = image.channel_dim < 0 ? 0 : at[image.channel_dim];

      memcpy (memory + (gsize) ((row * image.columns + column) * image.channels + channel) * size,
              cleave_view_at (&view, at), size);
    }
  return cleave_bundle_layer_add_array (layer, "uint8_t", memory, n * size);
}

/* For a join of batches: folds all images into one image, and sets `row` to the row at which a part
 * begins. `before`: sum of the extents of earlier parts. Returns FALSE if the part has gaps. */
static gboolean
find_image_place (const CleaveNode *node, gint64 before, CleaveBundleLayer *layer, gint64 *row)
{
  const CleaveAxisAttrs *a = node->attrs;
  const CleaveShape *shape = &node->results[0].type.shape;
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);

  *row = before * y.rows;
  for (gint d = 0; d < (gint) shape->rank; d++)
    if (d != y.row_dim && d != y.column_dim && d != y.channel_dim)
      {
        if (d < a->axis && shape->dim[d] > 1)
          return FALSE;
        if (d > a->axis)
          *row *= shape->dim[d];
      }
  cleave_bundle_layer_set_folded (layer);
  return TRUE;
}

static gboolean
describe_concat (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveAxisAttrs *a = node->attrs;
  guint part = cleave_bundle_layer_get_part (layer);
  const CleaveResult *x = node->operands[part].result;
  CleaveBundleImage image = cleave_bundle_image (x), y = cleave_bundle_image (&node->results[0]);
  gint64 before = 0, place[3] = { 0 };
  const char *constant = "NULL";
  g_autofree char *fields = NULL;

  for (guint i = 0; i < part; i++)
    before += node->operands[i].result->type.shape.dim[a->axis];
  if (a->axis == y.row_dim)
    place[0] = before;
  else if (a->axis == y.column_dim)
    place[1] = before;
  else if (a->axis == y.channel_dim)
    place[2] = before * (gint64) cleave_element_size (x->type.element);
  else if (!find_image_place (node, before, layer, &place[0]))
    return cleave_bundle_fail (node, error,
                               "a bundle joins images of a batch along the first dimension whose "
                               "extent is more than 1");
  if (image.images > 1 && cleave_node_is_fixed (x->node))
    return cleave_bundle_fail (node, error, "a bundle needs a batch of 1 for a constant part");
  if (cleave_node_is_fixed (x->node))
    constant = add_image (x, layer);
  fields = g_strdup_printf (
      ".constant = %s, .row = %" G_GINT64_FORMAT ", .rows = %" G_GINT64_FORMAT
      ", .column = %" G_GINT64_FORMAT ", .columns = %" G_GINT64_FORMAT
      ", .offset = %" G_GINT64_FORMAT ", .bytes = %u, .pixel_bytes = %u, .is_first = %d",
      constant, place[0], layer->is_folded ? image.images * image.rows : image.rows, place[1],
      image.columns, place[2], (guint) image.pixel_bytes, (guint) y.pixel_bytes, part == 0);
  cleave_bundle_layer_set_kernel (layer, "join", "cleave_join");
  cleave_bundle_layer_set_params (layer, "CleaveJoin", fields);
  if (part > 0)
    cleave_bundle_layer_set_in_place (layer, cleave_node_is_fixed (x->node) ? 0 : 1);
  return TRUE;
}

static gboolean
describe_transpose (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTransposeAttrs *a = node->attrs;
  CleaveBundleImage x = cleave_bundle_image (node->operands[0].result);
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  const gint from[] = { x.row_dim, x.column_dim, x.channel_dim };
  const gint to[] = { y.row_dim, y.column_dim, y.channel_dim };
  gint rank = (gint) node->results[0].type.shape.rank;
  guint places[3] = { 3, 3, 3 };
  g_autofree char *fields = NULL;

  for (gint d = 0; d < rank; d++)
    {
      gint source = a->perm.n == 0 ? rank - 1 - d : (gint) a->perm.v[d];
      gboolean is_image = d != to[0] && d != to[1] && d != to[2];

      for (guint i = 0; i < 3 && !is_image; i++)
        for (guint j = 0; j < 3; j++)
          if (from[i] == source && to[j] == d)
            places[i] = j;
      if (is_image && node->results[0].type.shape.dim[d] > 1 && d != source)
        return cleave_bundle_describe_reorder (node, layer, error);
    }
  if (x.images != y.images)
    return cleave_bundle_describe_reorder (node, layer, error);
  fields = g_strdup_printf (".from = { %u, %u, %u }, .size = %u, .channels = %" G_GINT64_FORMAT
                            ", .y_channels = %" G_GINT64_FORMAT,
                            places[0], places[1], places[2],
                            (guint) cleave_element_size (node->results[0].type.element), x.channels,
                            y.channels);
  cleave_bundle_layer_set_kernel (layer, "transpose", "cleave_transpose");
  cleave_bundle_layer_set_params (layer, "CleaveTranspose", fields);
  return TRUE;
}

static gboolean
describe_depth_to_space (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveDepthAttrs *a = node->attrs;
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  g_autofree char *fields = NULL;

  if (y.channel_dim != 1)
    return cleave_bundle_fail (node, error, "a bundle needs images with channels in dimension 1");
  fields = g_strdup_printf (".block = %" G_GINT64_FORMAT ", .channels = %" G_GINT64_FORMAT
                            ", .size = %u, .is_columns_first = %d",
                            a->blocksize, y.channels,
                            (guint) cleave_element_size (node->results[0].type.element),
                            a->mode == CLEAVE_DEPTH_DCR);
  cleave_bundle_layer_set_kernel (layer, "depth-to-space", "cleave_depth_to_space");
  cleave_bundle_layer_set_params (layer, "CleaveBlocks", fields);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_pad = { "Pad", cleave_bundle_describe_move };
const CleaveBundleOp cleave_bundle_op_slice = { "Slice", cleave_bundle_describe_move };
const CleaveBundleOp cleave_bundle_op_tile = { "Tile", cleave_bundle_describe_move };
const CleaveBundleOp cleave_bundle_op_expand = { "Expand", cleave_bundle_describe_move };
const CleaveBundleOp cleave_bundle_op_resize = { "Resize", describe_resize };
const CleaveBundleOp cleave_bundle_op_concat = { "Concat", describe_concat };
const CleaveBundleOp cleave_bundle_op_transpose = { "Transpose", describe_transpose };
const CleaveBundleOp cleave_bundle_op_depth_to_space = { "DepthToSpace", describe_depth_to_space };
