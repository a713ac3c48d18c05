/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the image of a value (CleaveBundleImage in op.h): its rows, columns and channels in
 * memory. */

#include "op.h"

gboolean
cleave_bundle_has_channels_first (const CleaveGraph *graph, guint rank)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
      g_auto (CleaveNodeCall) call = { 0 };
      const char *letters;

      if (node->op->layout == NULL || x == NULL || x->type.shape.rank != rank)
        continue;
      letters = node->op->layout (cleave_node_call_init (&call, node));
      if (letters != NULL && g_str_has_prefix (letters, "NC"))
        return TRUE;
    }
  return FALSE;
}

static gint64
extent (const CleaveShape *shape, gint dim)
{
  return dim < 0 ? 1 : shape->dim[dim];
}

CleaveBundleImage
cleave_bundle_image (const CleaveResult *value)
{
  const CleaveShape *shape = &value->type.shape;
  gint rank = (gint) shape->rank;
  gboolean is_first =
      rank >= 3 && cleave_bundle_has_channels_first (value->node->graph, shape->rank);
  gint spatial = MIN (rank - 2, 2), channel = is_first ? 1 : rank - 1;
  gint end = is_first ? rank : rank - 1; /* index after the last spatial dimension */
  CleaveBundleImage image = { .images = 1, .row_dim = -1, .column_dim = -1 };

  if (rank == 2)
    image.row_dim = 0;
  else if (spatial == 1)
    image.row_dim = end - 1;
  else if (spatial == 2)
    {
      image.row_dim = end - 2;
      image.column_dim = end - 1;
    }
  image.rows = extent (shape, image.row_dim);
  image.columns = extent (shape, image.column_dim);
  image.channels = extent (shape, rank == 0 ? -1 : channel);
  for (gint d = 0; d < rank; d++)
    if (d != channel && d != image.row_dim && d != image.column_dim)
      image.images *= shape->dim[d];
  image.channel_dim = rank == 0 ? -1 : channel;
  image.pixel_bytes = (gsize) image.channels * cleave_element_size (value->type.element);
  return image;
}

gint64
cleave_bundle_offset (const CleaveBundleImage *image, const CleaveShape *shape, const gint64 *at)
{
  gint64 row = image->row_dim < 0 ? 0 : at[image->row_dim], n = 0;
  gint64 column = image->column_dim < 0 ? 0 : at[image->column_dim];
  gint64 channel = image->channel_dim < 0 ? 0 : at[image->channel_dim];

  for (gint d = 0; d < (gint) shape->rank; d++)
    if (d != image->channel_dim && d != image->row_dim && d != image->column_dim)
      n = n * shape->dim[d] + at[d];
  return ((n * image->rows + row) * image->columns + column) * image->channels + channel;
}

gconstpointer
cleave_bundle_constant (const CleaveNode *node, guint operand)
{
  const CleaveResult *value = operand < node->n_operands ? node->operands[operand].result : NULL;

  return value == NULL ? NULL : cleave_tensor_get_data (cleave_node_get_constant (value->node));
}
