/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of bundles, on random nodes of each op that a bundle can compute. Kernels must
 * compute the bits of the op's reference code. The test writes the constants of many nodes as C and
 * compiles them with the kernels. Then the test calls the kernels row by row: for parts of a row,
 * with whole operands and with rings, and in place where the layer allows that. */

#include "build-config.h"
#include "test.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

#include "../../lib/bundle/model.h"
/* The header of the kernels and the library have types with the same names, so the types of the
 * kernels are renamed. */
#define CleaveCall RowCall
#define CleaveKernel RowKernel
#include "../../lib/bundle/kernels/cleave-kernels.h"
#undef CleaveCall
#undef CleaveKernel

#include "../../lib/bundle/op-help.h"
#include "../../lib/bundle/ops.h"
#include "bundle-case.h"
#include "random-ops.h"

#define N_SEEDS CLEAVE_TRIALS (60)

/* The functions below write and compile C code for test cases (CleaveBundleCase). */

static void
print_array (const CleaveBundleArray *array, GString *out)
{
  const char *data = g_bytes_get_data (array->bytes, NULL);

  g_string_append_printf (out, "static const %s %s[] = {", array->type, array->name);
  for (gsize i = 0; i < array->n_elements; i++)
    if (g_str_equal (array->type, "int8_t"))
      g_string_append_printf (out, "%d,", ((const gint8 *) data)[i]);
    else if (g_str_equal (array->type, "uint8_t"))
      g_string_append_printf (out, "%d,", ((const guint8 *) data)[i]);
    else if (g_str_equal (array->type, "int16_t"))
      g_string_append_printf (out, "%d,", ((const gint16 *) data)[i]);
    else if (g_str_equal (array->type, "uint16_t"))
      g_string_append_printf (out, "%u,", ((const guint16 *) data)[i]);
    else if (g_str_equal (array->type, "int32_t"))
      g_string_append_printf (out, "%d,", MAX (((const gint32 *) data)[i], -G_MAXINT32));
    else if (g_str_equal (array->type, "int64_t"))
      g_string_append_printf (out, "%" G_GINT64_FORMAT "LL,", ((const gint64 *) data)[i]);
    else if (g_str_equal (array->type, "float"))
      {
        cleave_bundle_print_float (((const float *) data)[i], out);
        g_string_append (out, ",");
      }
    else
      ck_abort_msg ("no print of %s", array->type);
  g_string_append (out, "};\n");
}

/* Returns C code: the constants of all cases, a table of the kernels, and a table of the constants
 * of each kernel. */
static char *
print_cases (const GPtrArray *cases)
{
  GString *out = g_string_new ("#include \"cleave-kernels.h\"\n");
  g_autoptr (GString) kernels = g_string_new (NULL), params = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < cases->len; i++)
    {
      CleaveBundleCase *c = cases->pdata[i];

      c->first = n;
      for (guint a = 0; a < c->model->pool->arrays->len; a++)
        print_array (&g_array_index (c->model->pool->arrays, CleaveBundleArray, a), out);
      for (guint s = 0; s < c->model->steps->len; s++)
        {
          const CleaveBundleLayer *layer = cleave_bundle_step (c->model, s)->layer;

          g_string_append_printf (out, "static const %s params_%u = { %s };\n", layer->type, n,
                                  layer->fields);
          g_string_append_printf (params, "&params_%u,\n", n++);
          g_string_append_printf (kernels, "%s,\n", cleave_bundle_step (c->model, s)->kernel);
        }
    }
  g_string_append_printf (out, "const void *const test_params[] = {\n%s};\n", params->str);
  g_string_append_printf (out, "const CleaveKernel test_kernels[] = {\n%s};\n", kernels->str);
  return g_string_free (out, FALSE);
}

/* Compiles the cases and their kernels to a module, with strict warnings as errors. Undefined
 * behavior in a kernel is an error when the test runs. */
static gpointer
compile (const GPtrArray *cases, const char *folder)
{
  g_autofree char *text = print_cases (cases);
  g_autofree char *source = g_build_filename (folder, "cases.c", NULL);
  g_autofree char *module = g_build_filename (folder, "cases.so", NULL);
  g_autoptr (GString) command = g_string_new (
      TEST_CC " -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O1 -fPIC -shared "
              "-DCLEAVE_FLOAT_SCALES -DCLEAVE_FIXED_SCALES -ffp-contract=off -fsanitize=undefined "
              "-fno-sanitize-recover=undefined -I" BUNDLE_KERNELS);
  g_autoptr (GHashTable) files = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_wide = FALSE, is_separate = FALSE;
  gint status;
  gpointer handle;

  cleave_assert (g_file_set_contents (source, text, -1, NULL));
  g_string_append_printf (command, " -o %s %s", module, source);
  for (guint i = 0; i < cases->len; i++)
    {
      const CleaveBundleCase *c = cases->pdata[i];

      for (guint s = 0; s < c->model->steps->len; s++)
        {
          const CleaveBundleLayer *layer = cleave_bundle_step (c->model, s)->layer;
          const char *file = layer->file;

          is_wide |= layer->is_wide;
          is_separate |= layer->has_separate_weights;
          if (g_hash_table_add (files, (gpointer) file))
            g_string_append_printf (command, " " BUNDLE_KERNELS "/%s.c", file);
        }
    }
  if (is_separate)
    g_string_append (command, " -DCLEAVE_SEPARATE_WEIGHTS");
  g_string_append (command, is_wide ? " -DCLEAVE_WIDE -lm" : " -lm");
  cleave_assert (g_spawn_command_line_sync (command->str, NULL, NULL, &status, NULL));
  ck_assert_msg (g_spawn_check_wait_status (status, NULL), "%s", command->str);
  handle = dlopen (module, RTLD_NOW);
  ck_assert_msg (handle != NULL, "%s", dlerror ());
  return handle;
}

/* The functions below run the kernels. */

static void
fill_garbage (GRand *rand, char *memory, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    memory[i] = (char) g_rand_int (rand);
}

/* Copies the rows and columns that a call needs into a ring, and describes this ring in `x`. The
 * ring may have more rows and columns than the call needs. Returns the memory of the ring. */
static char *
copy_ring (GRand *rand,
           const CleaveBundleValue *value,
           const char *memory,
           CleaveSpan rows,
           CleaveSpan columns,
           CleaveRows *x)
{
  gint64 pixel = (gint64) value->image.pixel_bytes;
  gint64 end = MAX (rows.end, 0), capacity = MAX (rows.end - rows.begin, 1), first, width;
  char *ring;

  capacity = CLAMP (capacity + g_rand_int_range (rand, 0, 3), 1, MAX (value->image.rows, 1));
  first = MAX (columns.begin - g_rand_int_range (rand, 0, 2), 0);
  width = MAX (columns.end - first, 1);
  /* at least 1 byte: g_malloc (0) returns NULL */
  ring = g_malloc ((gsize) (capacity * width * pixel + 1));
  fill_garbage (rand, ring, capacity * width * pixel);
  for (gint64 r = MAX (end - capacity, 0); r < end; r++)
    memcpy (ring + r % capacity * width * pixel,
            memory + (r * value->image.columns + first) * pixel,
            (gsize) ((columns.end - first) * pixel));
  *x = (CleaveRows){ .data = (unsigned char *) ring,
                     .row_bytes = (guint32) (width * pixel),
                     .made = (guint16) end,
                     .slot = (guint16) (end % capacity),
                     .capacity = (guint16) capacity,
                     .begin = (guint16) first };
  return ring;
}

/* Describes in `x` an operand that has all rows of its image in `memory`. */
static void
set_whole (const CleaveBundleValue *value, const char *memory, CleaveRows *x)
{
  *x = (CleaveRows){ .data = (const unsigned char *) memory,
                     .row_bytes = (guint32) cleave_bundle_row_bytes (value),
                     .made = (guint16) value->image.rows,
                     .capacity = (guint16) value->image.rows };
}

typedef struct
{
  CleaveBundleCase *c;
  GRand *rand;
  char **memory; /* memory of each value, indexed by value */
  const void *const *params;
  const RowKernel *kernels;
} Run;

/* Computes the columns of a row of an image, and copies them to the memory of the result. */
static void
compute_part (const Run *run, guint s, gint64 image, gint64 row, CleaveSpan columns)
{
  const CleaveBundleModel *model = run->c->model;
  const CleaveBundleStep *step = cleave_bundle_step (model, s);
  const CleaveBundleValue *y = cleave_bundle_value (model, step->result);
  gint64 pixel = (gint64) y->image.pixel_bytes, n = (columns.end - columns.begin) * pixel;
  gint64 result_at =
      (image * y->image.rows + row) * cleave_bundle_row_bytes (y) + columns.begin * pixel;
  g_autofree char *part = g_malloc ((gsize) n);
  char *rings[2] = { NULL, NULL };
  gboolean is_in_place = FALSE;
  RowCall call = { .params = run->params[run->c->first + s],
                   .y = (unsigned char *) part,
                   .row = (guint16) row,
                   .begin = (guint16) columns.begin,
                   .end = (guint16) columns.end };

  if (step->is_sum && row > 0)
    memcpy (part, run->memory[step->result] + result_at - cleave_bundle_row_bytes (y), (gsize) n);
  else
    fill_garbage (run->rand, part, n);
  for (guint i = 0; i < step->n_operands; i++)
    {
      const CleaveBundleValue *x = cleave_bundle_value (model, step->operands[i]);
      const char *memory = run->memory[step->operands[i]] + (x->image.images == 1 ? 0 : image) *
                                                                x->image.rows *
                                                                cleave_bundle_row_bytes (x);

      if ((step->layer->in_place >> i & 1) && !step->is_sum && !is_in_place &&
          g_rand_boolean (run->rand))
        {
          cleave_assert (x->image.pixel_bytes == y->image.pixel_bytes);
          memcpy (part, memory + (row * x->image.columns + columns.begin) * pixel, (gsize) n);
          call.x[i] = (CleaveRows){ .data = (unsigned char *) part,
                                    .row_bytes = (guint32) n,
                                    .made = (guint16) (row + 1),
                                    .capacity = 1,
                                    .begin = (guint16) columns.begin };
          is_in_place = TRUE;
        }
      else if (g_rand_boolean (run->rand))
        set_whole (x, memory, &call.x[i]);
      else
        rings[i] = copy_ring (run->rand, x, memory, cleave_bundle_step_rows (model, step, i, row),
                              cleave_bundle_step_columns (model, step, i, columns), &call.x[i]);
    }
  run->kernels[run->c->first + s](&call);
  memcpy (run->memory[step->result] + result_at, part, (gsize) n);
  g_free (rings[0]);
  g_free (rings[1]);
}

static void
compute_step (const Run *run, guint s)
{
  const CleaveBundleImage *y =
      &cleave_bundle_value (run->c->model, cleave_bundle_step (run->c->model, s)->result)->image;

  for (gint64 image = 0; image < y->images; image++)
    for (gint64 row = 0; row < y->rows; row++)
      for (gint64 column = 0; column < y->columns;)
        {
          gint64 end =
              g_rand_boolean (run->rand)
                  ? y->columns
                  : g_rand_int_range (run->rand, (gint32) column + 1, (gint32) y->columns + 1);

          compute_part (run, s, image, row, (CleaveSpan){ column, end });
          column = end;
        }
}

static void
check_case (CleaveBundleCase *c, const void *const *params, const RowKernel *kernels)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (c->seed);
  guint n = c->model->values->len;
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();
  g_autoptr (CleaveTensor) result = cleave_tensor_new (cleave_tensor_get_type (c->result), NULL);
  const CleaveBundleStep *last = cleave_bundle_step (c->model, c->model->steps->len - 1);
  Run run = { c, rand, NULL, params, kernels };

  for (guint i = 0; i < n; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (c->model, i);
      /* at least 1 byte: g_malloc0 (0) returns NULL */
      char *bytes = g_malloc0 ((gsize) cleave_bundle_value_bytes (value) + 1);

      fill_garbage (rand, bytes, cleave_bundle_value_bytes (value));
      for (guint j = 0; j < c->inputs->len; j++)
        if (c->model->graph->inputs->pdata[j] == value->result)
          cleave_bundle_case_copy_image (
              value->result, (char *) cleave_tensor_get_data (c->inputs->pdata[j]), bytes, TRUE);
      g_ptr_array_add (memory, bytes);
    }
  for (guint i = 0; i < n; i++) /* a view is in the memory of the value that it views, its base */
    g_ptr_array_add (bases, memory->pdata[cleave_bundle_value (c->model, i)->base]);
  run.memory = (char **) bases->pdata;
  for (guint s = 0; s < c->model->steps->len; s++)
    compute_step (&run, s);
  cleave_bundle_case_copy_image (cleave_bundle_value (c->model, c->model->outputs[0])->result,
                                 cleave_tensor_get_mutable_data (result),
                                 bases->pdata[c->model->outputs[0]], FALSE);
  if (!cleave_tensor_equal (result, c->result))
    {
      g_autofree char *dump = cleave_graph_print (c->model->graph);

      ck_abort_msg ("seed %u: the kernel %s differs from the op\n%s", c->seed, last->layer->kernel,
                    dump);
    }
}

/* Returns whether the op is special: only the generators in cleave_random_ops_bundle make nodes of
 * the op that a bundle computes with a kernel. Other generators make a Pow with an exponent that
 * bundles do not support. Other generators also make Flatten, Reshape, Squeeze and Unsqueeze nodes.
 * In a bundle, these nodes are views, or their graphs lack a node that shows which dimension has
 * the channels. */
static gboolean
is_special (const char *op)
{
  static const char *const names[] = { "Flatten", "Pow", "Reshape", "Squeeze", "Unsqueeze", NULL };

  return g_strv_contains (names, op);
}

/* Checks random nodes of ops that bundles support. Each generator must make nodes that a bundle can
 * compute. If `are_special` is FALSE, skips generators of special ops. */
static void
check_makers (const CleaveRandomOp *makers, gboolean are_special)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (cleave_bundle_case_free);
  g_autofree char *folder = g_dir_make_tmp ("cleave-kernels-XXXXXX", NULL);
  g_autofree char *clean = g_strdup_printf ("rm -r %s", folder);
  gpointer module;

  for (; makers->op != NULL; makers++)
    {
      guint before = cases->len;

      if (!cleave_bundle_op_has (makers->op) || (!are_special && is_special (makers->op)))
        continue;
      for (guint seed = 0; seed < N_SEEDS; seed++)
        {
          CleaveBundleCase *c = cleave_bundle_case_new (makers, seed);

          if (c != NULL)
            g_ptr_array_add (cases, c);
        }
      ck_assert_msg (cases->len >= before + N_SEEDS / 30, "a bundle computes %u of %u nodes %s",
                     cases->len - before, N_SEEDS, makers->op);
    }
  if (cases->len == 0)
    return;
  module = compile (cases, folder);
  for (guint i = 0; i < cases->len; i++)
    check_case (cases->pdata[i], dlsym (module, "test_params"), dlsym (module, "test_kernels"));
  dlclose (module);
  cleave_assert (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
}

START_TEST (nodes_of_cleave_random_ops_bundle_have_the_bits_of_the_op)
{
  check_makers (cleave_random_ops_bundle, TRUE);
}
END_TEST

START_TEST (kernels_have_the_bits_of_their_ops)
{
  check_makers (cleave_random_op_lists[_i], FALSE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tests = tcase_create ("kernels");
  gint n = 0;

  while (cleave_random_op_lists[n] != NULL)
    n++;
  tcase_set_timeout (tests, 300); /* in seconds: the compiler alone takes several seconds */
  tcase_add_loop_test (tests, kernels_have_the_bits_of_their_ops, 0, n);
  suite_add_tcase (suite, tests);
  cleave_add_case (suite, "special", nodes_of_cleave_random_ops_bundle_have_the_bits_of_the_op,
                   NULL);
}

CLEAVE_TEST_SUITE ("kernels", add_tests)
