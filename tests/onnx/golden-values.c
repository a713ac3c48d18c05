/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Imports, runs and compares one case of ONNX's operator tests that has strings, sequences or
 * optional values (golden-values.h). */

#include "golden-values.h"

#include <string.h>

#include "../../lib/ir/error.h"
#include "../../lib/onnx/wire.h"
#include "golden-case.h"
#include "interpret.h"

/* The inputs or the outputs of a case, as entries of a run of a dynamic part. A sequence or an
 * optional value has several entries with the same name. The first entry is the number of tensors,
 * and the other entries are the tensors. */
typedef struct
{
  GPtrArray *names;  /* char *, borrowed from the model */
  GPtrArray *values; /* CleaveTensor: value of each entry */
} Entries;

static void
entries_clear (Entries *entries)
{
  g_ptr_array_unref (entries->names);
  g_ptr_array_unref (entries->values);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Entries, entries_clear)

static Entries
entries_new (void)
{
  return (Entries){ g_ptr_array_new (),
                    g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref) };
}

static void
add_entry (Entries *entries, const char *name, CleaveTensor *value)
{
  g_ptr_array_add (entries->names, (gpointer) name);
  g_ptr_array_add (entries->values, value);
}

/* The functions below read SequenceProto and OptionalProto, which the schema onnx.proto does not
 * have. */

static guint64
read_varint (const guint8 **at, const guint8 *end)
{
  guint64 number = 0;

  for (guint shift = 0; *at < end && shift < 64; shift += 7)
    {
      number |= (guint64) (**at & 127) << shift;
      if ((*(*at)++ & 128) == 0)
        break;
    }
  return number;
}

/* Returns (transfer full) the contents (GBytes) of all fields of a protobuf message that have the
 * number `field`. Each of these fields contains a message. */
static GPtrArray *
find_messages (GBytes *bytes, guint field)
{
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  gsize n;
  const guint8 *begin = g_bytes_get_data (bytes, &n), *at = begin;

  while (at < begin + n)
    {
      const guint64 key = read_varint (&at, begin + n), size = read_varint (&at, begin + n);

      /* a field of a number: `size` is the number itself, and no bytes follow */
      if ((key & 7) != 2)
        continue;
      if (key >> 3 == field)
        g_ptr_array_add (found, g_bytes_new_from_bytes (bytes, (gsize) (at - begin), size));
      at += size;
    }
  return found;
}

/* Returns the strings of a tensor as a tensor of bytes with one dimension more. */
static CleaveTensor *
parse_texts (const Onnx__TensorProto *proto)
{
  CleaveTensorType type = { CLEAVE_UINT8, { .rank = (guint) proto->n_dims + 1 } };
  gsize size = 1;
  g_autofree char *data = NULL;

  for (size_t i = 0; i < proto->n_string_data; i++)
    size = MAX (size, proto->string_data[i].len);
  for (size_t d = 0; d < proto->n_dims; d++)
    type.shape.dim[d] = proto->dims[d];
  type.shape.dim[proto->n_dims] = (gint64) size;
  data = g_malloc0 (proto->n_string_data * size + 1);
  for (size_t i = 0; i < proto->n_string_data; i++)
    memcpy (data + i * size, proto->string_data[i].data, proto->string_data[i].len);
  return cleave_tensor_new_copy (&type, data, NULL);
}

static CleaveTensor *
parse_tensor (GBytes *bytes, GError **error)
{
  Onnx__TensorProto *proto =
      cleave_wire_unpack (&onnx__tensor_proto__descriptor, bytes, FALSE, "tensor", error);
  CleaveTensor *tensor;

  if (proto == NULL)
    return NULL;
  tensor = proto->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING
               ? parse_texts (proto)
               : cleave_onnx_parse_tensor (bytes, error);
  onnx__tensor_proto__free_unpacked (proto, NULL);
  return tensor;
}

/* Adds the entries of a list: its number of tensors, and the tensors. Fields of a SequenceProto: 3
 * is a tensor. Fields of an OptionalProto: 3 is a tensor, 5 is a sequence. */
static gboolean
add_list (Entries *entries, const char *name, gboolean is_optional, GBytes *bytes, GError **error)
{
  g_autoptr (GPtrArray) sequences = find_messages (bytes, 5);
  g_autoptr (GPtrArray) tensors =
      find_messages (is_optional && sequences->len > 0 ? sequences->pdata[0] : bytes, 3);
  const gint64 n = is_optional && sequences->len + tensors->len == 0 ? -1 : (gint64) tensors->len;

  add_entry (entries, name, cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), &n, NULL));
  for (guint i = 0; i < tensors->len; i++)
    {
      CleaveTensor *tensor = parse_tensor (tensors->pdata[i], error);

      if (tensor == NULL)
        return FALSE;
      add_entry (entries, name, tensor);
    }
  return TRUE;
}

static gboolean
read_entries (const char *folder,
              const char *kind,
              Onnx__ValueInfoProto *const *infos,
              size_t n,
              Entries *entries,
              GError **error)
{
  for (size_t i = 0; i < n; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("%s/test_data_set_0/%s_%" G_GSIZE_FORMAT ".pb", folder, kind, (gsize) i);
      const Onnx__TypeProto__ValueCase is = infos[i]->type->value_case;
      g_autoptr (GBytes) bytes = NULL;
      CleaveTensor *tensor;
      char *text;
      gsize size;

      if (!g_file_get_contents (path, &text, &size, error))
        return FALSE;
      bytes = g_bytes_new_take (text, size);
      if (is != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        {
          if (!add_list (entries, infos[i]->name, is == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE,
                         bytes, error))
            return FALSE;
          continue;
        }
      tensor = parse_tensor (bytes, error);
      if (tensor == NULL)
        return FALSE;
      add_entry (entries, infos[i]->name, tensor);
    }
  return TRUE;
}

/* The functions below run a case. */

static CleaveGraph *
import (GBytes *bytes, const Model *model, const Entries *inputs, GError **error)
{
  g_autofree CleaveOnnxShape *shapes = g_new0 (CleaveOnnxShape, inputs->names->len + 1);
  CleaveOnnxOptions options = { .shapes = shapes, .dynamic = TRUE };
  guint at = 0;

  for (size_t i = 0; i < model->graph->n_input; i++)
    {
      const Onnx__ValueInfoProto *info = model->graph->input[i];

      for (; info->name != inputs->names->pdata[at]; at++)
        ;
      if (info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        shapes[options.n_shapes++] =
            (CleaveOnnxShape){ info->name,
                               cleave_tensor_get_type (inputs->values->pdata[at])->shape };
    }
  return cleave_onnx_parse (bytes, NULL, &options, error);
}

/* Runs the static part, and then the dynamic part. Returns all outputs, or NULL on error. */
static GPtrArray *
run (const CleaveGraph *graph, const Entries *inputs, GError **error)
{
  g_autoptr (GPtrArray) given = g_ptr_array_new (), got = NULL, names = NULL, values = NULL;
  guint at = 0;

  if (cleave_onnx_get_dynamic (graph) == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the model has no dynamic part");
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (graph, i));

      while (strcmp (inputs->names->pdata[at], name) != 0)
        at++;
      g_ptr_array_add (given, inputs->values->pdata[at]);
    }
  got = cleave_interpret (graph, (CleaveTensor *const *) given->pdata);
  names = g_ptr_array_copy (inputs->names, NULL, NULL);
  values = g_ptr_array_new ();
  for (guint i = 0; i < inputs->values->len; i++)
    g_ptr_array_add (values, inputs->values->pdata[i]);
  for (guint i = 0; i < got->len; i++)
    {
      g_ptr_array_add (names, (gpointer) cleave_graph_get_output_name (graph, i));
      g_ptr_array_add (values, got->pdata[i]);
    }
  return cleave_onnx_dynamic_run (
      cleave_onnx_get_dynamic (graph), (const char *const *) names->pdata,
      (CleaveTensor *const *) values->pdata, values->len, NULL, NULL, NULL, error);
}

/* Compares tensors of strings. Strings may be padded to different numbers of bytes. Returns a text
 * about the first difference; NULL if there is none. */
static char *
compare_texts (CleaveTensor *got, CleaveTensor *want)
{
  const CleaveShape *a = &cleave_tensor_get_type (got)->shape;
  const CleaveShape *b = &cleave_tensor_get_type (want)->shape;
  const gint64 n = a->rank == 0 ? 0 : cleave_shape_n_elements (a) / a->dim[a->rank - 1];

  if (a->rank != b->rank || n != cleave_shape_n_elements (b) / b->dim[b->rank - 1])
    return g_strdup ("the number of strings differs");
  for (gint64 i = 0; i < n; i++)
    {
      const gint64 size_a = a->dim[a->rank - 1], size_b = b->dim[b->rank - 1];
      const char *one = (const char *) cleave_tensor_get_data (got) + i * size_a;
      const char *other = (const char *) cleave_tensor_get_data (want) + i * size_b;
      g_autofree char *x = g_strndup (one, (gsize) size_a), *y = g_strndup (other, (gsize) size_b);

      if (strcmp (x, y) != 0)
        return g_strdup_printf ("'%s', not '%s'", x, y);
    }
  return NULL;
}

static char *
compare_all (const CleaveOnnxDynamic *dynamic, const GPtrArray *got, const Entries *want)
{
  char *wrong = NULL;

  if (got->len != want->values->len)
    return g_strdup_printf ("%u entries of outputs, not %u", got->len, want->values->len);
  for (guint i = 0; i < got->len && wrong == NULL; i++)
    wrong = cleave_onnx_dynamic_has_strings (dynamic, want->names->pdata[i])
                ? compare_texts (got->pdata[i], want->values->pdata[i])
                : golden_compare (got->pdata[i], want->values->pdata[i]);
  return wrong;
}

static char *
run_case (GBytes *bytes, const Model *model, const char *folder, GError **error)
{
  g_auto (Entries) inputs = entries_new (), outputs = entries_new ();
  g_autoptr (CleaveGraph) graph = NULL, again = NULL;
  g_autoptr (GPtrArray) one = NULL, two = NULL;
  g_autoptr (GBytes) written = NULL;
  char *wrong;

  if (!read_entries (folder, "input", model->graph->input, model->graph->n_input, &inputs, error) ||
      !read_entries (folder, "output", model->graph->output, model->graph->n_output, &outputs,
                     error) ||
      (graph = import (bytes, model, &inputs, error)) == NULL ||
      (one = run (graph, &inputs, error)) == NULL)
    return NULL;
  wrong = compare_all (cleave_onnx_get_dynamic (graph), one, &outputs);
  if (wrong != NULL || (written = cleave_onnx_serialize (graph, error)) == NULL ||
      (again = import (written, model, &inputs, error)) == NULL ||
      (two = run (again, &inputs, error)) == NULL)
    return wrong;
  for (guint i = 0; i < one->len; i++)
    if (!cleave_tensor_equal (one->pdata[i], two->pdata[i]))
      return g_strdup_printf ("written and read again, entry %u of the outputs differs", i);
  return NULL;
}

char *
golden_run_values (GBytes *bytes, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", &error);
  char *wrong = model == NULL ? NULL : run_case (bytes, model, folder, &error);

  return error != NULL ? g_strdup (error->message) : wrong;
}
