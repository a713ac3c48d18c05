/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The module that render.c loads. It is the only code that needs libgvc and its dependencies. */

#include "render.h"

#include <gmodule.h>
#include <graphviz/gvc.h>

/* Do not report memory that Graphviz and its font libraries never free. */
#ifdef __has_feature /* clang has __has_feature, gcc a macro */
#if __has_feature(address_sanitizer)
#define COUNTS_LEAKS
#endif
#elif defined __SANITIZE_ADDRESS__
#define COUNTS_LEAKS
#endif
#ifdef COUNTS_LEAKS
#include <sanitizer/lsan_interface.h>
#define FORGIVE_LEAKS() __lsan_disable ()
#define COUNT_LEAKS() __lsan_enable ()
#else
#define FORGIVE_LEAKS()
#define COUNT_LEAKS()
#endif

G_MODULE_EXPORT CleaveRenderFunc cleave_render_module;

/* Returns the context of Graphviz, one for the process. Graphviz's pango plug-in caches the last
 * font, which would be freed with its context. Call it under the lock. */
static GVC_t *
get_context (void)
{
  static GVC_t *context;

  if (context == NULL)
    context = gvContext ();
  return context;
}

/* Limits of a PNG. Cairo has 15 bits for a coordinate, and more than 1 GiB of pixels (4 bytes each)
 * is a mistake. */
#define MAX_PIXELS 32767
#define MAX_AREA (1 << 28)
#define PIXELS_PER_POINT (96.0 / 72.0)

/* Returns whether a PNG would exceed the limits; Graphviz would scale it down until nobody can read
 * it. */
static gboolean
is_too_large (Agraph_t *drawing, const char *format, char **why)
{
  double width = GD_bb (drawing).UR.x * PIXELS_PER_POINT;
  double height = GD_bb (drawing).UR.y * PIXELS_PER_POINT;

  if (!g_str_equal (format, "png") ||
      (width <= MAX_PIXELS && height <= MAX_PIXELS && width * height <= MAX_AREA))
    return FALSE;
  *why = g_strdup_printf ("it would have %.0f x %.0f pixels, and a PNG has at most %d each way and "
                          "%d together: draw an .svg, an overview, or what is around a node",
                          width, height, MAX_PIXELS, MAX_AREA);
  return TRUE;
}

static GBytes *
take_data (GVC_t *context, Agraph_t *drawing, const char *format)
{
  char *data = NULL;
  unsigned length = 0;
  GBytes *bytes = NULL;

  if (gvRenderData (context, drawing, format, &data, &length) == 0 && data != NULL)
    bytes = g_bytes_new (data, length);
  gvFreeRenderData (data);
  return bytes;
}

static GBytes *
render (Agraph_t *drawing, const char *engine, const char *format, char **why)
{
  GVC_t *context;
  GBytes *bytes = NULL;

  FORGIVE_LEAKS ();
  context = get_context ();
  if (gvLayout (context, drawing, engine) == 0)
    {
      if (format == NULL)
        {
          attach_attrs (drawing);
          bytes = g_bytes_new (NULL, 0);
        }
      else if (!is_too_large (drawing, format, why))
        bytes = take_data (context, drawing, format);
      gvFreeLayout (context, drawing);
    }
  COUNT_LEAKS ();
  return bytes;
}

CleaveRenderFunc cleave_render_module = render;
