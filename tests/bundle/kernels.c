/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of bundles, on random nodes of each op that a bundle can compute. Kernels must
 * compute the bits of the op's reference code. The test writes the constants of many nodes as C and
 * compiles them with the kernels. Then the test calls the kernels row by row: for parts of a row,
 * with whole operands and with rings, and in place where the layer allows that. */

#include "test.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

#include "../../lib/bundle/model.h"
/* The header of the kernels has types with the names of the library's types, so the types of the
 * kernels are renamed. */
#define CleaveCall RowCall
#define CleaveKernel RowKernel
#include "../../lib/bundle/kernels/cleave-kernels.h"
#undef CleaveCall
#undef CleaveKernel

#include "../../lib/bundle/op-help.h"
#include "../../lib/bundle/ops.h"
#include "random-parts.h"

#define N_SEEDS CLEAVE_TRIALS (60)

/* A graph of one node, and the values of its inputs and its result. */
typedef struct
{
  CleaveBundleModel *model;
  const char *op;
  guint seed;
  guint first; /* index of the kernel of step 0 in the table of the compiled file */
  GPtrArray *inputs;
  CleaveTensor *result;
} Case;

static void
case_free (gpointer data)
{
  Case *c = data;

  g_clear_pointer (&c->model, cleave_bundle_model_free);
  g_clear_pointer (&c->inputs, g_ptr_array_unref);
  g_clear_pointer (&c->result, cleave_tensor_unref);
  g_free (c);
}

/* Computes the node with the op's reference code. */
static CleaveTensor *
compute_reference (const CleaveNode *node, const GPtrArray *inputs)
{
  g_auto (CleaveNodeCall) call = { 0 };
  g_autofree CleaveView *views = g_new0 (CleaveView, node->n_operands);
  g_autofree CleaveView *results = g_new0 (CleaveView, node->n_results);
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x == NULL)
        continue;
      for (guint j = 0; j < node->graph->inputs->len; j++)
        if (node->graph->inputs->pdata[j] == x)
          views[i] = cleave_view_tensor (inputs->pdata[j]);
      if (cleave_node_get_constant (x->node) != NULL)
        views[i] = cleave_view_tensor (cleave_node_get_constant (x->node));
    }
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveTensor *tensor = cleave_tensor_new (&node->results[i].type, NULL);

      g_ptr_array_add (tensors, tensor);
      results[i] = cleave_view_tensor (tensor);
    }
  node->op->compute (cleave_node_call_init (&call, node), views, results);
  return cleave_tensor_ref (tensors->pdata[0]);
}

/* Copies between a dense tensor and memory of a bundle, whose channels are innermost. */
static void
copy_image (const CleaveResult *result, char *dense, char *memory, gboolean to_memory)
{
  CleaveBundleImage image = cleave_bundle_image (result);
  const CleaveShape *shape = &result->type.shape;
  gsize size = cleave_element_size (result->type.element);
  gint64 index[CLEAVE_MAX_RANK];

  for (gint64 i = 0; i < cleave_shape_n_elements (shape); i++)
    {
      gint64 rest = i, row = 0, column = 0, channel = 0, n = 0, at;

      for (guint d = shape->rank; d-- > 0;)
        {
          index[d] = rest % shape->dim[d];
          rest /= shape->dim[d];
        }
      for (gint d = 0; d < (gint) shape->rank; d++)
        if (d == image.row_dim)
          row = index[d];
        else if (d == image.column_dim)
          column = index[d];
        else if (d == image.channel_dim)
          channel = index[d];
        else
          n = n * shape->dim[d] + index[d];
      at = ((n * image.rows + row) * image.columns + column) * image.channels + channel;
      if (to_memory)
        memcpy (memory + at * (gint64) size, dense + i * (gint64) size, size);
      else
        memcpy (dense + i * (gint64) size, memory + at * (gint64) size, size);
    }
}

/* Kinds of random weights of int8. The weights of a convolution select its code: two channels are
 * combined unless a weight of the second channel is -128 and the weight of the first is negative.
 */
typedef enum { ANY, NO_LEAST, ALL_LEAST, LEAST_AND_MOST, LEAST_AFTER_POSITIVE, N_WEIGHTS } Weights;

static void
change_weights (CleaveTensor *tensor, Weights kind)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  gint8 *values = cleave_tensor_get_mutable_data (tensor);
  gint64 n = cleave_shape_n_elements (shape);

  for (gint64 i = 0; i < n; i++)
    {
      gboolean is_odd = shape->rank > 0 && i / (n / shape->dim[0]) % 2 == 1;

      if (kind == NO_LEAST)
        values[i] = MAX (values[i], -127);
      else if (kind == ALL_LEAST || (kind == LEAST_AND_MOST && values[i] < 0))
        values[i] = -128;
      else if (kind == LEAST_AND_MOST)
        values[i] = 127;
      else if (kind == LEAST_AFTER_POSITIVE)
        values[i] = is_odd ? -128 : MAX (values[i], 0);
    }
}

/* Makes a random constant that is legal for an operand. */
static CleaveTensor *
make_constant (const CleaveNode *node, guint operand, GRand *rand)
{
  const CleaveTensorType *type = &node->operands[operand].result->type;
  const char *name = cleave_op_operand_name (node->op, operand);
  CleaveTensor *tensor = cleave_random_tensor (type, g_rand_int (rand), FALSE);
  gint32 *values = cleave_tensor_get_mutable_data (tensor);
  gint32 least = 0, most = 0;

  if (type->element == CLEAVE_INT8)
    change_weights (tensor, g_rand_int_range (rand, ANY, N_WEIGHTS));
  if (type->element != CLEAVE_INT32)
    return tensor;
  if (g_str_equal (name, "multiplier"))
    {
      least = 1 << 30;
      most = G_MAXINT32 - 1;
    }
  else if (g_str_equal (name, "shift"))
    {
      least = g_rand_int_range (rand, -14, 0);
      most = 1;
    }
  else if (g_str_equal (name, "table"))
    most = G_MAXINT32 - 1;
  else
    {
      least = -30000;
      most = 30000;
    }
  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    values[i] = g_rand_int_range (rand, least, most + 1);
  if (g_str_equal (name, "B") && g_rand_int_range (rand, 0, 4) == 0)
    values[0] = 1500000000; /* large: twice the sum of two such values exceeds an int32 */
  return tensor;
}

/* Makes operands constant: all except the first. An op that combines A and B sometimes keeps both
 * as inputs. The operands of a join stay inputs, and so do the operands of a node whose first
 * operand is constant. */
static void
fix_operands (CleaveGraph *graph, CleaveNode *node, GRand *rand)
{
  guint first = g_rand_int_range (rand, 0, 2) == 0 ? 1 : 2;

  if ((node->op->flags & CLEAVE_OP_JOIN) ||
      cleave_node_get_constant (node->operands[0].result->node) != NULL)
    return;
  if (node->n_operands != 2 || !g_str_equal (cleave_op_operand_name (node->op, 1), "B"))
    first = 1;
  for (guint i = first; i < node->n_operands; i++)
    {
      CleaveResult *x = node->operands[i].result;
      g_autoptr (CleaveTensor) value = NULL;

      if (x == NULL || cleave_node_get_constant (x->node) != NULL)
        continue;
      value = make_constant (node, i, rand);
      cleave_result_replace_uses (x, cleave_graph_add_constant (graph, NULL, value));
    }
}

/* Makes a case of a random node. Returns NULL if a bundle cannot compute the node. */
static Case *
case_new (const CleaveRandomOp *maker, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = maker->make (graph, rand);
  g_autofree char *name = g_strdup_printf ("c%s%u", maker->op, seed);
  CleaveBundleOptions options = { .name = name };
  g_autoptr (GError) error = NULL;
  CleaveBundleModel *model;
  Case *c;

  if (node == NULL || cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    return NULL;
  fix_operands (graph, node, rand);
  cleave_graph_add_output (graph, "y", &node->results[0], NULL);
  model = cleave_bundle_model_new (graph, &options, &error);
  if (model == NULL && g_getenv ("BUNDLE_TEST_TELL") != NULL)
    g_printerr ("%s\n", error->message);
  if (model == NULL)
    return NULL;
  if (model->steps->len == 0) /* the node is a view, which needs no kernel */
    {
      cleave_bundle_model_free (model);
      return NULL;
    }
  c = g_new0 (Case, 1);
  c->model = model;
  c->op = maker->op;
  c->seed = seed;
  c->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const CleaveResult *input = graph->inputs->pdata[i];

      g_ptr_array_add (c->inputs, cleave_random_tensor (&input->type, g_rand_int (rand), FALSE));
    }
  c->result = compute_reference (node, c->inputs);
  return c;
}

/* The functions below write and compile the kernels of the cases. */

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

/* Returns the C text of the constants of all cases, and tables of kernels and of their constants.
 */
static char *
print_cases (const GPtrArray *cases)
{
  GString *out = g_string_new ("#include \"cleave-kernels.h\"\n");
  g_autoptr (GString) kernels = g_string_new (NULL), params = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < cases->len; i++)
    {
      Case *c = cases->pdata[i];

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

/* Compiles the cases and all kernels that they use to a module, as a user's strict compiler would.
 * Undefined behavior is an error. */
static gpointer
compile (const GPtrArray *cases, const char *folder)
{
  g_autofree char *text = print_cases (cases);
  g_autofree char *source = g_build_filename (folder, "cases.c", NULL);
  g_autofree char *module = g_build_filename (folder, "cases.so", NULL);
  g_autoptr (GString) command =
      g_string_new ("cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O1 -fPIC -shared "
                    "-DCLEAVE_FLOAT_SCALES -ffp-contract=off -fsanitize=undefined "
                    "-fno-sanitize-recover=undefined -I" BUNDLE_KERNELS);
  g_autoptr (GHashTable) files = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_wide = FALSE, is_separate = FALSE;
  gint status;
  gpointer handle;

  cleave_assert (g_file_set_contents (source, text, -1, NULL));
  g_string_append_printf (command, " -o %s %s", module, source);
  for (guint i = 0; i < cases->len; i++)
    {
      const Case *c = cases->pdata[i];

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

/* Sets an operand to a copy of the rows and columns that a call needs, in a ring that may have more
 * rows and columns. Returns the memory of the ring. */
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
  ring = g_malloc ((gsize) (capacity * width * pixel + 1)); /* at least 1: 0 would give NULL */
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

/* Sets an operand to the whole image. */
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
  Case *c;
  GRand *rand;
  char **memory; /* memory of each value */
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
check_case (Case *c, const void *const *params, const RowKernel *kernels)
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
      /* at least 1 byte: 0 would give NULL */
      char *bytes = g_malloc0 ((gsize) cleave_bundle_value_bytes (value) + 1);

      fill_garbage (rand, bytes, cleave_bundle_value_bytes (value));
      for (guint j = 0; j < c->inputs->len; j++)
        if (c->model->graph->inputs->pdata[j] == value->result)
          copy_image (value->result, (char *) cleave_tensor_get_data (c->inputs->pdata[j]), bytes,
                      TRUE);
      g_ptr_array_add (memory, bytes);
    }
  for (guint i = 0; i < n; i++) /* a view has the memory of its base */
    g_ptr_array_add (bases, memory->pdata[cleave_bundle_value (c->model, i)->base]);
  run.memory = (char **) bases->pdata;
  for (guint s = 0; s < c->model->steps->len; s++)
    compute_step (&run, s);
  copy_image (cleave_bundle_value (c->model, c->model->outputs[0])->result,
              cleave_tensor_get_mutable_data (result), bases->pdata[c->model->outputs[0]], FALSE);
  if (!cleave_tensor_equal (result, c->result))
    {
      g_autofree char *dump = cleave_graph_print (c->model->graph);

      ck_abort_msg ("seed %u: the kernel %s differs from the op\n%s", c->seed, last->layer->kernel,
                    dump);
    }
}

/* Returns whether random nodes of an op cannot be in a bundle, so that special generators make the
 * nodes. For random powers, the exponents have no kernels. For each other special op, the random
 * node is a view or has a batch, since no other node of its graph shows that channels come
 * first. */
static gboolean
is_special (const char *op)
{
  static const char *const names[] = { "Flatten", "Pow", "Reshape", "Squeeze", "Unsqueeze", NULL };

  return g_strv_contains (names, op);
}

/* Checks random nodes of ops. Each generator must make nodes that a bundle can compute, if there is
 * a record of its op. Only special generators make nodes of special ops. */
static void
check_makers (const CleaveRandomOp *makers, gboolean are_special)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (case_free);
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
          Case *c = case_new (makers, seed);

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

/* Makes a convolution with more channels than the random ops have, so that there are blocks of four
 * channels and of one. */
static CleaveNode *
make_large_conv (CleaveGraph *graph, GRand *rand)
{
  gint64 group = pick (rand, 0, 2) > 0 ? 1 : pick (rand, 1, 3), kernel[2], spatial[2], in, out;
  CleaveTfliteConvAttrs a = { .conv = { .layout = CLEAVE_LAYOUT_NHWC, .group = group } };
  CleaveShape w, x, scalar = { 0 }, channels;

  in = pick (rand, 1, 9);
  out = pick (rand, 1, 11);
  for (guint i = 0; i < 2; i++)
    kernel[i] = pick (rand, 1, 4);
  a.conv.strides = pick_ints (rand, 2, 1, 3);
  a.conv.dilations = pick_ints (rand, 2, 1, 2);
  a.conv.pads = pick_ints (rand, 4, 0, 3);
  for (guint i = 0; i < 2; i++)
    spatial[i] = pick_extent (rand, (kernel[i] - 1) * at (&a.conv.dilations, i, 1) + 1,
                              at (&a.conv.pads, i, 0) + at (&a.conv.pads, 2 + i, 0));
  if (pick (rand, 0, 2) == 0) /* one case in three is depthwise */
    {
      a.conv.group = in;
      in = out = 1;
    }
  w = CLEAVE_SHAPE (a.conv.group * out, in, kernel[0], kernel[1]);
  channels = CLEAVE_SHAPE (w.dim[0]);
  x = image_shape (CLEAVE_LAYOUT_NHWC, 1, a.conv.group * in, spatial, 2);
  a.min = pick (rand, 0, 1) == 0 ? -128 : pick (rand, -128, -100);
  a.max = a.min == -128 ? 127 : pick (rand, 100, 127);
  return cleave_graph_add (graph, cleave_op_lookup ("TfliteConv"), "conv",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT8, &x),
                                               add_shaped (graph, "xz", CLEAVE_INT8, &scalar),
                                               add_shaped (graph, "w", CLEAVE_INT8, &w),
                                               add_shaped (graph, "m", CLEAVE_INT32, &channels),
                                               add_shaped (graph, "s", CLEAVE_INT32, &channels),
                                               add_shaped (graph, "yz", CLEAVE_INT8, &scalar),
                                               add_shaped (graph, "b", CLEAVE_INT32, &channels) },
                           7, 1, &a, NULL);
}

/* Makes a power with a constant exponent that has a kernel. */
static CleaveNode *
make_power (CleaveGraph *graph, GRand *rand)
{
  static const float exponents[] = { 2, 3, 0.5f };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 3), pick (rand, 1, 4), pick (rand, 1, 9));
  CleaveTensorType scalar = { CLEAVE_FLOAT32, { 0 } };
  g_autoptr (CleaveTensor) exponent = cleave_tensor_new (&scalar, NULL);

  *(float *) cleave_tensor_get_mutable_data (exponent) = exponents[pick (rand, 0, 2)];
  return cleave_graph_add (graph, cleave_op_lookup ("Pow"), "pow",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_FLOAT32, &x),
                                               cleave_graph_add_constant (graph, NULL, exponent) },
                           2, 1, NULL, NULL);
}

/* Adds a pooling, from which a bundle knows that images of this rank have their channels first. */
static void
add_pooling (CleaveGraph *graph, CleaveResult *x)
{
  CleavePoolAttrs a = { .kernel_shape = { .n = 2, .v = { 1, 1 } } };

  cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, 1, &a, NULL);
}

/* Adds an image with channels first. */
static CleaveResult *
add_image (CleaveGraph *graph, GRand *rand, gint64 *extents)
{
  CleaveShape shape;
  CleaveResult *x;

  for (guint i = 0; i < 3; i++)
    extents[i] = pick (rand, 1, 6);
  shape = CLEAVE_SHAPE (1, extents[0], extents[1], extents[2]);
  x = add_shaped (graph, "x", pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32, &shape);
  add_pooling (graph, x);
  return x;
}

static CleaveNode *
make_image_reshape (CleaveGraph *graph, GRand *rand)
{
  gint64 extents[3], first = pick (rand, 0, 2), step = pick (rand, 1, 2);
  CleaveResult *x = add_image (graph, rand, extents);
  CleaveInts shape = { .n = 4, .v = { 1 } };

  for (gint64 i = 0; i < 3; i++)
    shape.v[1 + i] = extents[(first + i * step) % 3];
  return cleave_result_get_node (cleave_graph_add_reshape (graph, "reshape", x, &shape, NULL));
}

static CleaveNode *
make_image_flatten (CleaveGraph *graph, GRand *rand)
{
  gint64 extents[3];
  CleaveResult *x = add_image (graph, rand, extents);
  CleaveAxisAttrs a = { pick (rand, 0, 4) };

  return cleave_graph_add (graph, cleave_op_lookup ("Flatten"), "flatten", &x, 1, 1, &a, NULL);
}

/* Makes a Squeeze that drops a spatial dimension of an image. */
static CleaveNode *
make_image_squeeze (CleaveGraph *graph, GRand *rand)
{
  gint64 axis = pick (rand, 2, 3);
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 6), pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveAxesAttrs a = { { .n = 1, .v = { axis } } };
  CleaveResult *x;

  shape.dim[axis] = 1;
  x = add_shaped (graph, "x", CLEAVE_FLOAT32, &shape);
  add_pooling (graph, x);
  return cleave_graph_add (graph, cleave_op_lookup ("Squeeze"), "squeeze", &x, 1, 1, &a, NULL);
}

/* Makes an Unsqueeze that makes an image of a matrix. */
static CleaveNode *
make_image_unsqueeze (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveAxesAttrs a = { { .n = 1, .v = { pick (rand, 1, 3) } } };
  CleaveResult *x = add_shaped (graph, "x", CLEAVE_FLOAT32, &shape);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Unsqueeze"), "unsqueeze", &x, 1, 1, &a, NULL);

  add_pooling (graph, cleave_node_get_result (node, 0));
  return node;
}

/* Makes a convolution of floats by Winograd's algorithm. Tiles begin at even and at odd
 * positions. */
static CleaveNode *
make_winograd (CleaveGraph *graph, GRand *rand)
{
  CleaveConvAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1), .group = pick (rand, 1, 2) };
  gint64 in = pick (rand, 1, 5), out = pick (rand, 1, 9), spatial[2];
  CleaveShape w = CLEAVE_SHAPE (a.group * out, in, 3, 3), b = CLEAVE_SHAPE (a.group * out), x;

  a.pads = pick_ints (rand, 4, 0, 2);
  a.winograd = pick_ints (rand, 2, 0, 1);
  for (guint i = 0; i < 2; i++)
    spatial[i] = pick (rand, 3, 9);
  x = image_shape (a.layout, pick (rand, 1, 2), a.group * in, spatial, 2);
  return cleave_graph_add (
      graph, cleave_op_lookup ("Conv"), "conv",
      (CleaveResult *[]){
          add_shaped (graph, "x", CLEAVE_FLOAT32, &x), add_shaped (graph, "w", CLEAVE_FLOAT32, &w),
          pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "b", CLEAVE_FLOAT32, &b) },
      3, 1, &a, NULL);
}

/* Makes a join of parts, some of them constant, along any dimension of an image of the batch 1. */
static CleaveNode *
make_constant_parts (CleaveGraph *graph, GRand *rand)
{
  CleaveAxisAttrs a = { pick (rand, 1, 3) };
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 4));
  CleaveElement element = pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32;
  guint n = (guint) pick (rand, 2, 4), variable = (guint) pick (rand, 0, (gint) n - 1);
  CleaveResult *parts[4];

  for (guint i = 0; i < n; i++)
    {
      shape.dim[a.axis] = pick (rand, 1, 4);
      if (i != variable && pick (rand, 0, 2) > 0)
        {
          CleaveTensorType type = { element, shape };
          g_autoptr (CleaveTensor) part = cleave_random_tensor (&type, g_rand_int (rand), FALSE);

          parts[i] = cleave_graph_add_constant (graph, NULL, part);
        }
      else
        parts[i] = add_shaped (graph, "x", element, &shape);
    }
  if (pick (rand, 0, 1) == 0)
    add_pooling (graph, parts[variable]);
  return cleave_graph_add (graph, cleave_op_lookup ("Concat"), "concat", parts, n, 1, &a, NULL);
}

/* Makes a Gather of rows of a constant table, by indices of the run: in range, below 0, and out of
 * range. */
static CleaveNode *
make_embedding (CleaveGraph *graph, GRand *rand)
{
  CleaveAxisAttrs a = { 0 };
  CleaveElement element = pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32;
  CleaveTensorType type = { element, CLEAVE_SHAPE (pick (rand, 1, 9), pick (rand, 1, 5)) };
  g_autoptr (CleaveTensor) table = cleave_random_tensor (&type, g_rand_int (rand), FALSE);
  CleaveShape list = CLEAVE_SHAPE (pick (rand, 1, 6)), batch = CLEAVE_SHAPE (1, pick (rand, 1, 6));
  CleaveElement index = pick (rand, 0, 1) == 0 ? CLEAVE_INT32 : CLEAVE_INT64;
  CleaveResult *operands[] = {
    cleave_graph_add_constant (graph, NULL, table),
    add_shaped (graph, "at", index, pick (rand, 0, 1) == 0 ? &list : &batch),
  };

  return cleave_graph_add (graph, cleave_op_lookup ("Gather"), "gather", operands, 2, 1, &a, NULL);
}

static const CleaveRandomOp special_makers[] = {
  { "Concat", make_constant_parts },
  { "Gather", make_embedding },
  { "TfliteConv", make_large_conv },
  { "Conv", make_winograd },
  { "Pow", make_power },
  { "Reshape", make_image_reshape },
  { "Flatten", make_image_flatten },
  { "Squeeze", make_image_squeeze },
  { "Unsqueeze", make_image_unsqueeze },
  { NULL, NULL },
};

START_TEST (nodes_of_special_makers_have_the_bits_of_the_op)
{
  check_makers (special_makers, TRUE);
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
  tcase_set_timeout (tests, 300); /* the test compiles C for some seconds */
  tcase_add_loop_test (tests, kernels_have_the_bits_of_their_ops, 0, n);
  suite_add_tcase (suite, tests);
  cleave_add_case (suite, "special", nodes_of_special_makers_have_the_bits_of_the_op, NULL);
}

CLEAVE_TEST_SUITE ("kernels", add_tests)
