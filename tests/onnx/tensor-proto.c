/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of tensors: raw data, lists of numbers, and data in external files. */

#include "test.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/onnx/external-file.h"
#include "models.h"

typedef Onnx__TensorProto Proto;

static void
proto_free (Proto *proto)
{
  onnx__tensor_proto__free_unpacked (proto, NULL);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Proto, proto_free)

static const CleaveTensorType triple = { CLEAVE_FLOAT32, { 1, { 3 } } };

static CleaveTensor *
parse (const Proto *proto, GError **error)
{
  size_t n = onnx__tensor_proto__get_packed_size (proto);
  guint8 *data = g_malloc (n + 1);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, n);

  onnx__tensor_proto__pack (proto, data);
  return cleave_onnx_parse_tensor (bytes, error);
}

static void
assert_error (const Proto *proto, CleaveError code, const char *message)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (parse (proto, &error));
  cleave_assert_error (&error, code, message);
}

START_TEST (raw_data_of_every_element_type_is_read)
{
  for (CleaveElement element = CLEAVE_FLOAT32; element < CLEAVE_N_ELEMENTS; element++)
    {
      CleaveTensorType type = CLEAVE_TYPE (element, 2, 3);
      g_autoptr (CleaveTensor) want = cleave_random_tensor (&type, element, TRUE);
      g_autoptr (Proto) proto = tensor_new ("t", &type, cleave_tensor_get_data (want));
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveTensor) got = parse (proto, &error);

      cleave_assert_no_error (error);
      ck_assert (cleave_tensor_equal (got, want));
    }
}
END_TEST

/* Returns a tensor whose lists all have the number `value`. The element type decides which list is
 * read. */
static Proto *
listed (CleaveElement element, gint64 value)
{
  CleaveTensorType type = CLEAVE_TYPE (element, 1);
  Proto *proto = tensor_new ("t", &type, NULL);

  proto->has_raw_data = 0;
  proto->n_float_data = proto->n_int32_data = proto->n_int64_data = 1;
  proto->n_double_data = proto->n_uint64_data = 1;
  proto->float_data = g_memdup2 (&(float){ (float) value }, sizeof (float));
  proto->double_data = g_memdup2 (&(double){ (double) value }, sizeof (double));
  proto->int32_data = g_memdup2 (&(gint32){ (gint32) value }, sizeof (gint32));
  proto->int64_data = g_memdup2 (&value, sizeof value);
  proto->uint64_data = g_memdup2 (&value, sizeof value);
  return proto;
}

START_TEST (lists_of_every_element_type_are_read)
{
  for (CleaveElement element = CLEAVE_FLOAT32; element < CLEAVE_N_ELEMENTS; element++)
    {
      CleaveTensorType type = CLEAVE_TYPE (element, 1);
      g_autoptr (Proto) proto = listed (element, 1);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveTensor) got = parse (proto, &error);
      g_autoptr (CleaveTensor) want = NULL;
      guint64 one = 1;
      float f = 1;
      double d = 1;

      cleave_assert_no_error (error);
      want = cleave_tensor_new_copy (&type,
                                     element == CLEAVE_FLOAT32   ? (gpointer) &f
                                     : element == CLEAVE_FLOAT64 ? (gpointer) &d
                                                                 : (gpointer) &one,
                                     NULL);
      ck_assert_msg (cleave_tensor_equal (got, want), "%s", cleave_element_get_name (element));
    }
}
END_TEST

START_TEST (an_entry_out_of_range_is_an_error)
{
  g_autoptr (Proto) small = listed (CLEAVE_INT8, 300);
  g_autoptr (Proto) large = listed (CLEAVE_UINT32, G_GINT64_CONSTANT (1) << 40);

  assert_error (small, CLEAVE_ERROR_MODEL,
                "tensor 't': int32_data has 300, which does not fit int8");
  assert_error (large, CLEAVE_ERROR_MODEL,
                "tensor 't': uint64_data has 1099511627776, which does not fit uint32");
}
END_TEST

START_TEST (types_are_checked)
{
  g_autoptr (Proto) proto = tensor_new ("t", &triple, NULL);

  proto->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': element type string is not supported");
  proto->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': element type complex64 is not supported");
  proto->data_type = 19;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': element type float8e5m2 is not supported");
  proto->data_type = 1000;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': unknown element type 1000");
  proto->has_data_type = 0;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': unknown element type 0");
}
END_TEST

START_TEST (shapes_are_checked)
{
  g_autoptr (Proto) proto = tensor_new ("t", &triple, NULL);
  g_autoptr (Proto) deep = tensor_new ("t", &triple, NULL);

  proto->dims[0] = -3;
  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': dimension 0 is -3");
  proto->dims[0] = 4;
  assert_error (proto, CLEAVE_ERROR_MODEL,
                "tensor 't': raw_data has 12 bytes, but its type takes 16");
  proto->dims[0] = G_MAXINT64;
  assert_error (proto, CLEAVE_ERROR_SHAPE,
                "tensor 't': float32 9223372036854775807 has more bytes than 64 bits can count");
  proto->dims[0] = 3;
  proto->has_raw_data = 0;
  assert_error (proto, CLEAVE_ERROR_MODEL,
                "tensor 't': float_data has 0 elements, but its shape takes 3");
  g_free (deep->dims);
  deep->dims = g_new0 (gint64, 9);
  deep->n_dims = 9;
  assert_error (deep, CLEAVE_ERROR_MODEL, "tensor 't': rank 9 is more than 8");
}
END_TEST

START_TEST (a_bool_is_0_or_1)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_BOOL, 2);
  g_autoptr (Proto) proto = tensor_new ("t", &type, "\x01\x02");

  assert_error (proto, CLEAVE_ERROR_MODEL, "tensor 't': element 1 is 2, but a bool is 0 or 1");
}
END_TEST

START_TEST (bytes_that_are_no_tensor_are_an_error)
{
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) text = g_bytes_new ("hello", 5);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_parse_tensor (empty, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL, "not an ONNX tensor: it is empty");
  ck_assert_ptr_null (cleave_onnx_parse_tensor (text, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL, "not an ONNX tensor: no value at byte 3");
}
END_TEST

/* The tests below check tensors in external files. */

/* A folder with the file weights.bin (the floats 0, 1, 2, ...), a link to that file, and a link to
 * secret.bin outside the folder. */
typedef struct
{
  char *root, *folder;
} Place;

static void
place_init (Place *place)
{
  float data[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  g_autofree char *weights = NULL, *secret = NULL, *inside = NULL, *outside = NULL;

  place->root = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  place->folder = g_build_filename (place->root, "model", NULL);
  ck_assert_int_eq (g_mkdir (place->folder, 0700), 0);
  weights = g_build_filename (place->folder, "weights.bin", NULL);
  secret = g_build_filename (place->root, "secret.bin", NULL);
  inside = g_build_filename (place->folder, "inside.bin", NULL);
  outside = g_build_filename (place->folder, "outside.bin", NULL);
  ck_assert (g_file_set_contents (weights, (const char *) data, sizeof data, NULL));
  ck_assert (g_file_set_contents (secret, (const char *) data, sizeof data, NULL));
  ck_assert_int_eq (symlink ("weights.bin", inside), 0);
  ck_assert_int_eq (symlink ("../secret.bin", outside), 0);
}

static void
place_clear (Place *place)
{
  static const char *const files[] = { "model/weights.bin", "model/inside.bin", "model/outside.bin",
                                       "secret.bin", "model" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (place->root, files[i], NULL);

      g_remove (path);
    }
  g_rmdir (place->root);
  g_free (place->root);
  g_free (place->folder);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Place, place_clear)

/* Imports a model whose output is a constant of three floats in an external file. */
static CleaveGraph *
import_external (const char *folder,
                 const char *location,
                 const char *offset,
                 const char *length,
                 GError **error)
{
  g_autoptr (Model) model = model_new (13);
  Proto *proto = model_add_initializer (model, "w", &triple, NULL);
  g_autoptr (GBytes) bytes = NULL;

  if (location != NULL)
    tensor_add_external (proto, "location", location);
  tensor_add_external (proto, "offset", offset);
  tensor_add_external (proto, "length", length);
  model_add_output (model, "w");
  bytes = model_pack (model);
  return cleave_onnx_parse (bytes, folder, NULL, error);
}

START_TEST (external_data_is_read)
{
  static const char *const files[] = { "weights.bin", "inside.bin", "./weights.bin" };
  float want[] = { 2, 3, 4 };
  g_auto (Place) place;

  place_init (&place);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = import_external (place.folder, files[i], "8", "12", &error);
      CleaveTensor *tensor;

      cleave_assert_no_error (error);
      tensor = cleave_node_get_constant (cleave_graph_get_first_node (graph));
      ck_assert_mem_eq (cleave_tensor_get_data (tensor), want, sizeof want);
    }
}
END_TEST

START_TEST (unaligned_external_data_is_read)
{
  g_auto (Place) place;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  place_init (&place);
  graph = import_external (place.folder, "weights.bin", "3", "12", &error);
  cleave_assert_no_error (error);
}
END_TEST

/* The import reads the file. If it mapped the file instead, a truncation of the file would kill the
 * process. */
START_TEST (truncating_a_file_after_import_keeps_the_weights)
{
  float want[] = { 2, 3, 4 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autofree char *path = NULL;
  CleaveTensor *tensor;
  g_auto (Place) place;

  place_init (&place);
  path = g_build_filename (place.folder, "weights.bin", NULL);
  graph = import_external (place.folder, "weights.bin", "8", "12", &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (truncate (path, 0), 0);
  tensor = cleave_node_get_constant (cleave_graph_get_first_node (graph));
  ck_assert_mem_eq (cleave_tensor_get_data (tensor), want, sizeof want);
}
END_TEST

START_TEST (truncating_a_file_during_import_is_an_error)
{
  g_auto (Place) place;
  g_autofree char *path = NULL;

  place_init (&place);
  path = g_build_filename (place.folder, "weights.bin", NULL);
  for (gint64 first_budget = 0; first_budget <= 1000; first_budget += 1000)
    {
      g_autoptr (GError) error = NULL;
      gint64 budget = first_budget;
      CleaveExternalFile *file = cleave_external_file_new (path, NULL);
      gsize n = (gsize) cleave_external_file_get_size (file);

      ck_assert_int_eq (truncate (path, (off_t) n - 4), 0);
      ck_assert_ptr_null (cleave_external_file_get (file, n - 12, 12, &budget, &error));
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL));
      ck_assert (g_str_has_suffix (error->message, "became shorter while it was read"));
      cleave_external_file_free (file);
    }
}
END_TEST

/* Each part of a file is read once. After the budget for reads is used up, parts are mapped. */
START_TEST (parts_beyond_the_budget_are_mapped)
{
  float want[] = { 2, 3, 4 };
  g_auto (Place) place;
  g_autofree char *path = NULL;
  CleaveExternalFile *file;
  g_autoptr (GBytes) read = NULL, again = NULL, mapped = NULL;
  gint64 budget = 20;

  place_init (&place);
  path = g_build_filename (place.folder, "weights.bin", NULL);
  file = cleave_external_file_new (path, NULL);
  read = cleave_external_file_get (file, 8, 12, &budget, NULL);
  ck_assert_int_eq (budget, 8);
  again = cleave_external_file_get (file, 8, 12, &budget, NULL);
  ck_assert_ptr_eq (read, again);
  ck_assert_int_eq (budget, 8);
  mapped = cleave_external_file_get (file, 4, 16, &budget, NULL);
  ck_assert_int_eq (budget, 8);
  cleave_external_file_free (file);
  ck_assert_mem_eq (g_bytes_get_data (read, NULL), want, sizeof want);
  ck_assert_mem_eq ((const char *) g_bytes_get_data (mapped, NULL) + 4, want, sizeof want);
}
END_TEST

START_TEST (external_data_stays_in_its_folder)
{
  static const struct
  {
    const char *location, *offset, *length, *message;
  } cases[] = {
    { "/etc/passwd", "0", "12",
      "tensor 'w': external data '/etc/passwd' is not inside the model's folder" },
    { "../secret.bin", "0", "12",
      "tensor 'w': external data '../secret.bin' is not inside the model's folder" },
    { "a/../../secret.bin", "0", "12",
      "tensor 'w': external data 'a/../../secret.bin' is not inside the model's folder" },
    { "", "0", "12", "tensor 'w': external data '' is not inside the model's folder" },
    { "outside.bin", "0", "12",
      "tensor 'w': external data 'outside.bin' is not a file inside the model's folder" },
    { ".", "0", "12", "tensor 'w': external data '.' is not a file inside the model's folder" },
    { "weights.bin", "24", "12",
      "tensor 'w': external data 'weights.bin' has 32 bytes, but 12 from 24 on are asked for" },
    { "weights.bin", "9223372036854775807", "12",
      "tensor 'w': external data 'weights.bin' has 32 bytes, but 12 from 9223372036854775807 on "
      "are asked for" },
    { "weights.bin", "-1", "12",
      "tensor 'w': the offset of external data must be a number of bytes, not '-1'" },
    { "weights.bin", "0", "16", "tensor 'w': external data of 16 bytes, but its type takes 12" },
    { "weights.bin", "0", "much",
      "tensor 'w': the length of external data must be a number of bytes, not 'much'" },
    { NULL, "0", "12", "tensor 'w': external data has no location" },
  };
  g_auto (Place) place;

  place_init (&place);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (import_external (place.folder, cases[i].location, cases[i].offset,
                                           cases[i].length, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_MODEL, cases[i].message);
    }
}
END_TEST

START_TEST (missing_external_data_is_a_file_error)
{
  g_auto (Place) place;
  g_autoptr (GError) error = NULL;

  place_init (&place);
  ck_assert_ptr_null (import_external (place.folder, "none.bin", "0", "12", &error));
  ck_assert (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

START_TEST (external_data_needs_a_folder)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (import_external (NULL, "weights.bin", "0", "12", &error));
  cleave_assert_error (
      &error, CLEAVE_ERROR_MODEL,
      "tensor 'w': external data 'weights.bin' needs a model that is loaded from a file");
}
END_TEST

/* The import maps a file of more than 2 GiB. The file of the test is sparse and takes one page on
 * disk. */
START_TEST (a_file_of_more_than_2_gib_is_mapped)
{
  const gint64 end = ((gint64) 1 << 31) + 4096;
  float want[] = { 2, 3, 4 };
  gint64 budget = G_MAXINT64;
  g_auto (Place) place;
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) part = NULL;
  CleaveExternalFile *file;

  place_init (&place);
  path = g_build_filename (place.folder, "weights.bin", NULL);
  ck_assert_int_eq (truncate (path, (off_t) end), 0);
  file = cleave_external_file_new (path, &error);
  cleave_assert_no_error (error);
  part = cleave_external_file_get (file, 8, (gsize) end - 8, &budget, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (budget, G_MAXINT64);
  cleave_external_file_free (file);
  ck_assert_mem_eq (g_bytes_get_data (part, NULL), want, sizeof want);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "data", raw_data_of_every_element_type_is_read,
                   lists_of_every_element_type_are_read, an_entry_out_of_range_is_an_error,
                   a_bool_is_0_or_1, NULL);
  cleave_add_case (suite, "types", types_are_checked, shapes_are_checked,
                   bytes_that_are_no_tensor_are_an_error, NULL);
  cleave_add_case (suite, "external", external_data_is_read, unaligned_external_data_is_read,
                   external_data_stays_in_its_folder,
                   truncating_a_file_after_import_keeps_the_weights,
                   truncating_a_file_during_import_is_an_error, parts_beyond_the_budget_are_mapped,
                   a_file_of_more_than_2_gib_is_mapped, missing_external_data_is_a_file_error,
                   external_data_needs_a_folder, NULL);
}

CLEAVE_TEST_SUITE ("tensor-proto", add_tests)
