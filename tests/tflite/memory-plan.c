/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory plans of TensorFlow Lite for Microcontrollers: the metadata of a file has the offset of
 * each tensor in the arena. */

#include "test.h"
#include "tflite-file.h"

#include <cleave/cleave-tflite.h>

#include "../../lib/tflite/model.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

/* The memory plan in a file's metadata, as a list of 32-bit integers. */
typedef struct
{
  guint n_entries; /* number of entries in the file's metadata */
  const gint32 *words;
  guint n_words;
} Plan;

/* Reads the memory plan from the metadata of a .tflite file. Uses the functions with which the
 * library reads .tflite models. */
static Plan
read_plan (GBytes *file)
{
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (file, &n_bytes);
  CleaveFlat flat;
  CleaveFlatTable root, entry, buffer;
  CleaveFlatVector entries, buffers, bytes;
  gint64 index;
  Plan plan = { 0 };

  cleave_flat_init (&flat, data, n_bytes);
  ck_assert (cleave_flat_root (&flat, &root, NULL));
  ck_assert (cleave_flat_get_vector (&root, 6, 4, &entries, NULL));
  ck_assert (cleave_flat_get_vector (&root, 4, 4, &buffers, NULL));
  plan.n_entries = entries.n;
  for (guint i = 0; i < entries.n; i++)
    {
      g_autofree char *name = NULL;

      ck_assert (cleave_flat_get_item (&flat, &entries, i, &entry, NULL));
      ck_assert (cleave_flat_dup_string (&entry, 0, &name, NULL));
      if (g_strcmp0 (name, "OfflineMemoryAllocation") != 0)
        continue;
      ck_assert (cleave_flat_get_integer (&entry, 1, 4, 0, &index, NULL));
      ck_assert_int_lt (index, buffers.n);
      ck_assert (cleave_flat_get_item (&flat, &buffers, (guint) index, &buffer, NULL));
      ck_assert (cleave_flat_get_vector (&buffer, 0, 1, &bytes, NULL));
      ck_assert_uint_eq ((guint) ((bytes.items - data) % 16), 0);
      plan.words = (const gint32 *) (const void *) bytes.items;
      plan.n_words = bytes.n / 4;
    }
  return plan;
}

static char *
print_graph (GBytes *file)
{
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (file, NULL);

  ck_assert_ptr_nonnull (graph);
  return cleave_graph_print (graph);
}

START_TEST (a_file_with_a_plan_is_the_same_model)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();

  g_ptr_array_remove_index (files, TFLITE_CONTROL_EXAMPLE);
  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *before = print_graph (files->pdata[i]), *after = NULL;
      g_autoptr (GError) error = NULL;
      gint64 n_bytes = -1;
      g_autoptr (GBytes) planned =
          cleave_tflite_add_memory_plan (files->pdata[i], 16, &n_bytes, &error);
      Plan plan;

      ck_assert_msg (planned != NULL, "%s", error == NULL ? "" : error->message);
      after = print_graph (planned);
      ck_assert_str_eq (before, after);
      plan = read_plan (planned);
      ck_assert_uint_eq (plan.n_entries, 1);
      ck_assert_int_eq (plan.words[0], 1);
      ck_assert_int_eq (plan.words[1], 0);
      ck_assert_uint_eq ((guint) plan.words[2] + 3, plan.n_words);
      ck_assert_int_gt (n_bytes, 0);
    }
}
END_TEST

/* The format of plans has tensors of one subgraph only. */
START_TEST (a_file_of_several_subgraphs_has_no_plan)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  GError *error = NULL;

  ck_assert_ptr_null (
      cleave_tflite_add_memory_plan (files->pdata[TFLITE_CONTROL_EXAMPLE], 16, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL,
                       "it has 6 subgraphs and 8 tensors; a memory plan needs 1 subgraph and at "
                       "most 20000 tensors");
}
END_TEST

/* A second plan replaces the first plan of a file. */
START_TEST (a_file_has_one_plan)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (GBytes) once = cleave_tflite_add_memory_plan (files->pdata[0], 16, NULL, NULL);
  g_autoptr (GBytes) twice = cleave_tflite_add_memory_plan (once, 64, NULL, NULL);

  ck_assert_uint_eq (read_plan (twice).n_entries, 1);
  for (guint i = 3; i < read_plan (twice).n_words; i++)
    ck_assert (read_plan (twice).words[i] % 64 == 0 || read_plan (twice).words[i] == -1);
}
END_TEST

/* The model is x ─► RELU ─► a ─► RESHAPE ─► b ─► RELU ─► c. Tensors a and b share memory; x and b
 * are not in use at the same time. */
START_TEST (tensors_in_use_at_once_do_not_overlap)
{
  static const TfliteTensor tensors[] = { { .name = "x", .shape = "2x8" },
                                          { .name = "a", .shape = "2x8" },
                                          { .name = "b", .shape = "16" },
                                          { .name = "c", .shape = "16" } };
  static const TfliteOperator operators[] = { { 19, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
                                              { 22, NULL, { 1 }, 1, { 2 }, 1, 0, { { 0 } } },
                                              { 19, NULL, { 2 }, 1, { 3 }, 1, 0, { { 0 } } } };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 3 }, 1, 0
  };
  g_autoptr (GBytes) file = tflite_file_new (&graph);
  gint64 n_bytes;
  g_autoptr (GBytes) planned = cleave_tflite_add_memory_plan (file, 16, &n_bytes, NULL);
  const gint32 *offsets = read_plan (planned).words + 3;

  ck_assert_int_eq (n_bytes, 128);
  ck_assert_int_eq (offsets[1], offsets[2]);
  ck_assert_int_ne (offsets[0], offsets[1]);
  ck_assert_int_ne (offsets[2], offsets[3]);
}
END_TEST

START_TEST (files_of_up_to_64_bytes_are_refused)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (64);
  guint8 bytes[64];

  for (guint trial = 0; trial < 20000; trial++)
    {
      guint n = (guint) g_rand_int_range (rand, 0, 65);
      g_autoptr (GBytes) file = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < n; i++)
        bytes[i] = (guint8) (trial % 2 == 0 ? g_rand_int_range (rand, 0, 256)
                                            : g_rand_int_range (rand, 0, 32));
      if (n >= 8 && trial % 4 != 0)
        memcpy (bytes + 4, "TFL3", 4);
      file = g_bytes_new (bytes, n);
      ck_assert_ptr_null (cleave_tflite_parse (file, &error));
      ck_assert_ptr_nonnull (error);
      g_clear_error (&error);
      ck_assert_ptr_null (cleave_tflite_add_memory_plan (file, 16, NULL, &error));
      ck_assert_ptr_nonnull (error);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "memory plan", a_file_with_a_plan_is_the_same_model, a_file_has_one_plan,
                   a_file_of_several_subgraphs_has_no_plan, tensors_in_use_at_once_do_not_overlap,
                   files_of_up_to_64_bytes_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("tflite-memory-plan", add_tests)
