/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Scales a picture to the size of an input, and converts each channel of a pixel to an element:
 * (channel - mean) * scale. The input has the layout CHW or HWC. */

#include "image.h"

#include "arguments.h"

#include <math.h>

#ifdef CLEAVE_HAS_IMAGES
#include <gdk-pixbuf/gdk-pixbuf.h>
#endif

#define MAX_CHANNELS 4

gboolean
cleave_image_is_name (const char *path)
{
  static const char *const endings[] = { ".png", ".jpg", ".jpeg" };
  g_autofree char *lower = g_ascii_strdown (path, -1);

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (lower, endings[i]))
      return TRUE;
  return FALSE;
}

#ifdef CLEAVE_HAS_IMAGES

/* An input that is a picture may have at most this height and width, in pixels. */
#define MAX_SIDE 32768
/* A picture may have at most this many pixels: a larger one would fill the memory. */
#define MAX_PIXELS (256 * 1024 * 1024)

/* The layout of the tensor: extents, and strides in elements. */
typedef struct
{
  gint64 channels, height, width, c_stride, y_stride, x_stride;
} Plane;

static gboolean
is_channels (gint64 n)
{
  return n == 1 || n == 3 || n == 4;
}

static gboolean
find_plane (const CleaveShape *shape, Plane *plane)
{
  const gint64 *dim = shape->dim + (shape->rank == 4);

  if (shape->rank == 2)
    *plane = (Plane){ 1, dim[0], dim[1], 0, dim[1], 1 };
  else if ((shape->rank == 3 || (shape->rank == 4 && shape->dim[0] == 1)) && is_channels (dim[0]))
    *plane = (Plane){ dim[0], dim[1], dim[2], dim[1] * dim[2], dim[2], 1 };
  else if ((shape->rank == 3 || (shape->rank == 4 && shape->dim[0] == 1)) && is_channels (dim[2]))
    *plane = (Plane){ dim[2], dim[0], dim[1], 1, dim[1] * dim[2], dim[2] };
  else
    return FALSE;
  return plane->height > 0 && plane->height <= MAX_SIDE && plane->width > 0 &&
         plane->width <= MAX_SIDE;
}

/* Parses `text` to `list`: one number for each channel, or one number for all channels. If `text`
 * is NULL, all numbers are `usual`. */
static gboolean
parse_list (const char *option,
            const char *text,
            double usual,
            gint64 channels,
            double *list,
            GError **error)
{
  g_auto (GStrv) words = text == NULL ? NULL : g_strsplit (text, ",", -1);
  guint n = words == NULL ? 0 : g_strv_length (words);

  for (guint i = 0; i < MAX_CHANNELS; i++)
    list[i] = usual;
  if (text == NULL)
    return TRUE;
  if (n != 1 && n != channels)
    return cleave_argument_fail (
        error, "%s expects 1 number or %" G_GINT64_FORMAT ", one for each channel, not '%s'",
        option, channels, text);
  for (guint i = 0; i < channels; i++)
    {
      const char *word = words[n == 1 ? 0 : i];
      char *end;

      list[i] = g_ascii_strtod (word, &end);
      if (end == word || *end != '\0' || !isfinite (list[i]))
        return cleave_argument_fail (error, "%s expects numbers such as 0.5, not '%s'", option,
                                     word);
    }
  return TRUE;
}

/* Returns the picture in a file, scaled to the size of the tensor; NULL on error. */
static GdkPixbuf *
load_scaled (const char *path, const Plane *plane, GError **error)
{
  int width = 0, height = 0;
  g_autoptr (GdkPixbuf) whole = NULL;
  GdkPixbuf *scaled;

  if (gdk_pixbuf_get_file_info (path, &width, &height) != NULL &&
      (gint64) width * height > MAX_PIXELS)
    {
      cleave_argument_fail (error, "'%s' has %d x %d pixels, which is too many", path, width,
                            height);
      return NULL;
    }
  whole = gdk_pixbuf_new_from_file (path, error);
  if (whole == NULL)
    {
      g_prefix_error (error, "'%s': ", path);
      return NULL;
    }
  scaled =
      gdk_pixbuf_scale_simple (whole, (int) plane->width, (int) plane->height, GDK_INTERP_BILINEAR);
  if (scaled == NULL)
    cleave_argument_fail (error, "'%s': there is no memory for %d x %d pixels", path,
                          (int) plane->width, (int) plane->height);
  return scaled;
}

/* Returns channel c of a pixel, from 0 to 255. If `channels` is 1, returns the luma of the pixel by
 * ITU-R BT.601, as JPEG does. The fourth channel is 255 if the picture has no alpha. */
static double
get_channel (const guchar *pixel, int n, gint64 channels, gint64 c)
{
  if (channels == 1)
    return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
  return c < n ? pixel[c] : 255;
}

static void
put (CleaveTensor *tensor, gint64 at, double value)
{
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  switch (cleave_tensor_get_type (tensor)->element)
    {
    case CLEAVE_FLOAT64:
      ((double *) data)[at] = value;
      break;
    case CLEAVE_UINT8:
      ((guint8 *) data)[at] = (guint8) CLAMP (rint (value), 0, G_MAXUINT8);
      break;
    case CLEAVE_INT8:
      ((gint8 *) data)[at] = (gint8) CLAMP (rint (value), G_MININT8, G_MAXINT8);
      break;
    default:
      ((float *) data)[at] = (float) value;
    }
}

static void
fill (CleaveTensor *tensor,
      const Plane *plane,
      const GdkPixbuf *picture,
      const double *mean,
      const double *scale)
{
  const guchar *pixels = gdk_pixbuf_read_pixels (picture);
  int n = gdk_pixbuf_get_n_channels (picture), stride = gdk_pixbuf_get_rowstride (picture);

  for (gint64 y = 0; y < plane->height; y++)
    for (gint64 x = 0; x < plane->width; x++)
      for (gint64 c = 0; c < plane->channels; c++)
        put (tensor, c * plane->c_stride + y * plane->y_stride + x * plane->x_stride,
             (get_channel (pixels + y * stride + x * n, n, plane->channels, c) - mean[c]) *
                 scale[c]);
}

static gboolean
takes_pixels (CleaveElement element)
{
  return element == CLEAVE_FLOAT32 || element == CLEAVE_FLOAT64 || element == CLEAVE_UINT8 ||
         element == CLEAVE_INT8;
}

CleaveTensor *
cleave_image_load (const char *path,
                   const CleaveTensorType *type,
                   const CleaveImageOptions *options,
                   GError **error)
{
  /* Default scale: integers get the bytes unchanged; float models were mostly trained on 0 to 1. */
  double usual = type->element == CLEAVE_FLOAT32 || type->element == CLEAVE_FLOAT64 ? 1 / 255.0 : 1;
  double mean[MAX_CHANNELS], scale[MAX_CHANNELS];
  g_autofree char *text = cleave_tensor_type_to_string (type);
  g_autoptr (GdkPixbuf) picture = NULL;
  CleaveTensor *tensor;
  Plane plane;

  if (!takes_pixels (type->element) || !find_plane (&type->shape, &plane))
    {
      cleave_argument_fail (
          error,
          "'%s': a picture becomes 1xCxHxW or 1xHxWxC of float32, float64, uint8 or "
          "int8, with 1, 3 or 4 channels, not %s",
          path, text);
      return NULL;
    }
  if (!parse_list ("--mean", options->mean, 0, plane.channels, mean, error) ||
      !parse_list ("--scale", options->scale, usual, plane.channels, scale, error))
    return NULL;
  picture = load_scaled (path, &plane, error);
  tensor = picture == NULL ? NULL : cleave_tensor_new (type, error);
  if (tensor != NULL)
    fill (tensor, &plane, picture, mean, scale);
  return tensor;
}

#else

CleaveTensor *
cleave_image_load (const char *path,
                   const CleaveTensorType *type,
                   const CleaveImageOptions *options,
                   GError **error)
{
  cleave_argument_fail (error, "'%s': this cleave was built without GdkPixbuf; give a .npy", path);
  return NULL;
}

#endif
