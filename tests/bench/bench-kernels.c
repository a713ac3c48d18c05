/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-kernels [LEVEL] [WORD] [MILLISECONDS]: measures fast kernels in GFLOP/s, or in GB/s read
 * and written for kernels without multiplications. Shapes are from known networks, with channels
 * innermost in memory. Each figure is the fastest of many runs on one thread.
 *
 * LEVEL is a level of x86-64, WORD selects the measurements whose names contain WORD, and
 * MILLISECONDS is the time for each kernel. */

#include "site.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *level, *wanted;
/* Time for the runs of each kernel, in seconds. */
static double seconds_each = 0.4;

static void
report (const char *name, const CleaveTrySite *instance, double work, const char *unit)
{
  double seconds;

  if (wanted != NULL && strstr (name, wanted) == NULL)
    return;
  seconds = cleave_time_instance (instance, level, seconds_each);
  if (seconds < 0)
    printf ("%-44s not served\n", name);
  else
    printf ("%-44s %8.1f %s %10.1f us\n", name, work / seconds * 1e-9, unit, seconds * 1e6);
}

static void
conv (gint64 n_in, gint64 n_out, gint64 kernel, gint64 stride, gint64 size, gboolean depthwise)
{
  gint64 pad = kernel / 2, out = (size + 2 * pad - kernel) / stride + 1;
  CleaveConvAttrs attrs = { .group = depthwise ? n_in : 1,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  gint64 group_in = depthwise ? 1 : n_in;
  gboolean plain = !depthwise && kernel == 3 && stride == 1;
  CleaveTrySite instance = { .op = "Conv",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_in, size, size),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, n_out, group_in, kernel,
                                                        kernel),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, n_out) },
                             .constants = 6 };
  g_autofree char *name = g_strdup_printf (
      "%s %dx%d s%d %d -> %d at %d", depthwise ? "depthwise" : "conv", (int) kernel, (int) kernel,
      (int) stride, (int) n_in, (int) n_out, (int) size);

  report (name, &instance, 2.0 * (double) (n_out * group_in * kernel * kernel * out * out),
          "GFLOP/s");
  if (!plain || MIN (n_in, n_out) < 16)
    return;
  g_autofree char *other = g_strconcat (name, ", Winograd", NULL);

  attrs.winograd = (CleaveInts){ 2, { 0, 0 } };
  report (other, &instance, 2.0 * (double) (n_out * group_in * kernel * kernel * out * out),
          "GFLOP/s");
}

/* Measures a transposed convolution whose stride equals its kernel. */
static void
conv_transpose (gint64 n_in, gint64 n_out, gint64 kernel, gint64 size)
{
  CleaveConvTransposeAttrs attrs = { .group = 1, .strides = CLEAVE_INTS (kernel, kernel) };
  CleaveTrySite instance = { .op = "ConvTranspose",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_in, size, size),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, n_in, n_out, kernel,
                                                        kernel),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, n_out) },
                             .constants = 6 };
  g_autofree char *name =
      g_strdup_printf ("transposed conv %dx%d s%d %d -> %d at %d", (int) kernel, (int) kernel,
                       (int) kernel, (int) n_in, (int) n_out, (int) size);

  report (name, &instance, 2.0 * (double) (n_in * n_out * kernel * kernel * size * size),
          "GFLOP/s");
}

/* Measures a 3x3 convolution on bytes or on 16-bit floats. */
static void
upcast_conv (CleaveElement element, gint64 n_channels, gint64 size, gboolean depthwise)
{
  gint64 group_in = depthwise ? 1 : n_channels;
  gboolean bytes = element == CLEAVE_INT8 || element == CLEAVE_UINT8;
  CleaveConvAttrs attrs = { .group = depthwise ? n_channels : 1, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveTrySite instance = { .op = bytes ? "ConvInteger" : "Conv",
                             .attrs = &attrs,
                             .n_operands = bytes ? 3 : 2,
                             .operands = { CLEAVE_TYPE (element, 1, n_channels, size, size),
                                           CLEAVE_TYPE (element, n_channels, group_in, 3, 3),
                                           CLEAVE_SCALAR (element) },
                             .constants = 2 };
  g_autofree char *name = g_strdup_printf (
      "%s %s 3x3 s1 %d -> %d at %d", cleave_element_get_name (element),
      depthwise ? "depthwise" : "conv", (int) n_channels, (int) n_channels, (int) size);

  report (name, &instance, 2.0 * 9 * (double) (n_channels * group_in * size * size), "GFLOP/s");
}

static void
matmul_of (CleaveElement element, gint64 m, gint64 n, gint64 k, gboolean constant)
{
  CleaveTrySite instance = { .op = element == CLEAVE_UINT8 ? "MatMulInteger" : "MatMul",
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (element, m, k),
                                           CLEAVE_TYPE (element, k, n) },
                             .constants = constant ? 2 : 0 };
  g_autofree char *name =
      g_strdup_printf ("%s%smatmul %d x %d x %d%s",
                       element == CLEAVE_FLOAT32 ? "" : cleave_element_get_name (element),
                       element == CLEAVE_FLOAT32 ? "" : " ", (int) m, (int) n, (int) k,
                       constant ? ", constant" : "");

  report (name, &instance, 2.0 * (double) (m * n * k), "GFLOP/s");
}

static void
matmul (gint64 m, gint64 n, gint64 k, gboolean constant)
{
  matmul_of (CLEAVE_FLOAT32, m, n, k, constant);
}

/* Measures an op in GB/s of its operands and its result. */
static void
moved (const char *op,
       gconstpointer attrs,
       guint n_operands,
       gint64 channels,
       gint64 size,
       gint64 y_size)
{
  CleaveTrySite instance = { .op = op, .attrs = attrs, .n_operands = n_operands };
  g_autofree char *name = g_strdup_printf ("%s %d at %d", op, (int) channels, (int) size);

  for (guint i = 0; i < n_operands; i++)
    instance.operands[i] = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, channels, size, size);
  report (name, &instance, 4.0 * (double) (channels * (n_operands * size * size + y_size * y_size)),
          "GB/s   ");
}

/* Measures a Softmax over the `n` channels of each of `n_rows` pixels. */
static void
softmax (gint64 n_rows, gint64 n)
{
  static const CleaveAxisAttrs attrs = { .axis = 1 };
  CleaveTrySite instance = { .op = "Softmax",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, n_rows, n) } };
  g_autofree char *name = g_strdup_printf ("Softmax of %d rows of %d", (int) n_rows, (int) n);

  report (name, &instance, 8.0 * (double) (n_rows * n), "GB/s   ");
}

static void
batch_norm (gint64 n_channels, gint64 size)
{
  static const CleaveNormAttrs attrs = { .epsilon = 1e-5 };
  CleaveTrySite instance = { .op = "BatchNormalization",
                             .attrs = &attrs,
                             .n_operands = 5,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_channels, size,
                                                        size) },
                             .constants = 30 };
  g_autofree char *name =
      g_strdup_printf ("BatchNormalization %d at %d", (int) n_channels, (int) size);

  for (guint i = 1; i < 5; i++)
    instance.operands[i] = CLEAVE_TYPE (CLEAVE_FLOAT32, n_channels);
  report (name, &instance, 8.0 * (double) (n_channels * size * size), "GB/s   ");
}

static void
wide_convs (void)
{
  conv (64, 64, 3, 1, 56, FALSE);
  upcast_conv (CLEAVE_UINT8, 64, 56, FALSE);
  upcast_conv (CLEAVE_FLOAT16, 64, 56, FALSE);
  upcast_conv (CLEAVE_BFLOAT16, 64, 56, FALSE);
  conv (128, 128, 3, 1, 28, FALSE);
  conv (256, 256, 3, 1, 14, FALSE);
  conv (512, 512, 3, 1, 7, FALSE);
  conv (512, 512, 3, 1, 14, FALSE);
  conv (64, 64, 3, 1, 224, FALSE);
  conv (64, 128, 3, 1, 112, FALSE);
  conv (32, 32, 3, 1, 160, FALSE);
  conv (256, 256, 3, 1, 56, FALSE);
  conv (512, 512, 3, 1, 28, FALSE);
}

static void
small_convs (void)
{
  conv (24, 24, 1, 1, 128, FALSE);
  conv (32, 32, 1, 1, 80, FALSE);
  conv (48, 48, 1, 1, 32, FALSE);
  conv (64, 64, 1, 1, 40, FALSE);
  conv (96, 96, 1, 1, 16, FALSE);
  conv (128, 128, 1, 1, 20, FALSE);
  conv (256, 256, 1, 1, 10, FALSE);
  conv (3, 24, 5, 2, 256, FALSE);
  conv (3, 16, 3, 2, 240, FALSE);
  conv (16, 16, 3, 1, 32, FALSE);
  conv (32, 32, 3, 1, 32, FALSE);
  conv (32, 8, 3, 1, 32, FALSE);
  conv (32, 4, 3, 1, 32, FALSE);
}

static void
mobile_convs (void)
{
  conv (96, 24, 1, 1, 56, FALSE);
  conv (24, 144, 1, 1, 56, FALSE);
  conv (16, 96, 1, 1, 112, FALSE);
  conv (32, 16, 1, 1, 112, FALSE);
  conv (192, 32, 1, 1, 28, FALSE);
  conv (576, 160, 1, 1, 14, FALSE);
  conv (320, 1280, 1, 1, 7, FALSE);
}

/* Measures the first convolutions of networks, and convolutions with 1 or 18 result channels. */
static void
first_convs (void)
{
  conv (3, 32, 3, 2, 224, FALSE);
  conv (3, 64, 3, 1, 224, FALSE);
  conv (3, 64, 7, 2, 224, FALSE);
  conv (64, 128, 3, 2, 56, FALSE);
  conv (24, 1, 3, 1, 56, FALSE);
  conv (96, 18, 3, 1, 28, FALSE);
}

/* Measures output heads, and the upsampling of their results to the image size. */
static void
narrow_convs (void)
{
  for (gint64 n_out = 1; n_out <= 8; n_out++)
    {
      conv (32, n_out, 1, 1, 160, FALSE);
      conv (32, n_out, 3, 1, 160, FALSE);
    }
  conv (24, 1, 3, 1, 160, FALSE);
  conv (32, 4, 3, 2, 160, FALSE);
  conv (96, 4, 3, 1, 20, FALSE);
  conv (96, 2, 1, 1, 20, FALSE);
  conv (64, 4, 3, 1, 10, FALSE);
  conv (3, 4, 3, 1, 160, FALSE);
  conv_transpose (24, 1, 2, 320);
  conv_transpose (24, 2, 2, 160);
  conv_transpose (24, 4, 2, 160);
  conv_transpose (24, 8, 2, 160);
  conv_transpose (24, 24, 2, 160);
  conv_transpose (32, 1, 4, 80);
}

static void
depthwise_convs (void)
{
  conv (24, 24, 3, 1, 128, TRUE);
  conv (96, 96, 3, 1, 8, TRUE);
  conv (96, 96, 3, 1, 56, TRUE);
  upcast_conv (CLEAVE_UINT8, 96, 56, TRUE);
  upcast_conv (CLEAVE_FLOAT16, 96, 56, TRUE);
  conv (96, 96, 3, 2, 112, TRUE);
  conv (576, 576, 3, 1, 14, TRUE);
  conv (960, 960, 3, 1, 7, TRUE);
  conv (32, 32, 3, 1, 112, TRUE);
  conv (120, 120, 5, 1, 28, TRUE);
  conv (20, 20, 5, 2, 28, TRUE);
  conv (5, 5, 3, 1, 112, TRUE);
  conv (12, 12, 3, 1, 56, TRUE);
  conv (12, 12, 3, 2, 112, TRUE);
  conv (12, 12, 7, 1, 56, TRUE);
}

static void
matmuls (void)
{
  matmul (1, 1000, 1280, TRUE);
  matmul (1, 4096, 4096, TRUE);
  matmul (128, 768, 768, TRUE);
  matmul_of (CLEAVE_UINT8, 128, 768, 768, TRUE);
  matmul_of (CLEAVE_FLOAT16, 128, 768, 768, TRUE);
  matmul (128, 768, 768, FALSE);
  matmul (197, 64, 197, FALSE);
}

static void
moves (void)
{
  static const CleaveClipAttrs clip = { 0, 6 };
  static const CleavePoolAttrs pool = { .kernel_shape = { 2, { 3, 3 } },
                                        .strides = { 2, { 2, 2 } },
                                        .pads = { 4, { 1, 1, 1, 1 } } };

  moved ("Relu", NULL, 1, 96, 56, 56);
  moved ("Clip", &clip, 1, 96, 56, 56);
  moved ("Add", NULL, 2, 96, 56, 56);
  moved ("Sigmoid", NULL, 1, 96, 56, 56);
  moved ("HardSwish", NULL, 1, 96, 56, 56);
  moved ("MaxPool", &pool, 1, 64, 112, 56);
  moved ("AveragePool", &pool, 1, 64, 112, 56);
  moved ("GlobalAveragePool", NULL, 1, 1280, 7, 1);
  for (gint64 n = 2; n <= 8; n++)
    softmax (2000, n);
  softmax (1000, 100);
  for (gint64 n = 3; n <= 96; n *= 2)
    batch_norm (n, n < 24 ? 80 : 40);
  batch_norm (24, 160);
}

int
main (int argc, char **argv)
{
  level = argc > 1 && *argv[1] != '\0' ? argv[1] : NULL;
  wanted = argc > 2 ? argv[2] : NULL;
  if (argc > 3)
    seconds_each = atof (argv[3]) * 1e-3;
  wide_convs ();
  small_convs ();
  mobile_convs ();
  first_convs ();
  narrow_convs ();
  depthwise_convs ();
  matmuls ();
  moves ();
  return 0;
}
