/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What becomes of the numbers 0 to 255 of a picture: (number - mean) * scale, with one mean and
 * scale for all channels or one for each; lists as texts, or NULL. */
typedef struct
{
  const char *mean, *scale;
} CleaveImageOptions;

/* Whether the name is that of a picture: .png, .jpg or .jpeg. */
gboolean cleave_image_is_name (const char *path);

/* The picture as a tensor of this type: [1, C, H, W], [1, H, W, C], the same without the 1, or
 * [H, W]; C is 1 (luma), 3 (RGB) or 4 (RGB and alpha).  It is scaled to H x W. */
CleaveTensor *cleave_image_load (const char *path,
                                 const CleaveTensorType *type,
                                 const CleaveImageOptions *options,
                                 GError **error);
