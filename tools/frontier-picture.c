/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Draws two diagrams (panels), one below the other: latency and added MACs over the bytes of the
 * arena. The horizontal axis is logarithmic. A plan is Pareto optimal in a panel if no other plan
 * beats it in both of the panel's quantities. */

#include "frontier-picture.h"

#include "memory-picture.h"
#include "sizes.h"

#include <math.h>

/* Extents and margins of the picture's panels, in pixels. */
#define LEFT 84
#define WIDTH 760
#define RIGHT 60
#define TOP 40
#define ABOVE 80 /* space for the labels of the highest points, in pixels */
#define HEIGHT 220
#define PANEL (TOP + ABOVE + HEIGHT + 62)
/* A label is a line of text that rises by 60 degrees. SIN and COS: sine and cosine of this angle.
 * BETWEEN: smallest distance of two parallel labels, in pixels. LABEL: length of a label, in
 * pixels. */
#define SIN 0.866
#define COS 0.5
#define BETWEEN 11
#define LABEL 110

#define N_TICKS 4

/* The vertical axis. `what`: name of the quantity; `get`: returns the quantity of a plan; `label`:
 * returns the label of a plan's point. */
typedef struct
{
  const char *what;
  double (*get) (const CleaveFitTotals *totals);
  char *(*label) (const CleaveFitTotals *totals);
} Axis;

typedef struct
{
  double x, y;
} Point;

typedef struct
{
  GString *svg;
  const GPtrArray *plans;
  const Axis *axis;
  double top;
  double least_bytes, most_bytes; /* range of the horizontal axis: base-2 logarithms of bytes */
  double least, most;             /* range of the vertical axis */
} Panel;

static double
get_latency (const CleaveFitTotals *totals)
{
  return totals->latency_after / 1e6;
}

static double
get_macs (const CleaveFitTotals *totals)
{
  return totals->macs_before <= 0 ? 0
                                  : 100 * (double) (totals->macs_after - totals->macs_before) /
                                        (double) totals->macs_before;
}

static char *
label_arena (const CleaveFitTotals *totals)
{
  return cleave_size_to_text (totals->arena_after);
}

static char *
label_macs (const CleaveFitTotals *totals)
{
  g_autofree char *arena = label_arena (totals);

  return totals->macs_after == totals->macs_before
             ? g_steal_pointer (&arena)
             : g_strdup_printf ("%s, %+.1f %%", arena, get_macs (totals));
}

static const Axis axes[] = {
  { "estimated latency, ms", get_latency, label_arena },
  { "added MACs, per cent", get_macs, label_macs },
};

static const CleaveFitTotals *
get_totals (const Panel *panel, guint i)
{
  return cleave_fit_plan_get_totals (panel->plans->pdata[i]);
}

static double
get_power (gint64 bytes)
{
  return log2 ((double) MAX (bytes, 1));
}

static double
get_x (const Panel *panel, double power)
{
  double part = (power - panel->least_bytes) / MAX (panel->most_bytes - panel->least_bytes, 1e-9);

  return LEFT + WIDTH * part;
}

static double
get_y (const Panel *panel, double value)
{
  double part = (value - panel->least) / MAX (panel->most - panel->least, 1e-9);

  return panel->top + ABOVE + HEIGHT * (1 - part);
}

static void
find_scales (Panel *panel)
{
  panel->least = panel->least_bytes = INFINITY;
  panel->most = panel->most_bytes = -INFINITY;
  for (guint i = 0; i < panel->plans->len; i++)
    {
      const CleaveFitTotals *totals = get_totals (panel, i);
      double power = get_power (totals->arena_after), value = panel->axis->get (totals);

      panel->least_bytes = MIN (panel->least_bytes, power);
      panel->most_bytes = MAX (panel->most_bytes, power);
      panel->least = MIN (panel->least, value);
      panel->most = MAX (panel->most, value);
    }
  if (panel->most - panel->least < 1e-9)
    panel->most = panel->least + 1;
}

static void
add_text (GString *svg, double x, double y, const char *attributes, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *escaped = g_markup_escape_text (valid, -1);

  g_string_append_printf (svg, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, attributes,
                          escaped);
}

static void
add_line (GString *svg, double x1, double y1, double x2, double y2)
{
  g_string_append_printf (
      svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x1, y1,
      x2, y2);
}

static void
add_ticks (const Panel *panel)
{
  double bottom = panel->top + ABOVE + HEIGHT;

  double by = panel->most_bytes - panel->least_bytes > 3 ? 1 : 0.5;

  for (double power = ceil (panel->least_bytes); power <= panel->most_bytes; power += by)
    {
      g_autofree char *size = cleave_size_to_text ((gint64) exp2 (power) / 1024 * 1024);

      add_line (panel->svg, get_x (panel, power), panel->top + ABOVE, get_x (panel, power), bottom);
      add_text (panel->svg, get_x (panel, power), bottom + 16, " text-anchor=\"middle\"", size);
    }
  add_text (
      panel->svg, LEFT + WIDTH / 2.0, bottom + 34, " text-anchor=\"middle\" fill=\"#555555\"",
      "arena, logarithmic scale; pale points: another plan is at least as good in both quantities");
  for (guint i = 0; i <= N_TICKS; i++)
    {
      double value = panel->least + (panel->most - panel->least) * i / N_TICKS;
      g_autofree char *text = g_strdup_printf ("%.4g", value);

      add_line (panel->svg, LEFT, get_y (panel, value), LEFT + WIDTH, get_y (panel, value));
      add_text (panel->svg, LEFT - 8, get_y (panel, value) + 4, " text-anchor=\"end\"", text);
    }
}

/* Returns whether a plan is Pareto optimal: each other plan has a larger arena, or a larger value
 * on the vertical axis. Of several plans with the same arena and the same value, only the first is
 * Pareto optimal. */
static gboolean
is_best (const Panel *panel, guint index)
{
  const CleaveFitTotals *totals = get_totals (panel, index);
  double value = panel->axis->get (totals);

  for (guint i = 0; i < panel->plans->len; i++)
    {
      const CleaveFitTotals *other = get_totals (panel, i);
      double its = panel->axis->get (other);
      gboolean is_same = other->arena_after == totals->arena_after && its >= value;

      if (i != index && other->arena_after <= totals->arena_after && its <= value &&
          (!is_same || i < index))
        return FALSE;
    }
  return TRUE;
}

/* Returns the position at which a label begins: `at`, or a position to the left of `at` if the
 * label would overlap a label in `placed`. Labels are parallel slanted lines of text. Two labels
 * overlap if the distance of these lines is less than BETWEEN, and if the distance of the begins of
 * the two labels, along the text, is less than LABEL. */
static Point
find_free (const GArray *placed, Point at)
{
  for (guint i = 0; i < placed->len; i++)
    {
      const Point *other = &g_array_index (placed, Point, i);
      double x = at.x - other->x, y = at.y - other->y;

      if (fabs (x * SIN + y * COS) >= BETWEEN - 0.01 || fabs (x * COS - y * SIN) >= LABEL)
        continue;
      at.x = other->x - (BETWEEN + y * COS) / SIN;
      i = G_MAXUINT; /* compare with all labels again */
    }
  return at;
}

/* Adds a label for each Pareto-optimal plan, in the order of the plans: the plan with the largest
 * arena is the first. A white outline keeps a label readable above a point. */
static void
add_labels (const Panel *panel)
{
  g_autoptr (GArray) placed = g_array_new (FALSE, FALSE, sizeof (Point));

  for (guint i = 0; i < panel->plans->len; i++)
    {
      const CleaveFitTotals *totals = get_totals (panel, i);
      Point at = { get_x (panel, get_power (totals->arena_after)),
                   get_y (panel, panel->axis->get (totals)) - 8 };
      g_autofree char *text = NULL, *turned = NULL;

      if (!is_best (panel, i))
        continue;
      at = find_free (placed, at);
      g_array_append_val (placed, at);
      text = panel->axis->label (totals);
      turned = g_strdup_printf (" font-size=\"10\" stroke=\"white\" stroke-width=\"3\""
                                " paint-order=\"stroke\" transform=\"rotate(-60 %.1f %.1f)\"",
                                at.x, at.y);
      add_text (panel->svg, at.x, at.y, turned, text);
    }
}

/* Adds a line through the Pareto-optimal plans, and a point for each plan. The point is pale if the
 * plan is not Pareto optimal in this panel. */
static void
add_points (const Panel *panel)
{
  g_string_append (panel->svg, "<polyline fill=\"none\" stroke=\"#4477aa\" points=\"");
  for (guint i = 0; i < panel->plans->len; i++)
    if (is_best (panel, i))
      g_string_append_printf (panel->svg, "%.1f,%.1f ",
                              get_x (panel, get_power (get_totals (panel, i)->arena_after)),
                              get_y (panel, panel->axis->get (get_totals (panel, i))));
  g_string_append (panel->svg, "\"/>\n");
  for (guint i = 0; i < panel->plans->len; i++)
    {
      const CleaveFitTotals *totals = get_totals (panel, i);
      g_autofree char *arena = cleave_size_to_text (totals->arena_after);

      g_string_append_printf (
          panel->svg,
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>%s, %.3f ms, "
          "%+.2f %% MACs</title></circle>\n",
          get_x (panel, get_power (totals->arena_after)), get_y (panel, panel->axis->get (totals)),
          is_best (panel, i) ? "#4477aa" : "#bbccdd", arena, get_latency (totals),
          get_macs (totals));
    }
}

char *
cleave_frontier_picture_draw (const char *title, const GPtrArray *plans)
{
  GString *svg = g_string_new (NULL);
  guint height = (guint) (PANEL * G_N_ELEMENTS (axes) + 20);

  g_string_append_printf (svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                          "font-family=\"sans-serif\" font-size=\"12\">\n"
                          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                          LEFT + WIDTH + RIGHT, height);
  for (guint i = 0; i < G_N_ELEMENTS (axes) && plans->len > 0; i++)
    {
      Panel panel = { .svg = svg, .plans = plans, .axis = &axes[i], .top = PANEL * (double) i };
      g_autofree char *head = g_strdup_printf ("%s: arena and %s", title, axes[i].what);

      find_scales (&panel);
      add_text (svg, LEFT + WIDTH, panel.top + 30,
                " font-size=\"14\" font-weight=\"bold\" text-anchor=\"end\"", head);
      add_ticks (&panel);
      add_points (&panel);
      add_labels (&panel);
    }
  g_string_append (svg, "</svg>\n");
  return g_string_free (svg, FALSE);
}
