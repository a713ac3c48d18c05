/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave memory`: shows the live bytes over the steps of a run. */

#include "arguments.h"
#include "commands.h"
#include "convention.h"
#include "json.h"
#include "memory-picture.h"
#include "model.h"
#include "outputs.h"
#include "sizes.h"
#include "standard.h"

#include <stdio.h>
#include <string.h>

/* The bar chart on a terminal has at most this many rows. */
#define ROWS 24
/* Number of columns of the longest bar. */
#define BAR 40
/* The table of buffers has at most this many rows. */
#define TABLE 10

typedef struct
{
  CleaveModelOptions model;
  char *path, *after, *threads, *limit_text;
  gint64 n_threads, limit;
  gboolean as_json, has_plan;
} Options;

/* The functions below print the report as text. */

static void
print_bar (gint64 bytes, gint64 most, gint64 limit)
{
  double scale = BAR / (double) MAX (most, 1);
  int n = (int) ((double) bytes * scale + 0.5);
  int line = limit > 0 ? MIN ((int) ((double) limit * scale + 0.5), BAR) : -1;

  for (int i = 0; i <= BAR; i++)
    putchar (i == line ? '|' : i < n ? '#' : ' ');
}

/* Prints a range of steps as one row of the bar chart, which shows the step with the most live
 * bytes of this range. */
static void
print_row (const CleaveMemoryTimeline *timeline, guint first, guint end, gint64 most, gint64 limit)
{
  guint at = first;
  const CleaveMemoryStep *step;
  g_autofree char *live = NULL;

  for (guint i = first; i < end; i++)
    if (timeline->steps[i].live_bytes > timeline->steps[at].live_bytes)
      at = i;
  step = &timeline->steps[at];
  live = cleave_size_to_print (step->live_bytes);
  printf ("%7u %14s ", at, live);
  print_bar (step->live_bytes, most, limit);
  printf ("%s %s %s\n", step->live_bytes == timeline->peak_bytes ? "*" : " ", step->op, step->name);
}

static void
print_bars (const CleaveMemoryTimeline *timeline, gint64 limit)
{
  guint n_rows = MIN (timeline->n_steps, ROWS);

  printf ("   step           live\n");
  for (guint row = 0; row < n_rows; row++)
    print_row (timeline, (guint) ((guint64) row * timeline->n_steps / n_rows),
               (guint) ((guint64) (row + 1) * timeline->n_steps / n_rows),
               MAX (timeline->peak_bytes, limit), limit);
}

/* Returns the peak that the run would have if a buffer took no memory. */
static gint64
find_peak_without (const CleaveMemoryTimeline *timeline, const CleaveBufferLifetime *buffer)
{
  gint64 most = 0;

  for (guint i = 0; i < timeline->n_steps; i++)
    {
      gboolean is_there = buffer->first <= i && i <= buffer->last;

      most = MAX (most, timeline->steps[i].live_bytes - (is_there ? buffer->n_bytes : 0));
    }
  return most;
}

static void
print_peak (const CleaveMemoryTimeline *timeline)
{
  g_autoptr (GArray) peak = cleave_memory_list_peak (timeline);
  guint at = timeline->peak_step;
  gint64 waiting = 0, rest = 0;
  g_autofree char *text_rest = NULL, *near = NULL, *far = NULL;

  printf ("in use at the peak:\n          size  peak without it  steps          value\n");
  for (guint i = 0; i < peak->len; i++)
    {
      const CleaveBufferLifetime *buffer = &timeline->buffers[g_array_index (peak, guint, i)];
      g_autofree char *steps = g_strdup_printf ("%u to %u", buffer->first, buffer->last);
      g_autofree char *size = cleave_size_to_print (buffer->n_bytes);
      g_autofree char *without = cleave_size_to_print (find_peak_without (timeline, buffer));

      waiting += buffer->first < at && buffer->last > at ? buffer->n_bytes : 0;
      if (i < TABLE)
        printf ("%14s %16s  %-14s %s\n", size, without, steps, buffer->name);
      else
        rest += buffer->n_bytes;
    }
  text_rest = cleave_size_to_print (rest);
  near = cleave_size_to_print (timeline->peak_bytes - waiting);
  far = cleave_size_to_print (waiting);
  if (peak->len > TABLE)
    printf ("%14s  of %u more\n", text_rest, peak->len - TABLE);
  printf ("At the peak, the operands and results of %s '%s' take %s, values that wait for later "
          "steps %s.\n",
          timeline->steps[at].op, timeline->steps[at].name, near, far);
}

static void
print_text (const CleaveMemoryPanel *panel, gint64 limit)
{
  const CleaveMemoryTimeline *timeline = panel->timeline;
  g_autofree char *peak = cleave_size_to_print (timeline->peak_bytes);
  g_autofree char *arena = cleave_size_to_print (timeline->arena_bytes);
  g_autofree char *asked = cleave_size_to_print (limit);

  printf ("%s: peak %s of " CLEAVE_CONVENTION_NAME, panel->title, peak);
  if (timeline->n_steps > 0)
    printf (" at step %u of %u", timeline->peak_step, timeline->n_steps);
  printf (", arena %s\n", arena);
  print_bars (timeline, limit);
  if (timeline->peak_bytes > 0)
    print_peak (timeline);
  if (limit > 0)
    printf ("The limit of %s %s.\n", asked,
            timeline->arena_bytes <= limit ? "is met" : "is not met");
}

/* Appends a word of a command, in quotes if a shell needs them. */
static void
append_word (GString *command, const char *word)
{
  g_autofree char *quoted = g_shell_quote (word);
  gboolean is_plain = *word != '\0';

  for (const char *c = word; *c != '\0'; c++)
    is_plain = is_plain && (g_ascii_isalnum (*c) || strchr ("._-/=:,%+", *c) != NULL);
  g_string_append_printf (command, " %s", is_plain ? word : quoted);
}

/* Returns a command `cleave fit` for the model. The command contains the options of this command
 * line that `fit` also accepts. */
static char *
dup_fit (const char *model, const Options *o)
{
  GString *command = g_string_new ("cleave fit");

  append_word (command, model);
  for (guint i = 0; o->model.shapes != NULL && o->model.shapes[i] != NULL; i++)
    {
      g_string_append (command, " --shape");
      append_word (command, o->model.shapes[i]);
    }
  for (guint i = 0; o->model.values != NULL && o->model.values[i] != NULL; i++)
    {
      g_string_append (command, " --fix");
      append_word (command, o->model.values[i]);
    }
  if (o->n_threads > 1)
    g_string_append_printf (command, " --threads %" G_GINT64_FORMAT, o->n_threads);
  return g_string_free (command, FALSE);
}

/* Prints the command that lowers the peak of a model. */
static void
print_advice (const char *model, const Options *o, gint64 arena)
{
  g_autofree char *command = dup_fit (model, o);

  if (o->limit_text != NULL && arena > o->limit)
    printf ("To meet it, run: %s --max-memory %s -o OUT.onnx\n", command, o->limit_text);
  else if (o->limit_text == NULL && o->after == NULL && arena > 0)
    printf ("To lower the peak, choose a plan of: %s --frontier\n", command);
}

/* The functions below print the report as JSON. */

static void
add_json (CleaveJson *json, const CleaveMemoryPanel *panel)
{
  const CleaveMemoryTimeline *timeline = panel->timeline;

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "model", panel->title);
  cleave_json_int (json, "peak_activation_bytes", timeline->peak_bytes);
  cleave_json_int (json, "arena_bytes", timeline->arena_bytes);
  cleave_json_int (json, "peak_step", timeline->peak_step);
  cleave_json_begin_list (json, "steps");
  for (guint i = 0; i < timeline->n_steps; i++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", timeline->steps[i].name);
      cleave_json_string (json, "op", timeline->steps[i].op);
      cleave_json_int (json, "live_bytes", timeline->steps[i].live_bytes);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_begin_list (json, "buffers");
  for (guint i = 0; i < timeline->n_buffers; i++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "value", timeline->buffers[i].name);
      cleave_json_int (json, "bytes", timeline->buffers[i].n_bytes);
      cleave_json_int (json, "offset", timeline->buffers[i].offset);
      cleave_json_int (json, "first", timeline->buffers[i].first);
      cleave_json_int (json, "last", timeline->buffers[i].last);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_end (json);
}

static void
print_json (const CleaveMemoryPanel *panels, guint n_panels, gint64 limit)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  if (limit > 0)
    cleave_json_int (json, "limit", limit);
  cleave_json_begin_list (json, "models");
  for (guint i = 0; i < n_panels; i++)
    add_json (json, &panels[i]);
  cleave_json_end_list (json);
  cleave_json_print (json);
}

static gboolean
write_picture (
    const char *path, const CleaveMemoryPanel *panels, guint n_panels, gint64 limit, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  char *svg = cleave_memory_picture_draw (panels, n_panels, limit);
  g_autoptr (GBytes) bytes = g_bytes_new_take (svg, strlen (svg));

  return cleave_outputs_add_bytes (outputs, path, bytes, error) &&
         cleave_outputs_commit (outputs, error);
}

/* Writes a copy of a TensorFlow Lite file that contains the offset of each tensor in the arena.
 * Returns the exit status. */
static int
write_plan (const char *model, const Options *o, GError **error)
{
  const gint64 alignment = 16; /* alignment of tensors in TensorFlow Lite for Microcontrollers */
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autoptr (GBytes) file = NULL, planned = NULL;
  g_autofree char *size = NULL;
  char *data;
  gsize n_data;
  gint64 n_bytes;

  if (!cleave_read_file (model, &data, &n_data, error))
    return CLEAVE_WRONG;
  file = g_bytes_new_take (data, n_data);
  planned = cleave_tflite_add_memory_plan (file, alignment, &n_bytes, error);
  if (planned == NULL)
    {
      g_prefix_error (error, "%s: ", model);
      return CLEAVE_WRONG;
    }
  cleave_outputs_protect (model);
  cleave_outputs_set_force (o->model.force);
  if (!cleave_outputs_add_bytes (outputs, o->path, planned, error) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  size = cleave_size_to_print (n_bytes);
  printf (
      "%s: the tensors take %s of the arena of TensorFlow Lite for Microcontrollers, aligned to "
      "%" G_GINT64_FORMAT " bytes\n",
      o->path, size, alignment);
  return o->limit > 0 && n_bytes > o->limit ? CLEAVE_NO : CLEAVE_DONE;
}

static CleaveMemoryTimeline *
load (const char *path, const Options *o, GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_model_load (path, &o->model, error);

  return graph == NULL ? NULL : cleave_memory_timeline_new (graph, (guint) o->n_threads, error);
}

/* Checks that --offline-plan is combined with no options but -o, --force and --max-memory. Checks
 * the ending of the file to write. */
static gboolean
check_output (const Options *o, GError **error)
{
  if (o->has_plan && (o->after != NULL || o->threads != NULL || o->as_json ||
                      o->model.shapes != NULL || o->model.values != NULL))
    return cleave_argument_fail (error,
                                 "--offline-plan: only -o, --force and --max-memory go with it");
  if (o->path != NULL && !g_str_has_suffix (o->path, o->has_plan ? ".tflite" : ".svg"))
    return cleave_argument_fail (error, "-o: the name must end in %s, not '%s'",
                                 o->has_plan ? ".tflite" : ".svg", o->path);
  return TRUE;
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->path, "draw a picture into an SVG file",
      "FILE.svg" },
    { "after", 0, 0, G_OPTION_ARG_FILENAME, &o->after, "add a split model below the first",
      "SPLIT.onnx" },
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->limit_text,
      "show a limit; exit with 1 if the last model's arena is larger", "SIZE" },
    CLEAVE_THREADS_OPTION (o->threads, "the run"),
    { "offline-plan", 0, 0, G_OPTION_ARG_NONE, &o->has_plan,
      "write the .tflite model with a plan of its tensors to the file of -o", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = { { "force", { "output" } },
                                              { "offline-plan", { "output" } },
                                              { 0 } };
  const CleaveArguments arguments = { entries, needs, "MODEL.onnx",
                                      "Show the bytes of activations in use at each step of a run, "
                                      "the values in use\nat the peak, and how to lower the peak.",
                                      1 };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL || !cleave_argument_threads (o->threads, &o->n_threads, error) ||
      (o->limit_text != NULL &&
       !cleave_text_to_size ("--max-memory", o->limit_text, &o->limit, error)) ||
      !check_output (o, error))
    return NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_memory (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  gboolean draws = files != NULL && !o.has_plan;
  g_autoptr (CleaveMemoryTimeline) before = draws ? load (files[0], &o, error) : NULL;
  g_autoptr (CleaveMemoryTimeline) after =
      before == NULL || o.after == NULL ? NULL : load (o.after, &o, error);
  CleaveMemoryPanel panels[2] = { { files == NULL ? NULL : files[0], before }, { o.after, after } };
  guint n = after == NULL ? 1 : 2;

  if (files != NULL && o.has_plan)
    return write_plan (files[0], &o, error);
  if (before == NULL || (o.after != NULL && after == NULL) ||
      (o.path != NULL && !write_picture (o.path, panels, n, o.limit, error)))
    return CLEAVE_WRONG;
  if (o.as_json)
    print_json (panels, n, o.limit);
  for (guint i = 0; i < n && !o.as_json; i++)
    print_text (&panels[i], o.limit);
  if (!o.as_json)
    print_advice (files[0], &o, panels[n - 1].timeline->arena_bytes);
  return o.limit > 0 && panels[n - 1].timeline->arena_bytes > o.limit ? CLEAVE_NO : CLEAVE_DONE;
}
