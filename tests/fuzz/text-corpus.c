/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The corpus of fuzz-text: texts with every element of the syntax. */

#include <string.h>

#include "../../lib/text/reader.h"
#include "fuzz.h"

static const char *const texts[] = {
  "graph g\n%0 = Input : float32 1x4x8x8  # x\n%1 = Constant seed=1 : float32 4x1x3x3  # w -> v\n"
  "%2 = Conv %0, %1 pads=1,1,1,1 group=4 : float32 1x4x8x8  # \"c d\"\n"
  "%3, %4 = Split %2 axis=1 split=1,3  # s -> a, b\n%5 = Concat %4, %3 axis=1\noutput %5  # y\n",
  "%x = Input : int64 4x6\n%y = Slice %x 3:-5:-1,0:6:2\n%z = Slice %x 0:4,0:3\n"
  "%w = Slice %x 0:4,3:6\n%a = Assemble %z, %w 0:4,0:3 0:4,3:6\n%r = Reshape %a shape=24\n"
  "%t = Transpose %x perm=1,0\noutput %y\noutput %r\noutput %t\n",
  "%x = Input : float32 2x3\n%y = Input : float32 3x4\n%c = Clip %x min=-0.5 "
  "max=0x7ff0000000000000\n"
  "%e = Einsum %x, %x equation=\"ij, kj -> ik\"\n%l = LeakyRelu %c alpha=0.100000001\n"
  "%f = ConstantOfShape shape=2,3 value=[float32 1=0x7fc00001]\n%s = Add %f, %l\n"
  "%k = Cast %s to=float16\n%h = Constant value=0x3c00,0x3c01 : float16 2\n"
  "%g = Gemm %x, %y, - alpha=2\noutput %e\noutput %k\noutput %h\noutput %g\n",
};

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_ptr_array_add (files, g_bytes_new_static (texts[i], strlen (texts[i])));
  return files;
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = g_strndup (data, size);
  g_autoptr (CleaveGraph) graph = cleave_graph_parse_within (text, NULL, 100000, NULL);

  return graph != NULL;
}
