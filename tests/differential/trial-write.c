/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a trial (a random model) as the bytes of an ONNX model, field by field. */

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

/* The tails of models, as text. A node is written as "op operands > results attributes". `@` is the
 * value that the tail reads. The result `out` is an output of the model. */
static const char *const tails[TRIAL_N_TAILS] = {
  "Greater @,zero > above;NonZero above > where;Transpose where > rows perm=1,0;"
  "GatherND @,rows > values;Relu values > out",
  "Reshape @,flat > all;Less all,zero > below;Compress all,below > some axis=0;Abs some > out",
  "Reshape @,flat > all;Floor all > whole;Unique whole > values;Neg values > out",
  "Reshape @,flat > all;Greater all,zero > above;Cast above > ones to=7;ReduceSum ones > k;"
  "TopK all,k > best,places;Mul best,two > out",
  "Reshape @,flat > all;Less all,zero > below;Cast below > ones to=7;ReduceSum ones > end;"
  "Slice all,first,end > part;Add part,two > out",
  "Reshape @,flat > all;Greater all,zero > above;NonZero above > where;Cast where > places to=1;"
  "Shape where > sizes;ConstantOfShape sizes > zeros;Concat places,zeros > joined axis=0;"
  "Softmax joined > spread axis=0;ReduceSum spread,first > out",
};

static void
put_tail_attr (GByteArray *node, const char *text)
{
  g_auto (GStrv) pair = g_strsplit (text, "=", 2);
  g_auto (GStrv) numbers = g_strsplit (pair[1], ",", -1);
  gboolean is_list = numbers[1] != NULL;
  GByteArray *attr = g_byte_array_new ();

  put_string (attr, 1, pair[0]);
  for (guint i = 0; numbers[i] != NULL; i++)
    put_int (attr, is_list ? 8 : 3, g_ascii_strtoll (numbers[i], NULL, 10));
  put_int (attr, 20, is_list ? 7 : 2);
  put_message (node, 5, attr);
}

static void
put_tail_node (GByteArray *graph, const Trial *trial, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_auto (GStrv) operands = g_strsplit (words[1], ",", -1);
  g_auto (GStrv) results = g_strsplit (words[3], ",", -1);
  GByteArray *node = g_byte_array_new ();

  for (guint i = 0; operands[i] != NULL; i++)
    if (g_str_equal (operands[i], "@"))
      put_name (node, 1, trial->tail_of);
    else
      put_string (node, 1, operands[i]);
  for (guint i = 0; results[i] != NULL; i++)
    put_string (node, 2, results[i]);
  put_string (node, 3, results[0]);
  put_string (node, 4, words[0]);
  for (guint i = 4; words[i] != NULL; i++)
    put_tail_attr (node, words[i]);
  put_message (graph, 1, node);
}

static void
put_tail_constant (GByteArray *graph, const char *name, guint element, gconstpointer data)
{
  GByteArray *tensor = g_byte_array_new ();

  put_int (tensor, 1, 1);
  put_int (tensor, 2, element);
  put_string (tensor, 8, name);
  put_bytes (tensor, 9, data, element_size (element));
  put_message (graph, 5, tensor);
}

/* Writes the nodes, the constants and the output of a tail: a few last nodes whose shapes depend on
 * data. */
static void
put_tail (GByteArray *graph, const Trial *trial)
{
  g_auto (GStrv) nodes = g_strsplit (tails[trial->tail - 1], ";", -1);
  const gint64 first = 0, flat = -1;
  const float zero = 0, two = 2;
  GByteArray *type = g_byte_array_new (), *tensor = g_byte_array_new (), *out = g_byte_array_new ();

  for (guint i = 0; nodes[i] != NULL; i++)
    put_tail_node (graph, trial, nodes[i]);
  put_tail_constant (graph, "first", I64, &first);
  put_tail_constant (graph, "flat", I64, &flat);
  put_tail_constant (graph, "zero", F32, &zero);
  put_tail_constant (graph, "two", F32, &two);
  put_int (tensor, 1, F32);
  put_message (type, 1, tensor);
  put_string (out, 1, "out");
  put_message (out, 2, type);
  put_message (graph, 12, out);
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
  if (trial->tail > 0)
    put_tail (out, trial);
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
