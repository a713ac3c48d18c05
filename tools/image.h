/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads PNG and JPEG pictures as inputs of a run. inputs.c calls these functions if the file of
 * --input is a picture. A build without the library gdk-pixbuf refuses pictures. */

#include <cleave/cleave.h>

/* The values of the options --mean and --scale. Each value of a picture, 0 to 255, becomes the
 * element (value - mean) * scale. `mean` and `scale` are texts with one number for all channels, or
 * with a list of one number for each channel. NULL: the default. */
typedef struct
{
  const char *mean, *scale;
} CleaveImageOptions;

/* Returns whether the name ends with .png, .jpg or .jpeg. */
gboolean cleave_image_is_name (const char *path);

/* Returns a picture as a tensor of the given type, scaled to H x W. Returns NULL on error. The
 * shape is [1, C, H, W], [C, H, W], [1, H, W, C], [H, W, C] or [H, W]. C is 1 (luma), 3 (RGB) or 4
 * (RGB and alpha). */
CleaveTensor *cleave_image_load (const char *path,
                                 const CleaveTensorType *type,
                                 const CleaveImageOptions *options,
                                 GError **error);
