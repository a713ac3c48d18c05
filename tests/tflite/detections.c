/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TFLite_Detection_PostProcess, compared bit for bit with a simple model of its definition. The
 * model sorts all boxes and marks the suppressed boxes. */

#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "flex-map.h"

enum { MAX_BOXES = 40, MAX_COLUMNS = 5, MAX_ROWS = 64, N_OUTPUTS = 4, N_CASES = 300 };

/* The elements of the inputs and anchors. */
typedef enum { FLOATS, UNSIGNED, SIGNED, N_KINDS } Kind;
/* The number of each element type in TensorType of the schema, and the zero point of the
 * integers. */
static const struct
{
  gint type, zero;
} kinds[N_KINDS] = { [UNSIGNED] = { 3, 128 }, [SIGNED] = { 9, 0 } };

typedef struct
{
  gint n, columns, n_classes, max_detections, max_classes, per_class;
  gboolean regular;
  Kind kind;
  float threshold, iou, scales[4];
  float x[MAX_BOXES][4], scores[MAX_BOXES][MAX_COLUMNS], anchors[MAX_BOXES][4];
} Case;

typedef struct
{
  float boxes[MAX_ROWS][4], classes[MAX_ROWS], scores[MAX_ROWS], count;
} Found;

/* Returns a multiple of 1 / 16, so that many scores are equal. */
static float
draw (GRand *rand, gint low, gint high)
{
  return (float) g_rand_int_range (rand, 16 * low, 16 * high + 1) / 16;
}

static void
draw_case (GRand *rand, Case *c)
{
  *c = (Case){ .n = g_rand_int_range (rand, 1, MAX_BOXES + 1),
               .n_classes = g_rand_int_range (rand, 1, MAX_COLUMNS),
               .max_detections = g_rand_int_range (rand, 1, 20),
               .max_classes = g_rand_int_range (rand, 1, 4),
               .per_class = g_rand_int_range (rand, 1, 12),
               .regular = g_rand_boolean (rand),
               .kind = (Kind) g_rand_int_range (rand, 0, N_KINDS),
               .threshold = draw (rand, 0, 5) / 4,
               .iou = (float) g_rand_int_range (rand, 1, 11) / 10,
               .scales = { 10, 10, 5, 4 } };
  c->columns = c->n_classes + g_rand_int_range (rand, 0, 2);
  for (gint i = 0; i < c->n; i++)
    {
      for (gint k = 0; k < 4; k++)
        {
          c->x[i][k] = draw (rand, -4, 4);
          c->anchors[i][k] = draw (rand, 0, 1);
        }
      for (gint k = 0; k < c->columns; k++)
        c->scores[i][k] = draw (rand, 0, 1);
    }
}

static void
decode (const Case *c, float (*corners)[4])
{
  for (gint i = 0; i < c->n; i++)
    for (gint d = 0; d < 2; d++)
      {
        double at = (double) c->anchors[i][d], extent = (double) c->anchors[i][d + 2];
        float center = (float) ((double) c->x[i][d] / (double) c->scales[d] * extent + at);
        float half =
            (float) (0.5 * exp ((double) c->x[i][d + 2] / (double) c->scales[d + 2]) * extent);

        corners[i][d] = center - half;
        corners[i][d + 2] = center + half;
      }
}

static float
ratio_of_overlap (const float *a, const float *b)
{
  float area_a = (a[2] - a[0]) * (a[3] - a[1]), area_b = (b[2] - b[0]) * (b[3] - b[1]);
  float height = fminf (a[2], b[2]) - fmaxf (a[0], b[0]);
  float width = fminf (a[3], b[3]) - fmaxf (a[1], b[1]);
  float common = fmaxf (height, 0) * fmaxf (width, 0);

  return area_a <= 0 || area_b <= 0 ? 0 : common / (area_a + area_b - common);
}

/* Sorts `n` indices by falling value. Indices with equal values are in rising order. */
static void
sort (gint *indices, gint n, const float *values)
{
  for (gint i = 1; i < n; i++)
    for (gint k = i; k > 0 && values[indices[k]] > values[indices[k - 1]]; k--)
      {
        gint other = indices[k];

        indices[k] = indices[k - 1];
        indices[k - 1] = other;
      }
}

/* Sets `selected` to the indices of at most `n_max` boxes: drops boxes with a low score, and boxes
 * that overlap a selected box too much. Returns the number of selected boxes. */
static gint
suppress (const Case *c, float (*corners)[4], const float *values, gint n_max, gint *selected)
{
  gboolean is_dropped[MAX_BOXES] = { FALSE };
  gint indices[MAX_BOXES], n = 0, n_selected = 0;

  for (gint i = 0; i < c->n; i++)
    if (values[i] >= c->threshold)
      indices[n++] = i;
  sort (indices, n, values);
  for (gint i = 0; i < n && n_selected < n_max; i++)
    {
      if (is_dropped[i])
        continue;
      selected[n_selected++] = indices[i];
      for (gint k = i + 1; k < n; k++)
        if (ratio_of_overlap (corners[indices[i]], corners[indices[k]]) > c->iou)
          is_dropped[k] = TRUE;
    }
  return n_selected;
}

static void
set_row (Found *found, gint row, const float *corners, gint class, float score)
{
  memcpy (found->boxes[row], corners, sizeof (found->boxes[row]));
  found->classes[row] = (float) class;
  found->scores[row] = score;
}

static void
expect_regular (const Case *c, float (*corners)[4], Found *found)
{
  static float all[MAX_COLUMNS * MAX_BOXES];
  gint of_box[MAX_COLUMNS * MAX_BOXES], of_class[MAX_COLUMNS * MAX_BOXES];
  gint indices[MAX_COLUMNS * MAX_BOXES], selected[MAX_BOXES], n = 0;
  float values[MAX_BOXES];

  for (gint class = 0; class < c->n_classes; class ++)
    {
      gint n_selected;

      for (gint i = 0; i < c->n; i++)
        values[i] = c->scores[i][c->columns - c->n_classes + class];
      n_selected = suppress (c, corners, values, c->per_class, selected);
      for (gint i = 0; i < n_selected; i++, n++)
        {
          all[n] = values[selected[i]];
          of_box[n] = selected[i];
          of_class[n] = class;
          indices[n] = n;
        }
    }
  sort (indices, n, all);
  n = MIN (n, c->max_detections);
  for (gint i = 0; i < n; i++)
    set_row (found, i, corners[of_box[indices[i]]], of_class[indices[i]], all[indices[i]]);
  found->count = (float) n;
}

static void
expect_fast (const Case *c, float (*corners)[4], Found *found)
{
  gint classes[MAX_BOXES][MAX_COLUMNS], selected[MAX_BOXES], n;
  float best[MAX_BOXES];

  for (gint i = 0; i < c->n; i++)
    {
      const float *scores = &c->scores[i][c->columns - c->n_classes];

      for (gint k = 0; k < c->n_classes; k++)
        classes[i][k] = k;
      sort (classes[i], c->n_classes, scores);
      best[i] = scores[classes[i][0]];
    }
  n = suppress (c, corners, best, c->max_detections, selected);
  for (gint i = 0; i < n; i++)
    for (gint k = 0; k < MIN (c->max_classes, c->n_classes); k++)
      {
        gint box = selected[i], class = classes[box][k];

        set_row (found, i * c->max_classes + k, corners[box], class,
                 c->scores[box][c->columns - c->n_classes + class]);
      }
  found->count = (float) n;
}

/* Returns the bytes of `rows` rows of numbers, which are `stride` floats apart in `values`.
 * Integers have the scale 1 / 16. */
static GBytes *
pack (const Case *c, const float *values, gint columns, gint stride, gint rows)
{
  GByteArray *bytes = g_byte_array_new ();

  for (gint i = 0; i < rows * columns; i++)
    {
      const float *value = &values[i / columns * stride + i % columns];
      const guint8 byte = (guint8) (gint) ((float) kinds[c->kind].zero + *value * 16);

      if (c->kind == FLOATS)
        g_byte_array_append (bytes, (const guint8 *) value, sizeof *value);
      else
        g_byte_array_append (bytes, &byte, 1);
    }
  return g_byte_array_free_to_bytes (bytes);
}

static GBytes *
options_of (const Case *c)
{
  const FlexEntry entries[] = { { "max_detections", c->max_detections, 'i' },
                                { "max_classes_per_detection", c->max_classes, 'i' },
                                { "detections_per_class", c->per_class, 'i' },
                                { "num_classes", c->n_classes, 'i' },
                                { "use_regular_nms", c->regular, 'b' },
                                { "nms_score_threshold", (double) c->threshold, 'f' },
                                { "nms_iou_threshold", (double) c->iou, '*' },
                                { "y_scale", (double) c->scales[0], 'f' },
                                { "x_scale", (double) c->scales[1], 'i' },
                                { "h_scale", (double) c->scales[2], '*' },
                                { "w_scale", (double) c->scales[3], 'f' },
                                { NULL } };

  return flex_map_new (entries, c->n % 2 == 0 ? 4 : 8);
}

/* Sets a tensor of the file. Only the anchors are constant: `data` is NULL for all other
 * tensors. */
static void
set_tensor (const Case *c, TfliteTensor *tensor, const char *name, const char *shape, GBytes *data)
{
  static const float scale[1] = { 1.0f / 16 };

  *tensor = (TfliteTensor){ .name = name, .shape = shape };
  if (c->kind != FLOATS)
    {
      tensor->type = kinds[c->kind].type;
      tensor->scales = scale;
      tensor->n_scales = 1;
      tensor->zero = kinds[c->kind].zero;
    }
  if (data != NULL)
    tensor->data = g_bytes_get_data (data, NULL);
  if (data != NULL)
    tensor->n_bytes = (guint) g_bytes_get_size (data);
}

static CleaveGraph *
load (const Case *c, GBytes *options)
{
  g_autofree char *x = g_strdup_printf ("1x%dx4", c->n), *anchors = g_strdup_printf ("%dx4", c->n);
  g_autofree char *scores = g_strdup_printf ("1x%dx%d", c->n, c->columns);
  g_autoptr (GBytes) constant = pack (c, c->anchors[0], 4, 4, c->n);
  TfliteTensor tensors[8];
  const TfliteOperator op = { .code = 32,
                              .custom = "TFLite_Detection_PostProcess",
                              .inputs = { 0, 1, 2 },
                              .n_inputs = 3,
                              .outputs = { 3, 4, 5, 6 },
                              .n_outputs = 4,
                              .options = { { 0, 'c', 7 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 3, 4, 5, 6 }, 4, 0 };
  static const char *const names[N_OUTPUTS] = { "boxes", "classes", "scores", "count" };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  set_tensor (c, &tensors[0], "x", x, NULL);
  set_tensor (c, &tensors[1], "s", scores, NULL);
  set_tensor (c, &tensors[2], "anchors", anchors, constant);
  for (guint i = 0; i < N_OUTPUTS; i++)
    tensors[3 + i] = (TfliteTensor){ .name = names[i], .shape = "" };
  tensors[7] = (TfliteTensor){ .name = "options",
                               .shape = "",
                               .data = g_bytes_get_data (options, NULL),
                               .n_bytes = (guint) g_bytes_get_size (options) };
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  return graph;
}

static GPtrArray *
inputs_of (const Case *c, const CleaveGraph *graph)
{
  g_autoptr (GBytes) x = pack (c, c->x[0], 4, 4, c->n);
  g_autoptr (GBytes) scores = pack (c, c->scores[0], c->columns, MAX_COLUMNS, c->n);
  GPtrArray *inputs = tensors_new ();

  for (guint i = 0; i < 2; i++)
    g_ptr_array_add (inputs, cleave_tensor_new_from_bytes (
                                 cleave_result_get_type (cleave_graph_get_input (graph, i)),
                                 i == 0 ? x : scores, NULL));
  return inputs;
}

START_TEST (detections_follow_the_definition)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2018);
  guint n_found = 0, n_empty = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      g_autoptr (CleaveGraph) graph = NULL;
      g_autoptr (GPtrArray) inputs = NULL, outputs = NULL;
      g_autoptr (GBytes) options = NULL;
      float corners[MAX_BOXES][4];
      Found found = { 0 };
      gsize n_rows;
      Case c;

      draw_case (rand, &c);
      options = options_of (&c);
      graph = load (&c, options);
      inputs = inputs_of (&c, graph);
      outputs = run_graph (graph, inputs, 2);
      decode (&c, corners);
      (c.regular ? expect_regular : expect_fast) (&c, corners, &found);
      n_rows = (gsize) (c.max_detections * c.max_classes);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), found.boxes, n_rows * 16);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[1]), found.classes, n_rows * 4);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[2]), found.scores, n_rows * 4);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[3]), &found.count, 4);
      n_found += (guint) found.count;
      n_empty += found.count == 0;
    }
  ck_assert_uint_gt (n_found, 4 * N_CASES);
  ck_assert_uint_gt (n_empty, 0);
}
END_TEST

/* Replaces entry `entry` of a good list of options by `wrong`. Asserts that the import refuses the
 * list with this message. */
static void
assert_refused (guint entry, FlexEntry wrong, const char *message)
{
  FlexEntry entries[] = { { "max_detections", 2, 'i' },
                          { "max_classes_per_detection", 1, 'i' },
                          { "num_classes", 1, 'i' },
                          { "nms_score_threshold", 0.5, 'f' },
                          { "nms_iou_threshold", 0.5, 'f' },
                          { "y_scale", 10, 'f' },
                          { "x_scale", 10, 'f' },
                          { "h_scale", 5, 'f' },
                          { "w_scale", 5, 'f' },
                          { NULL } };
  TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x2x4" },     { .name = "s", .shape = "1x2x2" },
    { .name = "a", .shape = "2x4" },       { .name = "boxes", .shape = "1x2x4" },
    { .name = "classes", .shape = "1x2" }, { .name = "scores", .shape = "1x2" },
    { .name = "count", .shape = "1" }
  };
  const TfliteOperator op = { .code = 32,
                              .custom = "TFLite_Detection_PostProcess",
                              .inputs = { 0, 1, 2 },
                              .n_inputs = 3,
                              .outputs = { 3, 4, 5, 6 },
                              .n_outputs = 4,
                              .options = { { 0, 'c', 7 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1, 2 }, 3, { 3 }, 1, 0 };
  g_autoptr (GBytes) bytes = NULL, options = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GError) error = NULL;

  entries[entry] = wrong;
  options = flex_map_new (entries, 4);
  tensors[7].data = g_bytes_get_data (options, NULL);
  tensors[7].n_bytes = (guint) g_bytes_get_size (options);
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_ptr_null (graph);
  ck_assert_msg (strstr (error->message, message) != NULL, "%s", error->message);
}

START_TEST (wrong_options_are_refused)
{
  assert_refused (0, (FlexEntry){ "max_detections", 0, 'i' },
                  "operator 0, TFLite_Detection_PostProcess 'boxes': option 'max_detections' is 0, "
                  "but must be an integer from 1 to");
  assert_refused (0, (FlexEntry){ "max_detections", 2.5, 'f' }, "must be an integer");
  assert_refused (1, (FlexEntry){ "other", 1, 'i' },
                  "its options have no number 'max_classes_per_detection'");
  assert_refused (2, (FlexEntry){ "num_classes", 3, 'i' }, "num_classes is 3, but must be 1 to 2");
  assert_refused (3, (FlexEntry){ "nms_score_threshold", 0, 's' },
                  "option 'nms_score_threshold' is no number");
  assert_refused (4, (FlexEntry){ "nms_iou_threshold", 0, 'f' },
                  "nms_iou_threshold is 0, but must be above 0");
  assert_refused (4, (FlexEntry){ "nms_iou_threshold", 1.5, 'f' }, "must be a number from 0 to 1");
  assert_refused (6, (FlexEntry){ "x_scale", 0, 'f' }, "entry 1 of scales is 0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "detections", detections_follow_the_definition, wrong_options_are_refused,
                   NULL);
}

CLEAVE_TEST_SUITE ("tflite detections", add_tests)
