/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a trial as the bytes of an ONNX model, field by field. */

#include "trial.h"

#include <string.h>

static void
put_varint (GByteArray *out, guint64 v)
{
  for (;; v >>= 7)
    {
      guint8 byte = (guint8) ((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

      g_byte_array_append (out, &byte, 1);
      if (v <= 0x7f)
        return;
    }
}

static void
put_int (GByteArray *out, guint field, gint64 v)
{
  put_varint (out, field << 3);
  put_varint (out, (guint64) v);
}

static void
put_float (GByteArray *out, guint field, float v)
{
  put_varint (out, field << 3 | 5);
  g_byte_array_append (out, (const guint8 *) &v, sizeof v);
}

static void
put_bytes (GByteArray *out, guint field, gconstpointer bytes, gsize n)
{
  put_varint (out, field << 3 | 2);
  put_varint (out, n);
  g_byte_array_append (out, bytes, (guint) n);
}

static void
put_string (GByteArray *out, guint field, const char *text)
{
  put_bytes (out, field, text, strlen (text));
}

/* Writes a submessage and frees it. */
static void
put_message (GByteArray *out, guint field, GByteArray *message)
{
  put_bytes (out, field, message->data == NULL ? (guint8 *) "" : message->data, message->len);
  g_byte_array_unref (message);
}

static void
put_name (GByteArray *out, guint field, guint value)
{
  char name[16] = "";

  if (value != 0)
    g_snprintf (name, sizeof name, "v%u", value);
  put_string (out, field, name);
}

static GByteArray *
make_tensor (const TrialValue *value, guint name)
{
  GByteArray *out = g_byte_array_new ();

  for (guint d = 0; d < value->type.rank; d++)
    put_int (out, 1, value->type.dim[d]);
  put_int (out, 2, value->type.element);
  if (name != 0)
    put_name (out, 8, name);
  put_bytes (out, 9, value->data, value->n_bytes);
  return out;
}

static GByteArray *
make_info (const TrialValue *value, guint name)
{
  GByteArray *out = g_byte_array_new (), *type = g_byte_array_new ();
  GByteArray *tensor = g_byte_array_new (), *shape = g_byte_array_new ();

  for (guint d = 0; d < value->type.rank; d++)
    {
      GByteArray *dim = g_byte_array_new ();

      put_int (dim, 1, value->type.dim[d]);
      put_message (shape, 1, dim);
    }
  put_int (tensor, 1, value->type.element);
  put_message (tensor, 2, shape);
  put_message (type, 1, tensor);
  put_name (out, 1, name);
  put_message (out, 2, type);
  return out;
}

static GByteArray *
make_attr (const Trial *trial, const TrialAttr *attr)
{
  static const struct
  {
    char kind;
    guint8 type;
  } types[] = { { 'f', 1 }, { 'i', 2 }, { 's', 3 }, { 't', 4 }, { 'F', 6 }, { 'I', 7 } };
  GByteArray *out = g_byte_array_new ();

  put_string (out, 1, attr->name);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].kind == attr->kind)
      put_int (out, 20, types[i].type);
  if (attr->kind == 'f')
    put_float (out, 2, (float) attr->f);
  else if (attr->kind == 'i')
    put_int (out, 3, attr->i);
  else if (attr->kind == 's')
    put_string (out, 4, attr->s);
  else if (attr->kind == 't')
    put_message (out, 5, make_tensor (&g_array_index (trial->values, TrialValue, attr->n), 0));
  for (guint i = 0; attr->kind == 'F' && i < attr->n; i++)
    put_float (out, 7, attr->floats[i]);
  for (guint i = 0; attr->kind == 'I' && i < attr->n; i++)
    put_int (out, 8, attr->ints[i]);
  return out;
}

static GByteArray *
make_node (const Trial *trial, guint index)
{
  const TrialNode *node = &g_array_index (trial->nodes, TrialNode, index);
  GByteArray *out = g_byte_array_new ();
  g_autofree char *name = g_strdup_printf ("n%u", index);

  for (guint i = 0; i < node->n_in; i++)
    put_name (out, 1, node->in[i]);
  for (guint i = 0; i < node->n_out; i++)
    put_name (out, 2, node->out[i]);
  put_string (out, 3, name);
  put_string (out, 4, node->op);
  for (guint i = 0; i < node->n_attrs; i++)
    put_message (out, 5, make_attr (trial, &node->attrs[i]));
  return out;
}

gboolean
trial_is_input (const TrialValue *value, gboolean all_inputs)
{
  if (value->n_uses == 0)
    return FALSE;
  return value->kind == TRIAL_INPUT ||
         (all_inputs && value->kind == TRIAL_CONSTANT && !value->fixed);
}

static GByteArray *
make_graph (const Trial *trial, gboolean all_inputs)
{
  GByteArray *out = g_byte_array_new ();

  for (guint i = 0; i < trial->nodes->len; i++)
    put_message (out, 1, make_node (trial, i));
  put_string (out, 2, "trial");
  for (guint v = 1; v < trial->values->len; v++)
    {
      const TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      if (trial_is_input (value, all_inputs))
        put_message (out, 11, make_info (value, v));
      else if (value->kind == TRIAL_CONSTANT && value->n_uses > 0)
        put_message (out, 5, make_tensor (value, v));
    }
  for (guint i = 0; i < trial->outputs->len; i++)
    {
      guint v = g_array_index (trial->outputs, guint, i);

      put_message (out, 12, make_info (&g_array_index (trial->values, TrialValue, v), v));
    }
  return out;
}

GBytes *
trial_write (const Trial *trial, gboolean all_inputs)
{
  GByteArray *out = g_byte_array_new (), *opset = g_byte_array_new ();

  put_int (out, 1, 8);
  put_int (opset, 2, trial->opset);
  put_message (out, 7, make_graph (trial, all_inputs));
  put_message (out, 8, opset);
  return g_byte_array_free_to_bytes (out);
}
