/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Divides buffers with laps into fragments (fragments.h). */

#include "fragments.h"

static int
compare_bytes (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Returns the begins and ends of all members (gint64), sorted. */
static GArray *
list_borders (const CleaveLapMember *members, guint n)
{
  GArray *borders = g_array_sized_new (FALSE, FALSE, sizeof (gint64), 2 * n);

  for (guint i = 0; i < n; i++)
    {
      g_array_append_val (borders, members[i].begin);
      g_array_append_val (borders, members[i].end);
    }
  g_array_sort (borders, compare_bytes);
  return borders;
}

/* Adds a fragment. If the previous fragment ends where this one begins, and has the same lifetime,
 * enlarges the previous fragment instead. */
static void
add_fragment (GArray *fragments, const CleaveFragment *fragment)
{
  CleaveFragment *before =
      fragments->len == 0 ? NULL : &g_array_index (fragments, CleaveFragment, fragments->len - 1);

  if (before != NULL && before->buffer == fragment->buffer && before->first == fragment->first &&
      before->last == fragment->last && before->begin + before->n_bytes == fragment->begin)
    before->n_bytes += fragment->n_bytes;
  else
    g_array_append_vals (fragments, fragment, 1);
}

/* Adds a fragment for each period in which a member uses the bytes [fragment.begin, fragment.begin
 * + fragment.n_bytes). The members are sorted by their first steps. No member begins or ends inside
 * of these bytes. */
static void
add_periods (GArray *fragments, CleaveFragment fragment, const CleaveLapMember *members, guint n)
{
  gboolean is_used = FALSE;

  for (guint i = 0; i < n; i++)
    {
      const CleaveLapMember *member = &members[i];

      if (member->end <= fragment.begin || member->begin > fragment.begin)
        continue;
      if (is_used && member->first > fragment.last + 1)
        add_fragment (fragments, &fragment);
      if (!is_used || member->first > fragment.last + 1)
        fragment.first = member->first;
      fragment.last = is_used ? MAX (fragment.last, member->last) : member->last;
      is_used = TRUE;
    }
  if (is_used)
    add_fragment (fragments, &fragment);
}

static int
compare_first (gconstpointer a, gconstpointer b)
{
  const CleaveLapMember *x = a, *y = b;

  return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                              : (x->begin > y->begin) - (x->begin < y->begin);
}

void
cleave_fragments_add (GArray *fragments, guint buffer, const CleaveLapMember *members, guint n)
{
  g_autoptr (GArray) borders = list_borders (members, n);
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (CleaveLapMember), n);

  g_array_append_vals (sorted, members, n);
  g_array_sort (sorted, compare_first);
  for (guint i = 0; i + 1 < borders->len; i++)
    {
      const gint64 begin = g_array_index (borders, gint64, i);
      const gint64 end = g_array_index (borders, gint64, i + 1);
      const CleaveFragment fragment = { .buffer = buffer, .begin = begin, .n_bytes = end - begin };

      if (begin < end)
        add_periods (fragments, fragment, (const CleaveLapMember *) (gpointer) sorted->data, n);
    }
}

gint64
cleave_fragments_count_bytes (const GArray *members, guint step)
{
  gint64 n_bytes = 0, top = G_MININT64;

  for (guint i = 0; i < members->len; i++)
    {
      const CleaveLapMember *member = &g_array_index (members, CleaveLapMember, i);

      if (member->first > step || member->last < step)
        continue;
      n_bytes += MAX (member->end - MAX (member->begin, top), 0);
      top = MAX (top, member->end);
    }
  return n_bytes;
}
