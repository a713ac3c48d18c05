/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Renders drawings with the module of render-module.c, which is loaded with the first picture
 * (render.h). */

#define _GNU_SOURCE /* declares dladdr() */

#include "render.h"
#include "draw.h"
#include "large.h"

#include "../ir/op.h"

#include <dlfcn.h>
#include <gmodule.h>

#define MODULE "libcleave-render." G_MODULE_SUFFIX

/* Returns the folder in which this library is installed. */
static char *
get_own_folder (void)
{
  static const char here;
  Dl_info info;

  return g_path_get_dirname (dladdr (&here, &info) != 0 ? info.dli_fname : "");
}

/* Opens the module. The folder is CLEAVE_MODULE_DIR if this variable is set; else the folder
 * `cleave` beside the library, or, in a build directory, the folder of the library. */
static GModule *
open_module (void)
{
  const char *folder = g_getenv ("CLEAVE_MODULE_DIR");
  g_autofree char *own = get_own_folder ();
  g_autofree char *installed = g_build_filename (own, "cleave", MODULE, NULL);
  g_autofree char *built = g_build_filename (own, MODULE, NULL);
  g_autofree char *given = folder == NULL ? NULL : g_build_filename (folder, MODULE, NULL);

  if (given == NULL)
    given = g_strdup (g_file_test (installed, G_FILE_TEST_EXISTS) ? installed : built);
  return g_module_open (given, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
}

/* Returns the function that the module exports; NULL if the module cannot be loaded. Loads the
 * module with the first picture and never unloads it, since its dependencies cannot be unloaded. */
static CleaveRenderFunc
get_renderer (void)
{
  static CleaveRenderFunc renderer;
  GModule *module;
  gpointer symbol;

  if (renderer != NULL)
    return renderer;
  module = open_module ();
  if (module == NULL)
    return NULL;
  g_module_make_resident (module);
  if (g_module_symbol (module, "cleave_render_module", &symbol))
    renderer = *(CleaveRenderFunc *) symbol;
  return renderer;
}

/* Renders a drawing that cleave_large_place() lays out. Returns NULL on failure, and sets `why` to
 * the reason if the picture is too large. First runs Graphviz's engine "osage", the fastest engine
 * that computes the sizes of vertices and clusters. Then cleave_large_place() sets the positions.
 * Then the engine "nop2", which keeps these positions, renders the picture. */
static GBytes *
render_large (CleaveRenderFunc renderer, Agraph_t *drawing, const char *format, char **why)
{
  g_autofree char *splines = g_strdup (agget (drawing, (char *) "splines"));
  GBytes *bytes;

  cleave_draw_set (drawing, "splines", "none");
  bytes = renderer (drawing, "osage", NULL, why);
  cleave_draw_set (drawing, "splines", splines == NULL ? "" : splines);
  if (bytes == NULL)
    return NULL;
  cleave_large_place (drawing);
  if (format == NULL)
    return bytes;
  g_bytes_unref (bytes);
  return renderer (drawing, "nop2", format, why);
}

GBytes *
cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error)
{
  CleaveRenderFunc renderer = get_renderer ();
  g_autofree char *why = NULL;
  GBytes *bytes;
  const char *message;

  if (renderer == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "cannot draw '%s': the module " MODULE ", which draws %s, cannot be "
                             "loaded: %s",
                             path,
                             format == NULL                ? "layouts"
                             : g_str_equal (format, "svg") ? ".svg files"
                                                           : ".png files",
                             g_module_error ());
  bytes = agnnodes (drawing) > CLEAVE_LARGE_DRAWING ? render_large (renderer, drawing, format, &why)
                                                    : renderer (drawing, "dot", format, &why);
  message = cleave_graphviz_get_message ();
  if (bytes == NULL && why != NULL)
    cleave_fail (error, CLEAVE_ERROR_OPTION, "cannot draw '%s': %s", path, why);
  else if (bytes == NULL)
    cleave_fail (error, CLEAVE_ERROR_OPTION, "Graphviz cannot draw '%s': %s", path,
                 message == NULL ? "it does not say why" : message);
  return bytes;
}
