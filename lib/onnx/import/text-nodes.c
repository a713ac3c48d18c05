/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the nodes that compute with strings: StringNormalizer, StringConcat and StringSplit. Also
 * runs ArrayFeatureExtractor of ai.onnx.ml. The table `ops` lists, for each op with strings or
 * labels, the function that reads its nodes. */

#include "dynamic.h"
#include "node.h"
#include "text-elements.h"

#include <string.h>

#define ML "ai.onnx.ml"
#define STRING ONNX__TENSOR_PROTO__DATA_TYPE__STRING

/* StringSplit may split one string into at most this many parts. */
#define MAX_PARTS (1 << 20)

/* Reads ArrayFeatureExtractor, a Gather along the last dimension. */
static gboolean
read_extractor (CleaveOnnxNode *node, const Onnx__NodeProto *proto G_GNUC_UNUSED, GError **error)
{
  const CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *i;
  CleaveOnnxValue *operands[2], *y;
  CleaveShape shape = { .rank = 1 };

  if (!cleave_onnx_node_need (node, 2, error))
    return FALSE;
  i = cleave_onnx_node_operand (node, 1);
  shape.dim[0] = cleave_shape_n_elements (cleave_onnx_value_shape (i));
  if (cleave_onnx_value_shape (x)->rank == 0)
    return cleave_onnx_node_fail (node, error, "operand 0 has no dimension");
  operands[0] = cleave_onnx_node_operand (node, 0);
  operands[1] =
      cleave_onnx_node_reshape (node, cleave_onnx_node_operand (node, 1), &shape, ".list", error);
  y = operands[1] == NULL ? NULL
                          : cleave_onnx_step (node, "Gather", "", operands, 2,
                                              cleave_onnx_attr_new_int ("axis", -1), error);
  if (y != NULL && cleave_onnx_value_shape (x)->rank == 1)
    {
      shape = (CleaveShape){ .rank = 2, .dim = { 1, shape.dim[0] } };
      y = cleave_onnx_node_reshape (node, y, &shape, ".row", error);
    }
  return cleave_onnx_finish (node, y);
}

/* The functions below change, join and split strings. */

static char *
change_case (const char *text, const Onnx__AttributeProto *action)
{
  if (action != NULL && action->s.len == 5 && memcmp (action->s.data, "LOWER", 5) == 0)
    return g_utf8_strdown (text, -1);
  if (action != NULL && action->s.len == 5 && memcmp (action->s.data, "UPPER", 5) == 0)
    return g_utf8_strup (text, -1);
  return g_strdup (text);
}

static gboolean
is_stopword (const Onnx__NodeProto *proto, const char *text)
{
  const Onnx__AttributeProto *words = cleave_text_attr (proto, "stopwords", "");
  const Onnx__AttributeProto *sensitive = cleave_text_attr (proto, "is_case_sensitive", "");

  for (size_t i = 0; words != NULL && i < words->n_strings; i++)
    {
      g_autofree char *word =
          g_strndup ((const char *) words->strings[i].data, words->strings[i].len);
      g_autofree char *a = g_utf8_strdown (word, -1), *b = g_utf8_strdown (text, -1);

      if (sensitive != NULL && sensitive->i != 0 ? strcmp (word, text) == 0 : strcmp (a, b) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Reads StringNormalizer: removes stopwords, and changes the case. If no word remains, the result
 * is one empty string. */
static gboolean
read_normalizer (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_autoptr (CleaveTensor) x = cleave_text_operand (node, 0, TRUE, error);
  const Onnx__AttributeProto *action = cleave_text_attr (proto, "case_change_action", "");
  g_autoptr (GArray) kept = g_array_new (FALSE, FALSE, sizeof (gint64));
  CleaveTensorType type;
  CleaveTensor *y;

  if (x == NULL)
    return FALSE;
  type = *cleave_tensor_get_type (x);
  if (type.shape.rank == 0 || type.shape.rank > 2 ||
      (type.shape.rank == 2 && type.shape.dim[0] != 1))
    return cleave_onnx_node_fail (node, error, "operand 0 must have the shape [C] or [1,C]");
  for (gint64 i = 0; i < cleave_shape_n_elements (&type.shape); i++)
    {
      const char *text =
          cleave_onnx_text (node->import, ((const gint64 *) cleave_tensor_get_data (x))[i]);
      g_autofree char *changed = change_case (text, action);
      gint64 number = cleave_onnx_text_number (node->import, changed);

      if (!is_stopword (proto, text))
        g_array_append_val (kept, number);
    }
  if (kept->len == 0)
    g_array_set_size (kept, 1);
  type.shape.dim[type.shape.rank - 1] = kept->len;
  y = cleave_tensor_new_copy (&type, kept->data, error);
  return y != NULL && cleave_text_finish (node, y, TRUE);
}

/* Reads StringConcat: joins two strings at each position. An operand with one string broadcasts. */
static gboolean
read_concat (CleaveOnnxNode *node, const Onnx__NodeProto *proto G_GNUC_UNUSED, GError **error)
{
  g_autoptr (CleaveTensor) a = cleave_text_operand (node, 0, TRUE, error);
  g_autoptr (CleaveTensor) b = a == NULL ? NULL : cleave_text_operand (node, 1, TRUE, error);
  gint64 n_a, n_b;
  CleaveTensor *y;

  if (b == NULL)
    return FALSE;
  n_a = cleave_shape_n_elements (&cleave_tensor_get_type (a)->shape);
  n_b = cleave_shape_n_elements (&cleave_tensor_get_type (b)->shape);
  if (n_a != 1 && n_b != 1 &&
      !cleave_shape_equal (&cleave_tensor_get_type (a)->shape, &cleave_tensor_get_type (b)->shape))
    return cleave_onnx_node_fail (node, error,
                                  "its operands must have one shape, or one must have one element");
  y = cleave_text_tensor (n_a == 1 && n_b != 1 ? b : a, CLEAVE_INT64, error);
  for (gint64 i = 0; y != NULL && i < MAX (n_a, n_b); i++)
    {
      const gint64 *p = cleave_tensor_get_data (a), *q = cleave_tensor_get_data (b);
      g_autofree char *text =
          g_strconcat (cleave_onnx_text (node->import, p[n_a == 1 ? 0 : i]),
                       cleave_onnx_text (node->import, q[n_b == 1 ? 0 : i]), NULL);

      ((gint64 *) cleave_tensor_get_mutable_data (y))[i] =
          cleave_onnx_text_number (node->import, text);
    }
  return y != NULL && cleave_text_finish (node, y, TRUE);
}

/* Returns the parts of a string that is split at each delimiter, at most `most` times. If the
 * delimiter is empty, splits at white space. */
static char **
split_text (const char *text, const char *delimiter, gint64 most)
{
  g_autoptr (GStrvBuilder) parts = g_strv_builder_new ();

  if (*delimiter != '\0')
    return *text == '\0' ? g_new0 (char *, 1)
                         : g_strsplit (text, delimiter, most < MAX_PARTS ? (gint) most + 1 : 0);
  for (gint64 n = 0;; n++)
    {
      const char *end;
      g_autofree char *part = NULL;

      text += strspn (text, " \t\n\v\f\r");
      if (*text == '\0')
        return g_strv_builder_end (parts);
      end = n >= most ? text + strlen (text) : text + strcspn (text, " \t\n\v\f\r");
      part = g_strndup (text, (gsize) (end - text));
      g_strv_builder_add (parts, n >= most ? g_strchomp (part) : part);
      text = end;
    }
}

/* Makes both results of StringSplit. Result 0 has the parts, padded with empty strings. Result 1
 * has the numbers of parts. */
static gboolean
finish_parts (CleaveOnnxNode *node, CleaveTensor *x, const GPtrArray *lists, GError **error)
{
  CleaveTensorType type = *cleave_tensor_get_type (x);
  CleaveTensor *counts = cleave_text_tensor (x, CLEAVE_INT64, error), *parts = NULL;
  guint longest = 0;

  for (guint i = 0; i < lists->len; i++)
    longest = MAX (longest, g_strv_length (lists->pdata[i]));
  if (type.shape.rank == CLEAVE_MAX_RANK || counts == NULL)
    {
      g_clear_pointer (&counts, cleave_tensor_unref);
      return cleave_onnx_node_fail (node, error, "operand 0 has too many dimensions");
    }
  type.shape.dim[type.shape.rank++] = longest;
  parts = cleave_tensor_new (&type, error);
  for (guint i = 0; parts != NULL && i < lists->len; i++)
    {
      char **list = lists->pdata[i];
      guint n = g_strv_length (list);

      ((gint64 *) cleave_tensor_get_mutable_data (counts))[i] = n;
      for (guint k = 0; k < longest; k++)
        ((gint64 *) cleave_tensor_get_mutable_data (parts))[(gsize) i * longest + k] =
            cleave_onnx_text_number (node->import, k < n ? list[k] : "");
    }
  if (parts == NULL)
    {
      cleave_tensor_unref (counts);
      return FALSE;
    }
  return cleave_text_finish (node, parts, TRUE) && cleave_text_finish (node, counts, FALSE);
}

static gboolean
read_split (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_autoptr (CleaveTensor) x = cleave_text_operand (node, 0, TRUE, error);
  const Onnx__AttributeProto *delimiter = cleave_text_attr (proto, "delimiter", "");
  const Onnx__AttributeProto *most = cleave_text_attr (proto, "maxsplit", "");
  g_autofree char *at = delimiter == NULL || delimiter->s.len == 0
                            ? g_strdup ("")
                            : g_strndup ((const char *) delimiter->s.data, delimiter->s.len);
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);

  for (gint64 i = 0; x != NULL && i < cleave_shape_n_elements (&cleave_tensor_get_type (x)->shape);
       i++)
    {
      const char *text =
          cleave_onnx_text (node->import, ((const gint64 *) cleave_tensor_get_data (x))[i]);

      g_ptr_array_add (lists, split_text (text, at, most == NULL ? MAX_PARTS : most->i));
    }
  return x != NULL && finish_parts (node, x, lists, error);
}

/* Reads a Constant whose attribute has strings. */
static gboolean
read_constant (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  const Onnx__AttributeProto *one = cleave_text_attr (proto, "value_string", "");
  const Onnx__AttributeProto *list = cleave_text_attr (proto, "value_strings", "");
  const Onnx__AttributeProto *whole = cleave_text_attr (proto, "value", "");
  CleaveTensorType type = { .element = CLEAVE_INT64 };
  CleaveOnnxValue *value;
  CleaveTensor *tensor;

  if (whole != NULL && whole->t != NULL)
    {
      value = cleave_onnx_text_constant (node->import, NULL, whole->t, error);
      return value != NULL && cleave_text_finish (node, cleave_tensor_ref (value->constant), TRUE);
    }
  if (one == NULL && list == NULL)
    return cleave_onnx_node_fail (node, error, "it has no value");
  if (list != NULL)
    type.shape = (CleaveShape){ .rank = 1, .dim = { (gint64) list->n_strings } };
  tensor = cleave_tensor_new (&type, error);
  for (size_t i = 0; tensor != NULL && i < (list != NULL ? list->n_strings : 1); i++)
    ((gint64 *) cleave_tensor_get_mutable_data (tensor))[i] =
        cleave_text_element_new (node->import, list != NULL ? &list->strings[i] : &one->s).integer;
  return tensor != NULL && cleave_text_finish (node, tensor, TRUE);
}

static const struct
{
  const char *domain, *op;
  gboolean (*read) (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
} ops[] = {
  { ML, "ArrayFeatureExtractor", read_extractor },
  { ML, "LabelEncoder", cleave_onnx_read_labels },
  { "", "Cast", cleave_onnx_read_cast },
  { "", "CastLike", cleave_onnx_read_cast_like },
  { "", "Constant", read_constant },
  { "", "StringConcat", read_concat },
  { "", "StringNormalizer", read_normalizer },
  { "", "StringSplit", read_split },
};

/* Returns the index in `ops` of the op of a node; G_MAXUINT if `ops` does not have it. */
static guint
find_op (const Onnx__NodeProto *proto)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (proto->op_type, ops[i].op) == 0 &&
        (*ops[i].domain == '\0' ? cleave_onnx_is_default_domain (proto->domain)
                                : g_strcmp0 (proto->domain, ops[i].domain) == 0))
      return i;
  return G_MAXUINT;
}

gboolean
cleave_onnx_is_text_op (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (*ops[i].domain == '\0' && strcmp (ops[i].op, op) == 0 && g_str_has_prefix (op, "String"))
      return TRUE;
  return FALSE;
}

gboolean
cleave_onnx_is_text_node (const Onnx__NodeProto *proto)
{
  const Onnx__AttributeProto *to, *value;
  guint index = find_op (proto);

  if (index == G_MAXUINT || ops[index].read == cleave_onnx_read_cast_like)
    return FALSE;
  if (ops[index].read == cleave_onnx_read_cast)
    return (to = cleave_text_attr (proto, "to", "")) != NULL && to->i == STRING;
  if (ops[index].read != read_constant)
    return TRUE;
  value = cleave_text_attr (proto, "value", "");
  return (value != NULL && value->t != NULL && cleave_onnx_is_text_tensor (value->t)) ||
         cleave_text_attr (proto, "value_string", "") != NULL ||
         cleave_text_attr (proto, "value_strings", "") != NULL;
}

gboolean
cleave_onnx_has_texts (const CleaveOnnxNode *node, const Onnx__NodeProto *proto)
{
  if (g_str_has_prefix (node->op, "Cast") && cleave_onnx_reads_texts (node))
    return TRUE;
  return cleave_onnx_is_text_node (proto) &&
         (node->import->interprets || node->import->dynamic != NULL ||
          cleave_onnx_is_default_domain (proto->domain));
}

/* Makes the node dynamic, or fails if there is no dynamic part. */
static gboolean
defer (const CleaveOnnxNode *node, GError **error)
{
  cleave_onnx_note_unknown (node->import, NULL, "works with strings or labels");
  return cleave_onnx_node_fail (node, error,
                                "strings and labels are not supported here: a tensor of the static "
                                "part has numbers");
}

gboolean
cleave_onnx_read_texts (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  guint index = find_op (proto);

  if (!node->import->interprets)
    return defer (node, error);
  return index == G_MAXUINT ? cleave_onnx_node_fail_op (node, error)
                            : ops[index].read (node, proto, error);
}
