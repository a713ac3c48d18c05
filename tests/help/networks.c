/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes random int8 networks, and compiles bundles with the C compiler. */

#include "networks.h"

#include <cleave/cleave-tflite.h>
#include <glib/gstdio.h>

#include "test.h"

CleaveResult *
network_input (CleaveGraph *graph, gint64 rows, gint64 columns, gint64 channels)
{
  CleaveTensorType type = { CLEAVE_INT8, CLEAVE_SHAPE (1, rows, columns, channels) };

  return cleave_graph_add_input (graph, "x", &type, NULL);
}

static CleaveResult *
add_constant (CleaveGraph *graph,
              CleaveElement element,
              CleaveShape shape,
              GRand *rand,
              gint32 low,
              gint32 high)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (&shape); i++)
    if (element == CLEAVE_INT8)
      ((gint8 *) data)[i] = (gint8) g_rand_int_range (rand, low, high + 1);
    else
      ((gint32 *) data)[i] = g_rand_int_range (rand, low, high);
  return cleave_graph_add_constant (graph, NULL, tensor);
}

static CleaveResult *
add_node (CleaveGraph *graph, const char *op, CleaveResult **operands, guint n, gconstpointer attrs)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), NULL, operands, n, 1, attrs, NULL);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

CleaveResult *
network_conv (CleaveGraph *graph, CleaveResult *x, const NetworkConv *conv, GRand *rand)
{
  gint64 in = cleave_result_get_type (x)->shape.dim[3];
  CleaveTfliteConvAttrs a = {
    .conv = { .layout = CLEAVE_LAYOUT_NHWC,
              .group = conv->group,
              .strides = CLEAVE_INTS (conv->strides[0], conv->strides[1]),
              .dilations = CLEAVE_INTS (conv->dilations[0], conv->dilations[1]),
              .pads = CLEAVE_INTS (conv->pads[0], conv->pads[1], conv->pads[2], conv->pads[3]) },
    .min = g_rand_boolean (rand) ? -128 : -100,
    .max = 127,
  };
  CleaveShape channels = CLEAVE_SHAPE (conv->channels), scalar = { 0 };
  CleaveShape w = CLEAVE_SHAPE (conv->channels, in / conv->group, conv->kernel[0], conv->kernel[1]);
  CleaveResult *operands[] = {
    x,
    add_constant (graph, CLEAVE_INT8, scalar, rand, -20, 20),
    add_constant (graph, CLEAVE_INT8, w, rand, -128, 127),
    add_constant (graph, CLEAVE_INT32, channels, rand, 1 << 30, G_MAXINT32),
    add_constant (graph, CLEAVE_INT32, channels, rand, -9, -6),
    add_constant (graph, CLEAVE_INT8, scalar, rand, -20, 20),
    add_constant (graph, CLEAVE_INT32, channels, rand, -5000, 5000),
  };

  return add_node (graph, "TfliteConv", operands, G_N_ELEMENTS (operands), &a);
}

CleaveResult *
network_add (CleaveGraph *graph, CleaveResult *a, CleaveResult *b, GRand *rand)
{
  CleaveTfliteBinaryAttrs attrs = { .a_zero = g_rand_int_range (rand, -9, 9),
                                    .b_zero = g_rand_int_range (rand, -9, 9),
                                    .y_zero = g_rand_int_range (rand, -9, 9),
                                    .left_shift = 20,
                                    .a_multiplier = g_rand_int_range (rand, 1 << 30, G_MAXINT32),
                                    .b_multiplier = g_rand_int_range (rand, 1 << 30, G_MAXINT32),
                                    .multiplier = g_rand_int_range (rand, 1 << 30, G_MAXINT32),
                                    .a_shift = 0,
                                    .b_shift = -1,
                                    .shift = -19,
                                    .min = -128,
                                    .max = 127 };

  return add_node (graph, "TfliteAdd", (CleaveResult *[]){ a, b }, 2, &attrs);
}

/* The functions below make random networks. */

static NetworkConv
draw_conv (GRand *rand, gint64 in)
{
  gboolean is_depthwise = g_rand_int_range (rand, 0, 3) == 0;
  NetworkConv c = { .group = is_depthwise ? in : 1 };

  c.channels = is_depthwise ? in : g_rand_int_range (rand, 1, 9);
  for (guint i = 0; i < 2; i++)
    {
      c.kernel[i] = g_rand_int_range (rand, 1, 5);
      c.strides[i] = g_rand_int_range (rand, 0, 4) == 0 ? 2 : 1;
      c.dilations[i] = g_rand_int_range (rand, 0, 4) == 0 ? 2 : 1;
      c.pads[i] = g_rand_int_range (rand, 0, (gint32) c.kernel[i]);
      c.pads[2 + i] = g_rand_int_range (rand, 0, (gint32) c.kernel[i]);
    }
  return c;
}

/* Returns random attributes of a convolution whose result has as many rows and columns as its
 * operand. */
static NetworkConv
draw_same (GRand *rand, gint64 in, gint64 channels)
{
  gint64 k = 2 * g_rand_int_range (rand, 0, 3) + 1;
  gboolean is_depthwise = in == channels && g_rand_boolean (rand);

  return (NetworkConv){ .channels = channels,
                        .group = is_depthwise ? in : 1,
                        .kernel = { k, k },
                        .strides = { 1, 1 },
                        .dilations = { 1, 1 },
                        .pads = { k / 2, k / 2, k / 2, k / 2 } };
}

/* Adds a block: a convolution, or two branches that are added. */
static CleaveResult *
add_block (CleaveGraph *graph, CleaveResult *x, GRand *rand)
{
  gint64 channels = cleave_result_get_type (x)->shape.dim[3];
  NetworkConv conv = draw_conv (rand, channels);
  NetworkConv first = draw_same (rand, channels, channels);
  NetworkConv second = draw_same (rand, channels, channels);
  CleaveResult *y;

  if (g_rand_int_range (rand, 0, 3) > 0)
    return network_conv (graph, x, &conv, rand);
  y = network_conv (graph, x, &first, rand);
  if (g_rand_boolean (rand))
    y = network_conv (graph, y, &second, rand);
  return network_add (graph, x, y, rand);
}

CleaveGraph *
network_random (guint32 seed)
{
  return network_random_rows (seed, 4, 24);
}

CleaveGraph *
network_random_rows (guint32 seed, gint least, gint most)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveGraph *graph = cleave_graph_new ("network");
  CleaveResult *x = network_input (graph, g_rand_int_range (rand, least, most),
                                   g_rand_int_range (rand, 4, 24), g_rand_int_range (rand, 1, 6));
  guint n = (guint) g_rand_int_range (rand, 2, 9);

  for (guint i = 0; i < n; i++)
    {
      CleaveResult *y = add_block (graph, x, rand);

      if (y == NULL)
        continue;
      if (i > 0 && i + 1 < n && g_rand_int_range (rand, 0, 6) == 0)
        {
          g_autofree char *name = g_strdup_printf ("y%u", i);

          cleave_graph_add_output (graph, name, y, NULL);
        }
      x = y;
    }
  if (cleave_node_is_input (cleave_result_get_node (x)))
    {
      NetworkConv conv = draw_same (rand, cleave_result_get_type (x)->shape.dim[3], 2);

      x = network_conv (graph, x, &conv, rand);
    }
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

/* The functions below compile bundles. */

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      g_unlink (file);
    }
  g_rmdir (path);
}

int
network_check (const CleaveBundle *bundle, const char *flags)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-bundle-XXXXXX", NULL);
  g_autofree char *command = g_strdup_printf (
      "sh -c 'cd \"%s\" && cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror "
      "-ffp-contract=off %s -o test $(ls *.c *.S 2>/dev/null) -lm || exit 99; "
      "exec ./test'",
      folder, flags);
  g_autoptr (GError) error = NULL;
  int status = 0;

  cleave_bundle_write (bundle, folder, &error);
  cleave_assert_no_error (error);
  /* The program has no code of the library, so a sanitizer of the library finds nothing in it. */
  if (!CLEAVE_SANITIZED)
    ck_assert (g_spawn_command_line_sync (command, NULL, NULL, &status, NULL));
  remove_folder (folder);
  if (!g_spawn_check_wait_status (status, &error))
    return error->code == 99 ? -1 : error->code;
  return 0;
}
