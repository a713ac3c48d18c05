/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Constants that the file has in other forms: weights of integers whose zero point is not 0, as
 * those of old models of uint8, and sparse ones.
 *
 * A convolution adds up (x - x_zero) * (w - w_zero). Its op has no zero point of the weights, so
 * the import subtracts it from the constant. The difference of two bytes takes 9 bits: it is int8
 * if all elements fit, and int16 otherwise, for which there is a reference kernel only. */

#include "convert.h"

#include "../ir/graph-private.h"

/* Subtracts `zero` from `n` elements; returns whether all differences fit int8. */
static gboolean
subtract (const gint8 *from, gint64 zero, gint64 n, gint16 *wide, gint8 *narrow)
{
  gboolean fits = TRUE;

  for (gint64 i = 0; i < n; i++)
    {
      wide[i] = (gint16) (from[i] - zero);
      narrow[i] = (gint8) wide[i];
      fits = fits && narrow[i] == wide[i];
    }
  return fits;
}

static CleaveResult *
add_centered (CleaveTfliteImport *import, CleaveTensor *weights, gint64 zero, GError **error)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (weights);
  CleaveTensorType type = *cleave_tensor_get_type (dense);
  gint64 n = cleave_shape_n_elements (&type.shape);
  g_autofree gint16 *wide = NULL;
  g_autofree gint8 *narrow = NULL;
  gboolean fits;

  if (!cleave_tflite_take_bytes (import, 2 * n, error))
    return NULL;
  wide = g_new (gint16, (gsize) n + 1);
  narrow = g_new (gint8, (gsize) n + 1);
  fits = subtract (cleave_tensor_get_data (dense), zero, n, wide, narrow);
  type.element = fits ? CLEAVE_INT8 : CLEAVE_INT16;
  return cleave_tflite_add_constant (
      import, cleave_tensor_new_copy (&type, fits ? (gconstpointer) narrow : wide, NULL));
}

CleaveResult *
cleave_tflite_center_weights (CleaveTfliteImport *import, guint i, CleaveResult *w, GError **error)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, i);
  gint64 zero = cleave_tflite_zero_point (tensor, 0);
  CleaveTensor *constant;

  for (guint c = 1; c < tensor->quantization.zeros.n; c++)
    if (cleave_tflite_zero_point (tensor, c) != zero)
      return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the weights have different zero points");
  if (w == NULL || zero == 0 || tensor->type.element != CLEAVE_INT8)
    return w;
  if (zero < G_MININT8 || zero > G_MAXINT8)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "the zero point of the weights is beyond their type");
  if (!cleave_tflite_find_constant (import, i, &constant, error))
    return NULL;
  if (constant == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "the weights are computed, and their zero point is not 0");
  return add_centered (import, constant, zero, error);
}

/* DENSIFY: a sparse constant is dense as soon as it is read. */
gboolean
cleave_tflite_convert_densify (CleaveTfliteImport *import, GError **error)
{
  CleaveTensor *constant;

  if (!cleave_tflite_find_constant (import, 0, &constant, error))
    return FALSE;
  if (constant == NULL)
    return cleave_tflite_refuse (error, "input 0 must be a constant");
  return cleave_tflite_set_constant (import, 0, cleave_tensor_ref (constant), error);
}
