/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The module that render.c loads. Only this module needs libgvc and its dependencies. */

#define _GNU_SOURCE /* declares dladdr() */

#include "render.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <graphviz/gvc.h>

/* Tells the leak sanitizer not to report memory that Graphviz and its font libraries never free. */
#ifdef __has_feature /* clang has __has_feature, gcc has a macro */
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

/* Returns the folder of Graphviz's plug-ins beside this module, as in the Python package; NULL if
 * there is none. */
static char *
find_own_plugins (void)
{
  Dl_info info;
  g_autofree char *own =
      g_path_get_dirname (dladdr (&cleave_render_module, &info) != 0 ? info.dli_fname : "");
  char *folder = g_build_filename (own, "graphviz", NULL);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    g_clear_pointer (&folder, g_free);
  return folder;
}

/* Loads one plug-in. For example, `libgvplugin_core.so` exports `gvplugin_core_LTX_library`. */
static void
add_plugin (GVC_t *context, const char *folder, const char *file)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *name = g_strndup (file + strlen ("lib"), strcspn (file, ".") - strlen ("lib"));
  g_autofree char *symbol = g_strconcat (name, "_LTX_library", NULL);
  GModule *module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer library;

  if (module == NULL)
    return;
  g_module_make_resident (module);
  if (g_module_symbol (module, symbol, &library))
    gvAddLibrary (context, library);
}

/* Returns a context of Graphviz with only the plug-ins in `folder`. The plug-ins of the system need
 * the system's libgvc, and two copies of libgvc in one process crash. */
static GVC_t *
new_bundled_context (const char *folder)
{
  GVC_t *context = gvContextPlugins (NULL, FALSE);
  g_autoptr (GDir) plugins = g_dir_open (folder, 0, NULL);
  const char *file;

  while (plugins != NULL && (file = g_dir_read_name (plugins)) != NULL)
    if (g_str_has_prefix (file, "libgvplugin_"))
      add_plugin (context, folder, file);
  return context;
}

/* Returns the context of Graphviz. The process has one context and never frees this context:
 * Graphviz's pango plug-in keeps a pointer to the last font even after the context of the font is
 * freed. The caller must hold the lock of Graphviz (cleave_graphviz_lock()). */
static GVC_t *
get_context (void)
{
  static GVC_t *context;
  g_autofree char *folder = context == NULL ? find_own_plugins () : NULL;

  if (context == NULL)
    context = folder == NULL ? gvContext () : new_bundled_context (folder);
  return context;
}

/* Largest width and height of a PNG, in pixels: Cairo stores a coordinate in 15 bits. */
#define MAX_PIXELS 32767
/* Largest number of pixels of a PNG: 1 GiB at 4 bytes for each pixel. A larger picture is surely a
 * mistake. */
#define MAX_AREA (1 << 28)
#define PIXELS_PER_POINT (96.0 / 72.0)

/* Returns whether a PNG would exceed MAX_PIXELS or MAX_AREA, and sets `why` to the reason. Graphviz
 * would scale a picture of this size down until it is unreadable. */
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
