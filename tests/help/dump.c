/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares a printed graph with the expected text, and an error with the expected code and message.
 * The file also makes random tensors. */

#include "test.h"

#include <math.h>
#include <string.h>

/* Returns the lines of `text` that are not empty, without white space at their begins and ends. */
static char *
tidy (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (*g_strstrip (lines[i]) != '\0')
      g_string_append_printf (out, "%s\n", lines[i]);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

void
cleave_assert_dump (const CleaveGraph *graph, const char *expected)
{
  g_autofree char *print = cleave_graph_print (graph);
  g_autofree char *got = tidy (print);
  g_autofree char *want = tidy (expected);

  if (strcmp (got, want) != 0)
    ck_abort_msg ("the graph prints as\n%s\nbut should as\n%s", got, want);
}

void
cleave_assert_error (GError **error, CleaveError code, const char *message)
{
  ck_assert_msg (*error != NULL, "no error, but expected: %s", message);
  ck_assert_str_eq ((*error)->message, message);
  ck_assert_msg (g_error_matches (*error, CLEAVE_ERROR, (int) code), "code %d: %s", (*error)->code,
                 message);
  g_clear_error (error);
}

void
cleave_assert_no_error (GError *error)
{
  if (error != NULL)
    ck_abort_msg ("%s", error->message);
}

static double
draw (GRand *rand, gboolean special)
{
  static const double specials[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN };

  if (special && g_rand_int_range (rand, 0, 16) == 0)
    return specials[g_rand_int_range (rand, 0, G_N_ELEMENTS (specials))];
  return g_rand_double_range (rand, -2, 2);
}

CleaveTensor *
cleave_random_tensor (const CleaveTensorType *type, guint32 seed, gboolean special)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GError) error = NULL;
  CleaveTensor *tensor = cleave_tensor_new (type, &error);
  gpointer data;
  gint64 n = cleave_shape_n_elements (&type->shape);

  /* an assertion of GLib, not of Check, since benchmarks call this function, too */
  g_assert_no_error (error);
  data = cleave_tensor_get_mutable_data (tensor);
  for (gint64 i = 0; i < n; i++)
    switch (type->element)
      {
      case CLEAVE_FLOAT32:
        ((float *) data)[i] = (float) draw (rand, special);
        break;
      case CLEAVE_FLOAT64:
        ((double *) data)[i] = draw (rand, special);
        break;
      case CLEAVE_BOOL:
        ((guint8 *) data)[i] = (guint8) g_rand_int_range (rand, 0, 2);
        break;
      case CLEAVE_FLOAT16:  /* random bits of a finite number below 2 */
      case CLEAVE_BFLOAT16: /* random bits of a finite number below 2 */
        ((guint16 *) data)[i] = (guint16) (g_rand_int (rand) & 0xbfff);
        break;
      default:
        for (gsize b = 0; b < cleave_element_size (type->element); b++)
          ((guint8 *) data)[(gsize) i * cleave_element_size (type->element) + b] =
              (guint8) (b == 0 ? g_rand_int (rand) & (special ? 0xff : 0x7f) : 0);
        break;
      }
  return tensor;
}
