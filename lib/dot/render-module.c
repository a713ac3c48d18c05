/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The module that render.c loads: the only code that needs libgvc, and what that pulls in. */

#include "render.h"

#include <gmodule.h>
#include <graphviz/gvc.h>

/* What Graphviz and the fonts that it asks for keep for ever is not ours to be told of. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define FORGIVE_LEAKS() __lsan_disable ()
#define COUNT_LEAKS() __lsan_enable ()
#else
#define FORGIVE_LEAKS()
#define COUNT_LEAKS()
#endif

G_MODULE_EXPORT CleaveRenderFunc cleave_render_module;

/* One for the whole process, under the lock: Graphviz's pango plug-in remembers the font that it
 * saw last, which would be freed with the context that it came from. */
static GVC_t *
get_context (void)
{
  static GVC_t *context;

  if (context == NULL)
    context = gvContext ();
  return context;
}

static GBytes *
render (Agraph_t *drawing, const char *format)
{
  GVC_t *context;
  GBytes *bytes = NULL;
  char *data = NULL;
  unsigned length = 0;

  FORGIVE_LEAKS ();
  context = get_context ();
  if (gvLayout (context, drawing, "dot") == 0)
    {
      if (gvRenderData (context, drawing, format, &data, &length) == 0 && data != NULL)
        bytes = g_bytes_new (data, length);
      gvFreeRenderData (data);
      gvFreeLayout (context, drawing);
    }
  COUNT_LEAKS ();
  return bytes;
}

CleaveRenderFunc cleave_render_module = render;
