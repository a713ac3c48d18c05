/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "draw.h"

#include "../ir/op.h"

#ifdef CLEAVE_HAVE_GVC

#include <graphviz/gvc.h>

GBytes *
cleave_render (Agraph_t *drawing, const char *format, const char *path, GError **error)
{
  GVC_t *context = gvContext ();
  GBytes *bytes = NULL;
  char *data = NULL;
  unsigned length = 0;

  if (gvLayout (context, drawing, "dot") == 0)
    {
      if (gvRenderData (context, drawing, format, &data, &length) == 0 && data != NULL)
        bytes = g_bytes_new (data, length);
      gvFreeRenderData (data);
      gvFreeLayout (context, drawing);
    }
  gvFreeContext (context);
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
