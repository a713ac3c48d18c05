/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-copy [WORD]: measures copies between views in GB/s of bytes written. Each copy alternates
 * with a memcpy of the same size. Each figure is the best of many runs on one thread. No figure
 * makes the program fail. With WORD, measures only the copies whose names contain WORD. */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../lib/ir/copy.h"

/* Each copy is repeated for this time, in nanoseconds. */
#define TIME 60000000

static const char *wanted;
static char *from_memory, *to_memory, *flat_memory;

#define MEMORY (96 << 20)

static gint64
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * G_GINT64_CONSTANT (1000000000) + t.tv_nsec;
}

/* Sets the strides of `view`. `order` lists the dimensions in the order of memory, the outermost
 * first, such as "20413". `gap` elements separate the rows of the innermost dimension. */
static void
lay_out (CleaveView *view, const char *order, gint64 gap)
{
  gint64 next = 1;

  for (guint i = view->type.shape.rank; i-- > 0;)
    {
      guint d = (guint) (order[i] - '0');

      view->stride[d] = next;
      next = next * view->type.shape.dim[d] + (i + 1 == view->type.shape.rank ? gap : 0);
    }
}

static void
report (const char *name, const CleaveView *to, const CleaveView *from)
{
  gint64 n_bytes = cleave_tensor_type_n_bytes (&to->type), best = G_MAXINT64, plain = G_MAXINT64;

  for (gint64 end = now () + TIME; now () < end;)
    {
      gint64 begin = now (), middle;

      cleave_view_copy_reshaped (to, from);
      middle = now ();
      best = MIN (best, middle - begin);
      memcpy (to_memory, flat_memory, (gsize) n_bytes);
      plain = MIN (plain, now () - middle);
    }
  printf ("%-44s %8.1f kB %7.1f GB/s %7.1f memcpy %5.0f %%\n", name, (double) n_bytes * 1e-3,
          (double) n_bytes / (double) best, (double) n_bytes / (double) plain,
          100. * (double) plain / (double) best);
}

static gboolean
is_wanted (const char *name)
{
  return wanted == NULL || strstr (name, wanted) != NULL;
}

typedef struct
{
  const char *name;
  CleaveShape shape;
  const char *to, *from;   /* memory orders of the destination and the source */
  gint64 to_gap, from_gap; /* number of unused elements between the rows of the destination, and of
                            * the source */
} Layouts;

static const Layouts layouts[] = {
  { "rows of 16", { 2, { 4096, 16 } }, "01", "01", 0, 16 },
  { "rows of 24", { 2, { 3136, 24 } }, "01", "01", 0, 24 },
  { "rows of 58", { 2, { 784, 58 } }, "01", "01", 58, 0 },
  { "rows of 256", { 2, { 512, 256 } }, "01", "01", 256, 0 },
  { "rows of 4096", { 2, { 1024, 4096 } }, "01", "01", 0, 64 },
  { "turn 56x56 of 64 channels", { 3, { 56, 56, 64 } }, "012", "201", 0, 0 },
  { "turn 64 channels of 56x56", { 3, { 64, 56, 56 } }, "012", "120", 0, 0 },
  { "turn 14x14 of 464 channels", { 3, { 14, 14, 464 } }, "012", "201", 0, 0 },
  { "turn 3 channels of 224x224", { 3, { 3, 224, 224 } }, "012", "120", 0, 0 },
  { "turn 224x224 of 3 channels", { 3, { 224, 224, 3 } }, "012", "201", 0, 0 },
  { "turn 1024x1024", { 2, { 1024, 1024 } }, "01", "10", 0, 0 },
  { "turn 500x700", { 2, { 500, 700 } }, "01", "10", 0, 0 },
  { "heads out 128x6x64", { 3, { 6, 128, 64 } }, "012", "102", 0, 0 },
  { "keys turned 6x64x128", { 3, { 6, 64, 128 } }, "012", "201", 0, 0 },
  { "groups 2x58 at 28x28", { 3, { 784, 58, 2 } }, "012", "021", 0, 0 },
  { "groups 3x80 at 28x28", { 3, { 784, 80, 3 } }, "012", "021", 0, 0 },
  { "groups 4x34 at 28x28", { 3, { 784, 34, 4 } }, "012", "021", 0, 0 },
  { "groups 8x48 at 28x28", { 3, { 784, 48, 8 } }, "012", "021", 0, 0 },
  { "groups 58x2 at 28x28", { 3, { 784, 2, 58 } }, "012", "021", 0, 0 },
  { "groups 34x4 at 28x28", { 3, { 784, 4, 34 } }, "012", "021", 0, 0 },
  { "groups 2x58 of 28x28 planes", { 3, { 58, 2, 784 } }, "012", "102", 0, 0 },
  { "windows 8x7x8x7 of 96", { 5, { 8, 8, 7, 7, 96 } }, "01234", "02134", 0, 0 },
};

static const struct
{
  CleaveElement element;
  const char *name;
} elements[] = { { CLEAVE_FLOAT32, "float32" },
                 { CLEAVE_INT8, "int8" },
                 { CLEAVE_FLOAT16, "float16" },
                 { CLEAVE_INT64, "int64" } };

static void
report_layouts (const Layouts *l, CleaveElement element, const char *element_name)
{
  CleaveTensorType type = { element, l->shape };
  CleaveView to = { .data = to_memory, .type = type }, from = { .data = from_memory, .type = type };
  g_autofree char *name = g_strdup_printf ("%s, %s", l->name, element_name);

  lay_out (&to, l->to, l->to_gap);
  lay_out (&from, l->from, l->from_gap);
  if (is_wanted (name))
    report (name, &to, &from);
}

/* Measures a copy of every `step`-th element. */
static void
report_step (gint64 step, CleaveElement element, const char *element_name)
{
  CleaveTensorType type = { element, { 2, { 256, 256 } } };
  CleaveView to = cleave_view_dense (&type, to_memory), from = to;
  g_autofree char *name = g_strdup_printf ("every %d., %s", (int) step, element_name);

  from.data = from_memory;
  from.stride[0] *= step;
  from.stride[1] *= step;
  if (is_wanted (name))
    report (name, &to, &from);
}

/* Measures a channel shuffle. Operand and result have channels innermost in memory. The operand has
 * two dimensions of channels, the result has one. */
static void
report_shuffle (gint64 groups, gint64 channels, gint64 size, CleaveElement element)
{
  CleaveTensorType from_type = { element, { 4, { channels, groups, size, size } } };
  CleaveTensorType to_type = { element, { 3, { channels * groups, size, size } } };
  CleaveView to = { .data = to_memory, .type = to_type };
  CleaveView from = { .data = from_memory, .type = from_type };
  g_autofree char *name =
      g_strdup_printf ("shuffle %dx%d at %d, %d bytes", (int) groups, (int) channels, (int) size,
                       (int) cleave_element_size (element));

  lay_out (&to, "120", 0);
  lay_out (&from, "2310", 0);
  from.stride[0] = 1;
  from.stride[1] = channels;
  if (is_wanted (name))
    report (name, &to, &from);
}

int
main (int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : NULL;
  from_memory = g_malloc (MEMORY);
  to_memory = g_malloc (MEMORY);
  flat_memory = g_malloc (MEMORY);
  memset (from_memory, 1, MEMORY);
  memset (to_memory, 2, MEMORY);
  memset (flat_memory, 3, MEMORY);
  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
        report_layouts (&layouts[i], elements[e].element, elements[e].name);
      for (gint64 step = 2; step <= 4; step++)
        report_step (step, elements[e].element, elements[e].name);
      report_shuffle (2, 58, 28, elements[e].element);
      report_shuffle (3, 80, 28, elements[e].element);
      report_shuffle (4, 68, 28, elements[e].element);
      report_shuffle (8, 48, 28, elements[e].element);
    }
  g_free (from_memory);
  g_free (to_memory);
  g_free (flat_memory);
  return 0;
}
