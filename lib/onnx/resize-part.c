/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes and reads the line of a doc string that describes a piece of a Resize (resize-part.h). */

#include "resize-part.h"

#include <string.h>

#include "doc-line.h"

#define LINE "cleave: resize "

/* Numbers in the line that describes a piece: N_SETTINGS attributes of the node, then N_OF_DIM
 * numbers for each dimension.
 */
enum { N_SETTINGS = 5, N_OF_DIM = 6 };

static void
add_number (GString *text, double number)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s", text->len == 0 ? "" : " ",
                          g_ascii_dtostr (buffer, sizeof buffer, number));
}

char *
cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *a, const char *doc)
{
  g_autoptr (GString) text = g_string_new (NULL);

  add_number (text, a->mode);
  add_number (text, a->coordinate_transformation_mode);
  add_number (text, a->nearest_mode);
  add_number (text, a->cubic_coeff_a);
  add_number (text, a->exclude_outside);
  for (guint d = 0; d < a->sizes.n; d++)
    {
      add_number (text, a->scales.v[d]);
      add_number (text, (double) a->sizes.v[d]);
      add_number (text, (double) a->phase.v[d]);
      add_number (text, (double) a->begin.v[d]);
      add_number (text, (double) a->extents.v[d]);
      add_number (text, (double) a->lengths.v[d]);
    }
  return cleave_doc_line_append (doc, LINE, text->str);
}

char *
cleave_onnx_dup_doc_without_resize (const char *doc)
{
  return cleave_doc_line_remove (doc, LINE);
}

/* Reads the numbers of a line into `numbers`. Returns their count; 0 if there are more than `most`
 * numbers or if a word is no number. */
static guint
read_numbers (const char *text, double *numbers, guint most)
{
  g_autofree char *line = g_strndup (text, strcspn (text, "\n"));
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  guint n = g_strv_length (words);

  if (n > most)
    return 0;
  for (guint i = 0; i < n; i++)
    {
      char *end;

      numbers[i] = g_ascii_strtod (words[i], &end);
      if (end == words[i] || *end != '\0')
        return 0;
    }
  return n;
}

static gboolean
is_index (double number, double end)
{
  return number >= 0 && number < end && number == (double) (gint64) number;
}

static gboolean
read_settings (const double *numbers, CleaveResizeAttrs *a)
{
  if (!is_index (numbers[0], CLEAVE_RESIZE_CUBIC + 1) ||
      !is_index (numbers[1], CLEAVE_RESIZE_TF_CROP_AND_RESIZE) ||
      !is_index (numbers[2], CLEAVE_RESIZE_CEIL + 1) || !is_index (numbers[4], 2))
    return FALSE;
  a->mode = (CleaveResizeMode) numbers[0];
  a->coordinate_transformation_mode = (CleaveResizeCoordinates) numbers[1];
  a->nearest_mode = (CleaveResizeNearest) numbers[2];
  a->cubic_coeff_a = numbers[3];
  a->exclude_outside = (gboolean) numbers[4];
  return TRUE;
}

gboolean
cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *a)
{
  const char *line = cleave_doc_line_find (doc, LINE);
  double numbers[N_SETTINGS + N_OF_DIM * CLEAVE_MAX_RANK];
  guint n = line == NULL ? 0 : read_numbers (line, numbers, G_N_ELEMENTS (numbers));
  guint rank = n < N_SETTINGS ? 0 : (n - N_SETTINGS) / N_OF_DIM;

  *a = (CleaveResizeAttrs){ 0 };
  if (rank == 0 || n != N_SETTINGS + N_OF_DIM * rank || !read_settings (numbers, a))
    return FALSE;
  a->scales.n = a->sizes.n = a->phase.n = a->begin.n = a->extents.n = a->lengths.n = rank;
  for (guint d = 0; d < rank; d++)
    {
      const double *of_dim = numbers + N_SETTINGS + N_OF_DIM * d;
      gint64 *to[] = { &a->sizes.v[d], &a->phase.v[d], &a->begin.v[d], &a->extents.v[d],
                       &a->lengths.v[d] };

      a->scales.v[d] = of_dim[0];
      for (guint i = 0; i < G_N_ELEMENTS (to); i++)
        {
          if (!is_index (of_dim[1 + i], 0x1p53))
            return FALSE;
          *to[i] = (gint64) of_dim[1 + i];
        }
    }
  return TRUE;
}
