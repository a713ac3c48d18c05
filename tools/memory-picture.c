/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Draws one diagram (panel) for each timeline, one below the other: live bytes over the steps of a
 * run. A colored area shows the bytes of one buffer that is in use at the peak. A column is the
 * part of a panel that shows one step or several adjacent steps. */

#include "memory-picture.h"
#include "sizes.h"

#include <math.h>

/* Extents and margins of the picture's panels, and the height of a line of the legend, in
 * pixels. */
#define LEFT 84
#define TOP 46
#define WIDTH 720
#define HEIGHT 260
#define LEGEND 330
#define PANEL (TOP + HEIGHT + 54)
#define LINE 17
/* At most this many buffers get an area with a color of their own. All other buffers share one gray
 * area. */
#define MAX_AREAS 9
/* A picture has at most one column for each pixel of its width. If there are more steps than
 * columns, a column shows the maximum of its steps. */
#define MAX_COLUMNS WIDTH
/* A name in the picture has at most this many characters. A longer name shows only its end. */
#define MAX_NAME 30

static const char *const colors[MAX_AREAS] = { "#4477aa", "#ee6677", "#228833",
                                               "#ccbb44", "#66ccee", "#aa3377",
                                               "#e08a1e", "#7a5195", "#3f9b8f" };

typedef struct
{
  GString *svg;
  const CleaveMemoryTimeline *timeline;
  GArray *peak;      /* guint: indices of the buffers in use at the peak, the largest first */
  guint n_areas;     /* the first `n_areas` buffers in `peak` have colored areas */
  guint n_columns;   /* number of columns that are drawn */
  double top, scale; /* top of the panel in pixels; pixels per byte */
} Panel;

static int
compare_bytes (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveBufferLifetime *buffers = data;
  guint i = *(const guint *) a, j = *(const guint *) b;

  if (buffers[i].n_bytes != buffers[j].n_bytes)
    return buffers[i].n_bytes > buffers[j].n_bytes ? -1 : 1;
  return (i > j) - (i < j);
}

GArray *
cleave_memory_list_peak (const CleaveMemoryTimeline *timeline)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < timeline->n_buffers; i++)
    if (timeline->buffers[i].first <= timeline->peak_step &&
        timeline->buffers[i].last >= timeline->peak_step)
      g_array_append_val (list, i);
  g_array_sort_with_data (list, compare_bytes, timeline->buffers);
  return list;
}

/* Returns the text escaped for XML. Characters that XML does not allow become replacement
 * characters. */
static char *
escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autoptr (GString) clean = g_string_new (NULL);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);

      g_string_append_unichar (clean, g_unichar_iscntrl (u) || (u & 0xfffe) == 0xfffe ? 0xfffd : u);
    }
  return g_markup_escape_text (clean->str, -1);
}

static void
add_text (GString *svg, double x, double y, const char *attributes, const char *text)
{
  g_autofree char *escaped = escape (text);

  g_string_append_printf (svg, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, attributes,
                          escaped);
}

static char *
shorten (const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  glong n = g_utf8_strlen (valid, -1);

  if (n <= MAX_NAME)
    return g_steal_pointer (&valid);
  return g_strconcat ("…", g_utf8_offset_to_pointer (valid, n - MAX_NAME + 1), NULL);
}

/* Sets `first` and `end`: the column shows the steps [first, end). */
static void
get_column (const Panel *panel, guint column, guint *first, guint *end)
{
  guint64 n = panel->timeline->n_steps;

  *first = (guint) (column * n / panel->n_columns);
  *end = (guint) ((column + 1) * n / panel->n_columns);
}

static double
get_x (const Panel *panel, double column)
{
  return LEFT + column * WIDTH / MAX (panel->n_columns, 1);
}

static double
get_y (const Panel *panel, double bytes)
{
  return panel->top + HEIGHT - bytes * panel->scale;
}

/* Returns the most live bytes in a column. */
static gint64
get_live (const Panel *panel, guint column)
{
  guint first, end;
  gint64 most = 0;

  get_column (panel, column, &first, &end);
  for (guint i = first; i < end; i++)
    most = MAX (most, panel->timeline->steps[i].live_bytes);
  return most;
}

/* Returns whether the buffer is in use at the peak of a column: the step of the column with the
 * most live bytes. If several steps have the most live bytes, the first of them is the peak. */
static gboolean
is_in (const Panel *panel, const CleaveBufferLifetime *buffer, guint column)
{
  guint first, end;
  gint64 most = get_live (panel, column);

  get_column (panel, column, &first, &end);
  for (guint i = first; i < end; i++)
    if (panel->timeline->steps[i].live_bytes == most)
      return buffer->first <= i && i <= buffer->last;
  return FALSE;
}

static gboolean
is_corner (const gint64 *a, const gint64 *b, guint column)
{
  return a[column] + b[column] != a[column - 1] + b[column - 1];
}

/* Adds the upper outline of an area to the path in `panel->svg`: a line that lies at a[c] + b[c]
 * bytes in column c. Writes only the corners of the line. The line runs from left to right, or from
 * right to left if `back`. */
static void
add_edge (Panel *panel, const gint64 *a, const gint64 *b, gboolean back)
{
  guint n = panel->n_columns;

  for (guint i = 0; i <= n; i++)
    {
      guint c = back ? n - i : i;
      double x = get_x (panel, c);

      if (c > 0 && c < n && !is_corner (a, b, c))
        continue;
      for (guint side = 0; side < 2; side++)
        {
          guint column = side == (guint) back ? MAX (c, 1) - 1 : MIN (c, n - 1);

          g_string_append_printf (panel->svg, "%.1f,%.1f ", x,
                                  get_y (panel, (double) (a[column] + b[column])));
        }
    }
}

/* `below` has, for each column, the height in bytes of the areas drawn so far. Draws an area above
 * these areas, with a height of `bytes` in each column. Then adds `bytes` to `below`. */
static void
add_area (Panel *panel, const gint64 *bytes, gint64 *below, const char *attributes)
{
  g_autofree gint64 *none = g_new0 (gint64, panel->n_columns + 1);

  g_string_append (panel->svg, "<path d=\"M");
  add_edge (panel, bytes, below, FALSE);
  add_edge (panel, none, below, TRUE);
  g_string_append_printf (panel->svg, "z\" %s/>\n", attributes);
  for (guint c = 0; c < panel->n_columns; c++)
    below[c] += bytes[c];
}

/* Adds the areas: the values of the peak at the bottom, the largest first, and all other live bytes
 * above them. */
static void
add_areas (Panel *panel)
{
  g_autofree gint64 *below = g_new0 (gint64, panel->n_columns + 1);
  g_autofree gint64 *bytes = g_new0 (gint64, panel->n_columns + 1);

  for (guint b = 0; b < panel->n_areas; b++)
    {
      const CleaveBufferLifetime *buffer =
          &panel->timeline->buffers[g_array_index (panel->peak, guint, b)];
      g_autofree char *attributes = g_strdup_printf ("fill=\"%s\"", colors[b]);

      for (guint c = 0; c < panel->n_columns; c++)
        bytes[c] = is_in (panel, buffer, c) ? buffer->n_bytes : 0;
      add_area (panel, bytes, below, attributes);
    }
  for (guint c = 0; c < panel->n_columns; c++)
    bytes[c] = get_live (panel, c) - below[c];
  add_area (panel, bytes, below, "fill=\"#bbbbbb\"");
}

static void
add_legend (const Panel *panel)
{
  double x = LEFT + WIDTH + 24, y = panel->top + 12;
  gint64 rest = panel->timeline->peak_bytes;
  guint b = 0;

  for (; b < panel->n_areas; b++, y += 2 * LINE - 6)
    {
      const CleaveBufferLifetime *buffer =
          &panel->timeline->buffers[g_array_index (panel->peak, guint, b)];
      g_autofree char *size = cleave_size_to_text (buffer->n_bytes);
      g_autofree char *name = shorten (buffer->name);
      g_autofree char *text =
          g_strdup_printf ("%s, steps %u to %u", size, buffer->first, buffer->last);

      g_string_append_printf (
          panel->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"20\" fill=\"%s\"/>\n", x,
          y - 9, colors[b]);
      add_text (panel->svg, x + 16, y, " font-weight=\"600\"", name);
      add_text (panel->svg, x + 16, y + 12, " fill=\"#555555\"", text);
      rest -= buffer->n_bytes;
    }
  if (rest > 0)
    {
      g_autofree char *size = cleave_size_to_text (rest);
      g_autofree char *text =
          g_strdup_printf ("%u more at the peak, %s", panel->peak->len - b, size);

      add_text (panel->svg, x + 16, y, " fill=\"#555555\"", text);
    }
}

/* Returns the distance of ticks: a power of two that divides the range into four to eight parts. */
static double
find_tick (double most)
{
  return MAX (exp2 (floor (log2 (MAX (most, 1) / 4))), 1);
}

/* Returns the distance of ticks on the axis of steps: 1, 2 or 5 times a power of ten that gives at
 * most ten ticks. */
static guint
find_step_tick (guint n_steps)
{
  guint every = 1;

  for (guint i = 0; n_steps / every >= 10; i++)
    every = i % 3 == 1 ? every / 2 * 5 : every * 2;
  return every;
}

static void
add_axes (const Panel *panel, double most)
{
  double tick = find_tick (most);
  guint n_steps = panel->timeline->n_steps, every = find_step_tick (n_steps);

  for (double bytes = 0; bytes <= most * 1.0001; bytes += tick)
    {
      g_autofree char *size = cleave_size_to_text ((gint64) bytes);

      g_string_append_printf (panel->svg, "<path d=\"M%d,%.1f h%d\" stroke=\"#dddddd\"/>\n", LEFT,
                              get_y (panel, bytes), WIDTH);
      add_text (panel->svg, LEFT - 8, get_y (panel, bytes) + 4, " text-anchor=\"end\"", size);
    }
  for (guint step = 0; step < n_steps; step += every)
    {
      g_autofree char *text = g_strdup_printf ("%u", step);

      add_text (panel->svg, LEFT + (step + 0.5) * WIDTH / n_steps, panel->top + HEIGHT + 16,
                " text-anchor=\"middle\"", text);
    }
  add_text (panel->svg, LEFT + WIDTH / 2.0, panel->top + HEIGHT + 32,
            " text-anchor=\"middle\" fill=\"#555555\"", "steps of the run");
}

static void
add_limit (const Panel *panel, gint64 limit)
{
  g_autofree char *size = cleave_size_to_text (limit);
  g_autofree char *text = g_strdup_printf ("limit %s", size);
  double y = get_y (panel, (double) limit);

  g_string_append_printf (panel->svg,
                          "<path d=\"M%d,%.1f h%d\" stroke=\"#cc0000\" stroke-width=\"1.5\""
                          " stroke-dasharray=\"6 4\"/>\n",
                          LEFT, y, WIDTH);
  add_text (panel->svg, LEFT + WIDTH - 4, y - 5, " text-anchor=\"end\" fill=\"#cc0000\"", text);
}

static void
add_title (const Panel *panel, const char *title)
{
  const CleaveMemoryTimeline *timeline = panel->timeline;
  const CleaveMemoryStep *step = &timeline->steps[timeline->peak_step];
  g_autofree char *peak = cleave_size_to_text (timeline->peak_bytes);
  g_autofree char *arena = cleave_size_to_text (timeline->arena_bytes);
  g_autofree char *name = shorten (step->name);
  g_autofree char *text = g_strdup_printf ("peak %s at step %u (%s %s), arena %s", peak,
                                           timeline->peak_step, step->op, name, arena);

  add_text (panel->svg, LEFT, panel->top - 24, " font-weight=\"600\" font-size=\"13\"", title);
  add_text (panel->svg, LEFT, panel->top - 8, " fill=\"#555555\"", text);
}

static void
add_panel (GString *svg, const CleaveMemoryPanel *from, guint index, double most, gint64 limit)
{
  g_autoptr (GArray) peak = cleave_memory_list_peak (from->timeline);
  Panel panel = { .svg = svg,
                  .timeline = from->timeline,
                  .peak = peak,
                  .n_areas = MIN (peak->len, MAX_AREAS),
                  .n_columns = MIN (from->timeline->n_steps, MAX_COLUMNS),
                  .top = index * PANEL + TOP,
                  .scale = HEIGHT / most };

  if (panel.n_columns == 0)
    {
      add_text (svg, LEFT, panel.top, "", "nothing to do");
      return;
    }
  add_axes (&panel, most);
  add_areas (&panel);
  add_title (&panel, from->title);
  add_legend (&panel);
  if (limit > 0)
    add_limit (&panel, limit);
}

char *
cleave_memory_picture_draw (const CleaveMemoryPanel *panels, guint n_panels, gint64 limit)
{
  GString *svg = g_string_new (NULL);
  gint64 most = MAX (limit, 1);

  for (guint i = 0; i < n_panels; i++)
    most = MAX (most, panels[i].timeline->peak_bytes);
  g_string_append_printf (
      svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\""
      " font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      LEFT + WIDTH + LEGEND, n_panels * PANEL, LEFT + WIDTH + LEGEND, n_panels * PANEL);
  for (guint i = 0; i < n_panels; i++)
    add_panel (svg, &panels[i], i, (double) most, limit);
  g_string_append (svg, "</svg>\n");
  return g_string_free (svg, FALSE);
}
