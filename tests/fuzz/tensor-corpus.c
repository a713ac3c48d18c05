/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small tensors for the fuzz target of their readers: .npy, in both orders, and TensorProto. */

#include <string.h>

#include "../../tools/npy.h"
#include "fuzz.h"
#include "models.h"

static GBytes *
pack_proto (gboolean raw)
{
  static const float values[] = { 1, 2, 3, 4, 5, 6 };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3);
  Onnx__TensorProto *proto = tensor_new ("t", &type, values);
  gsize size;
  guint8 *data;

  if (!raw)
    {
      proto->n_float_data = 6;
      proto->float_data = g_memdup2 (values, sizeof values);
      g_clear_pointer (&proto->raw_data.data, g_free);
      proto->raw_data.len = 0;
      proto->has_raw_data = 0;
    }
  size = onnx__tensor_proto__get_packed_size (proto);
  data = g_malloc (size);
  onnx__tensor_proto__pack (proto, data);
  onnx__tensor_proto__free_unpacked (proto, NULL);
  return g_bytes_new_take (data, size);
}

/* Of six bytes, which are another matrix in the other order. */
static GBytes *
pack_npy (gboolean fortran)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 2, 3);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, "abcdef", NULL);
  GBytes *bytes = cleave_npy_serialize (tensor);
  g_autoptr (GString) text = NULL;
  gsize size;

  if (!fortran)
    return bytes;
  text = g_string_new_len (g_bytes_get_data (bytes, &size), (gssize) g_bytes_get_size (bytes));
  memcpy (strstr (text->str + 10, "False"), "True ", 5);
  g_bytes_unref (bytes);
  return g_string_free_to_bytes (g_steal_pointer (&text));
}

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < 2; i++)
    {
      g_ptr_array_add (files, pack_npy (i == 1));
      g_ptr_array_add (files, pack_proto (i == 1));
    }
  return files;
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  g_autoptr (CleaveTensor) npy = cleave_npy_parse (bytes, NULL);
  g_autoptr (CleaveTensor) proto = cleave_onnx_parse_tensor (bytes, NULL);

  return npy != NULL || proto != NULL;
}
