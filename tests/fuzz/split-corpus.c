/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The corpus of fuzz-split: texts that use each option at least once. */

#include <string.h>

#include "fuzz.h"

static const char *const texts[] = {
  "dH,W\nn3,2", "d2\nz4\na2\nf",       "dN,-1\ns1,-1/2,7",
  "dC\ns2,2,2", "d-2\nw1,2.5,3e0\nc2", "r0:2,0:6,0:4,0:9/0:2,0:6,3:7,0:9",
  "m2KiB",      "dH\nn2\nm1MiB",
};

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_ptr_array_add (files, g_bytes_new_static (texts[i], strlen (texts[i])));
  return files;
}

/* Checks only the first option. That is enough to distinguish texts of options from garbage. */
gboolean
fuzz_is_accepted (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = g_strndup (data, size);

  return *text != '\0' && strchr ("dnzswrmacf", *text) != NULL;
}
