/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "draw.h"

#include "../ir/op.h"

#ifdef CLEAVE_HAVE_GVC

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

GBytes *
cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error)
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
  if (bytes == NULL)
    {
      const char *message = cleave_graphviz_get_message ();

      cleave_fail (error, CLEAVE_ERROR_OPTION, "Graphviz cannot draw '%s': %s", path,
                   message == NULL ? "it does not say why" : message);
    }
  return bytes;
}

#else

GBytes *
cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error)
{
  cleave_fail (
      error, CLEAVE_ERROR_OPTION,
      "cannot draw '%s': Cleave was built without Graphviz's libgvc, which makes .%s files", path,
      format);
  return NULL;
}

#endif
