/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints a trial (a random model) as text. */

#include "trial.h"

static void
print_type (GString *out, const TrialType *type)
{
  g_string_append_printf (out, "%s[", element_name (type->element));
  for (guint d = 0; d < type->rank; d++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, d == 0 ? "" : ",", type->dim[d]);
  g_string_append_c (out, ']');
}

static void
print_values (const Trial *trial, const guint *values, guint n, GString *out)
{
  for (guint i = 0; i < n; i++)
    {
      const TrialValue *value = &g_array_index (trial->values, TrialValue, values[i]);

      g_string_append (out, i == 0 ? "" : ", ");
      if (value->kind == TRIAL_ABSENT)
        g_string_append_c (out, '-');
      else
        {
          g_string_append_printf (out, "%s%u ", value->kind == TRIAL_CONSTANT ? "c" : "v",
                                  values[i]);
          print_type (out, &value->type);
        }
    }
}

static void
print_attr (const Trial *trial, const TrialAttr *attr, GString *out)
{
  g_string_append_printf (out, " %s=", attr->name);
  if (attr->kind == 'i')
    g_string_append_printf (out, "%" G_GINT64_FORMAT, attr->i);
  else if (attr->kind == 'f')
    g_string_append_printf (out, "%g", attr->f);
  else if (attr->kind == 's')
    g_string_append (out, attr->s);
  else if (attr->kind == 't')
    print_type (out, &g_array_index (trial->values, TrialValue, attr->n).type);
  for (guint i = 0; attr->kind == 'I' && i < attr->n; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ",", attr->ints[i]);
  for (guint i = 0; attr->kind == 'F' && i < attr->n; i++)
    g_string_append_printf (out, "%s%g", i == 0 ? "" : ",", attr->floats[i]);
}

char *
trial_print (const Trial *trial)
{
  GString *out = g_string_new (trial->hostile ? "special values\n" : NULL);

  for (guint i = 0; i < trial->nodes->len; i++)
    {
      const TrialNode *node = &g_array_index (trial->nodes, TrialNode, i);

      g_string_append_printf (out, "n%u: ", i);
      print_values (trial, node->out, node->n_out, out);
      g_string_append_printf (out, " = %s (", node->op);
      print_values (trial, node->in, node->n_in, out);
      g_string_append_c (out, ')');
      for (guint a = 0; a < node->n_attrs; a++)
        print_attr (trial, &node->attrs[a], out);
      g_string_append_c (out, '\n');
    }
  g_string_append (out, "outputs:");
  for (guint i = 0; i < trial->outputs->len; i++)
    g_string_append_printf (out, " v%u", g_array_index (trial->outputs, guint, i));
  g_string_append_c (out, '\n');
  return g_string_free (out, FALSE);
}
