/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The values and nodes of a trial (a random model), and the functions with which tables of ops make
 * them. */

#include "trial.h"

#include <stdarg.h>
#include <string.h>

#define VALUE(trial, v) (&g_array_index ((trial)->values, TrialValue, v))
#define LAST_NODE(trial) (&g_array_index ((trial)->nodes, TrialNode, (trial)->nodes->len - 1))

static gpointer
keep (Trial *trial, gpointer memory)
{
  g_ptr_array_add (trial->memory, memory);
  return memory;
}

void
trial_init (Trial *trial, Tape *tape)
{
  TrialValue absent = { .kind = TRIAL_ABSENT };

  *trial = (Trial){
    .tape = tape,
    .values = g_array_new (FALSE, TRUE, sizeof (TrialValue)),
    .nodes = g_array_new (FALSE, TRUE, sizeof (TrialNode)),
    .outputs = g_array_new (FALSE, TRUE, sizeof (guint)),
    .memory = g_ptr_array_new_with_free_func (g_free),
    .max_elements = 2048,
    .max_work = 200000,
    .opset = 17,
    .max_nodes = 40,
  };
  g_array_append_val (trial->values, absent);
}

void
trial_clear (Trial *trial)
{
  g_array_unref (trial->values);
  g_array_unref (trial->nodes);
  g_array_unref (trial->outputs);
  g_ptr_array_unref (trial->memory);
}

gint64
pick_between (Trial *trial, gint64 min, gint64 max)
{
  return max <= min ? min : min + pick (trial, max - min + 1);
}

/* Picks an extent from a list. Each list begins with small extents, so that a smaller number on the
 * tape picks a simpler extent (tape.h). Common extents occur in the list several times. Odd
 * extents, extents near the width of a vector, and 0 are possible. */
gint64
pick_extent (Trial *trial)
{
  static const guint8 extents[] = { 1, 1, 1, 1, 2, 2, 2,  2,  3,  3,  3,  4,  4,  5,  5,  6,
                                    7, 7, 8, 8, 9, 9, 13, 15, 16, 16, 17, 24, 33, 47, 64, 0 };
  static const guint8 large[] = { 1, 16, 24, 32, 33, 48, 56, 64, 64, 72, 80, 96 };
  static const guint8 deep[] = { 1, 1, 1, 2, 3, 4, 8, 12, 16, 24, 31, 32, 40 };
  gint64 extent = trial->large  ? large[pick (trial, G_N_ELEMENTS (large))]
                  : trial->deep ? deep[pick (trial, G_N_ELEMENTS (deep))]
                                : extents[pick (trial, G_N_ELEMENTS (extents))];

  return extent == 0 && !trial->empty ? 1 : extent;
}

/* Picks an element type of a set: in half of the cases the first type. */
guint
pick_element (Trial *trial, guint set)
{
  guint elements[32], n = 0;

  for (guint e = 1; e < 32; e++)
    if (set & SET (e))
      elements[n++] = e;
  return n == 1 || !chance (trial, 50) ? elements[0] : elements[pick (trial, n)];
}

double
pick_real (Trial *trial, double min, double max)
{
  return min + (max - min) * pick (trial, 17) / 16;
}

gint64
type_n_elements (const TrialType *type)
{
  gint64 n = 1;

  for (guint d = 0; d < type->rank; d++)
    n *= type->dim[d];
  return n;
}

gboolean
type_equal (const TrialType *a, const TrialType *b)
{
  if (a->element != b->element || a->rank != b->rank)
    return FALSE;
  for (guint d = 0; d < a->rank; d++)
    if (a->dim[d] != b->dim[d])
      return FALSE;
  return TRUE;
}

TrialType
type_of (const Trial *trial, guint value)
{
  return VALUE (trial, value)->type;
}

TrialType
type_make (guint element, guint rank, ...)
{
  TrialType type = { element, rank, { 0 } };
  va_list list;

  va_start (list, rank);
  for (guint d = 0; d < rank; d++)
    type.dim[d] = va_arg (list, gint64);
  va_end (list);
  return type;
}

TrialType
pick_type (Trial *trial, guint set, guint min_rank, guint max_rank)
{
  TrialType type = { pick_element (trial, set), 0, { 0 } };

  type.rank = (guint) pick_between (trial, min_rank, max_rank);
  for (guint d = 0; d < type.rank; d++)
    {
      type.dim[d] = pick_extent (trial);
      if (type_n_elements (&type) > trial->max_elements)
        type.dim[d] = 2;
    }
  return type;
}

gint64
maybe_negative (Trial *trial, gint64 axis, guint rank)
{
  return chance (trial, 30) ? axis - rank : axis;
}

static guint
add_value (Trial *trial, TrialKind kind, const TrialType *type)
{
  TrialValue value = { .kind = kind, .type = *type };
  gint64 n = type_n_elements (type);

  if (n < 0 || n > (trial->large || trial->deep ? 2 : 8) * trial->max_elements ||
      type->rank > TRIAL_MAX_RANK)
    trial->failed = TRUE;
  value.n_bytes = (gsize) n * element_size (type->element);
  g_array_append_val (trial->values, value);
  return trial->values->len - 1;
}

static void
choose_elements (Trial *trial, guint v, int mode)
{
  TrialValue *value = VALUE (trial, v);

  value->seed = pick (trial, 1 << 16);
  if (mode == MODE_ANY)
    mode = (int) pick (trial, trial->hostile ? MODE_BETWEEN : MODE_SPECIALS);
  else if (trial->hostile && mode != MODE_BETWEEN && chance (trial, 10))
    mode = MODE_SPECIALS;
  value->mode = mode;
}

guint
use_new (Trial *trial, const TrialType *type, int mode)
{
  guint v = add_value (trial, chance (trial, 50) ? TRIAL_CONSTANT : TRIAL_INPUT, type);

  choose_elements (trial, v, mode);
  return v;
}

guint
use_fixed (Trial *trial, const TrialType *type, int mode)
{
  guint v = add_value (trial, TRIAL_CONSTANT, type);

  choose_elements (trial, v, mode);
  VALUE (trial, v)->fixed = TRUE;
  return v;
}

guint
use_any (Trial *trial, guint set, guint min_rank, guint max_rank)
{
  guint found[64], n = 0;

  for (guint v = trial->values->len; v-- > 1 && n < G_N_ELEMENTS (found);)
    {
      const TrialValue *value = VALUE (trial, v);

      if ((value->kind == TRIAL_RESULT || value->kind == TRIAL_INPUT) &&
          (set & SET (value->type.element)) && value->type.rank >= min_rank &&
          value->type.rank <= max_rank)
        found[n++] = v;
    }
  if (n > 0 && !chance (trial, trial->deep ? 2 : 8))
    return chance (trial, trial->deep ? 15 : 35) ? found[pick (trial, n)] : found[0];

  TrialType type = pick_type (trial, set, min_rank, MIN (max_rank, 6));
  guint v = add_value (trial, TRIAL_INPUT, &type);

  choose_elements (trial, v, MODE_ANY);
  return v;
}

/* Adds an input with a batch and channels: a sequence, an image or a volume. */
void
add_image (Trial *trial)
{
  TrialType type = { F32, 2 + (guint) pick_between (trial, 1, 3), { 1 + pick (trial, 2) } };
  gint64 most = type.rank == 3 ? 96 : type.rank == 4 ? 40 : 12;

  type.dim[1] = pick_between (trial, 2, 12);
  for (guint d = 2; d < type.rank; d++)
    type.dim[d] = pick_between (trial, d == 2 && type.rank == 4 ? 1 : most / 3, most);
  choose_elements (trial, add_value (trial, TRIAL_INPUT, &type), MODE_ANY);
}

guint
use_type (Trial *trial, const TrialType *type)
{
  guint found[64], n = 0;

  for (guint v = trial->values->len; v-- > 1 && n < G_N_ELEMENTS (found);)
    if (!VALUE (trial, v)->fixed && type_equal (&VALUE (trial, v)->type, type))
      found[n++] = v;
  return n > 0 && chance (trial, 50) ? found[pick (trial, n)] : use_new (trial, type, MODE_ANY);
}

guint
use_indices (Trial *trial, const TrialType *type, gint64 min, gint64 max)
{
  guint v;

  if (!need (trial, max >= min))
    return 0;
  v = use_new (trial, type, MODE_BETWEEN);
  VALUE (trial, v)->min = min;
  VALUE (trial, v)->max = max;
  return v;
}

static guint
use_data (Trial *trial, const TrialType *type, gconstpointer data)
{
  guint v = add_value (trial, TRIAL_CONSTANT, type);
  gsize size = VALUE (trial, v)->n_bytes;

  VALUE (trial, v)->data = keep (trial, size == 0 ? g_malloc0 (1) : g_memdup2 (data, size));
  VALUE (trial, v)->fixed = TRUE;
  return v;
}

guint
use_ints (Trial *trial, const gint64 *v, guint n)
{
  TrialType type = type_make (I64, 1, (gint64) n);

  return use_data (trial, &type, v);
}

guint
use_int (Trial *trial, gint64 v)
{
  TrialType type = type_make (I64, 0);

  return use_data (trial, &type, &v);
}

guint
use_floats (Trial *trial, const float *v, guint n)
{
  TrialType type = type_make (F32, 1, (gint64) n);

  return use_data (trial, &type, v);
}

guint
use_float (Trial *trial, float v)
{
  TrialType type = type_make (F32, 0);

  return use_data (trial, &type, &v);
}

guint
use_number (Trial *trial, guint element, gint64 v)
{
  TrialType type = type_make (element, 0);
  float f = (float) v;
  double d = (double) v;

  return use_data (trial, &type, element == F32 ? &f : element == F64 ? (gpointer) &d : &v);
}

guint
use_scalar (Trial *trial, guint element, int mode)
{
  TrialType type = type_make (element, 0);

  return use_new (trial, &type, mode);
}

void
add_node (Trial *trial, const char *op)
{
  TrialNode node = { .op = op };

  g_array_append_val (trial->nodes, node);
}

/* Appends to a list. Lists are short, so copying them each time is fast enough. */
static void
append (Trial *trial, guint **list, guint *n, guint value)
{
  guint *longer = keep (trial, g_new (guint, *n + 1));

  if (*n > 0)
    memcpy (longer, *list, *n * sizeof *longer);
  longer[(*n)++] = value;
  *list = longer;
}

void
add_in (Trial *trial, guint value)
{
  TrialNode *node = LAST_NODE (trial);

  append (trial, &node->in, &node->n_in, value);
  VALUE (trial, value)->n_uses++;
}

guint
add_out (Trial *trial, const TrialType *type)
{
  TrialNode *node = LAST_NODE (trial);
  guint v = add_value (trial, TRIAL_RESULT, type);

  append (trial, &node->out, &node->n_out, v);
  add_work (trial, trial->failed ? 0 : type_n_elements (type));
  return v;
}

static TrialAttr *
add_attr (Trial *trial, const char *name, char kind)
{
  TrialNode *node = LAST_NODE (trial);

  g_assert (node->n_attrs < TRIAL_MAX_ATTRS);
  node->attrs[node->n_attrs] = (TrialAttr){ .name = name, .kind = kind };
  return &node->attrs[node->n_attrs++];
}

void
set_int (Trial *trial, const char *name, gint64 v)
{
  add_attr (trial, name, 'i')->i = v;
}

void
set_float (Trial *trial, const char *name, double v)
{
  add_attr (trial, name, 'f')->f = v;
}

void
set_string (Trial *trial, const char *name, const char *v)
{
  add_attr (trial, name, 's')->s = v;
}

void
set_ints (Trial *trial, const char *name, const gint64 *v, guint n)
{
  TrialAttr *attr = add_attr (trial, name, 'I');

  attr->ints = keep (trial, n == 0 ? NULL : g_memdup2 (v, n * sizeof *v));
  attr->n = n;
}

void
set_floats (Trial *trial, const char *name, const float *v, guint n)
{
  TrialAttr *attr = add_attr (trial, name, 'F');

  attr->floats = keep (trial, n == 0 ? NULL : g_memdup2 (v, n * sizeof *v));
  attr->n = n;
}

void
set_tensor (Trial *trial, const char *name, guint value)
{
  add_attr (trial, name, 't')->n = value;
}

void
add_work (Trial *trial, gint64 n)
{
  trial->work += n;
  if (n < 0 || trial->work > trial->max_work)
    trial->failed = TRUE;
}

gboolean
need (Trial *trial, gboolean what)
{
  if (!what)
    trial->failed = TRUE;
  return what;
}
