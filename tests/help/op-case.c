/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints types, chunks and values as short texts, and compares the texts with expected texts. */

#include "op-case.h"

#include <math.h>

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"
#include "../../lib/ops/reference.h"

CleaveResult *
cleave_case_input (CleaveGraph *graph, const char *name, CleaveShape shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };

  return cleave_graph_add_input (graph, name, &type, NULL);
}

CleaveResult *
cleave_case_steps (CleaveGraph *graph, CleaveShape shape, float first, float step)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (&shape); i++)
    data[i] = first + (float) i * step;
  return cleave_graph_add_constant (graph, "c", tensor);
}

void
cleave_assert_infers (CleaveResult *result, GError **error, const char *expected)
{
  g_autofree char *text = result == NULL
                              ? g_strdup (*error == NULL ? "no error" : (*error)->message)
                              : cleave_tensor_type_to_string (cleave_result_get_type (result));

  ck_assert_str_eq (text, expected);
  g_clear_error (error);
}

static CleaveRange
parse_range (const char *text)
{
  g_auto (GStrv) spans = g_strsplit (text, ",", -1);
  CleaveRange range = { .rank = g_strv_length (spans) };

  for (guint d = 0; d < range.rank; d++)
    {
      char *end;

      range.dim[d].begin = g_ascii_strtoll (spans[d], &end, 10);
      range.dim[d].end = g_ascii_strtoll (end + 1, NULL, 10);
    }
  return range;
}

static void
describe_chunk (const CleaveChunk *chunk, const CleaveOp *op, GString *out)
{
  for (guint i = 0; i < chunk->n_operands; i++)
    {
      g_autofree char *slice = cleave_range_to_string (&chunk->slices[i].range);

      g_string_append_printf (out, "%s%s", i == 0 ? "" : " ", chunk->has[i] ? slice : "-");
    }
  cleave_attrs_print (op, chunk->attrs, out);
}

void
cleave_assert_chunk (CleaveResult *result, const char *chunk, const char *expected)
{
  CleaveRange range = parse_range (chunk);
  g_autoptr (GString) why = g_string_new ("refused: "), out = g_string_new (NULL);
  g_auto (CleaveNodeCall) call;
  CleaveChunk piece;

  cleave_node_call_init (&call, result->node);
  if (cleave_chunk_init (&piece, &call.call, &range, why))
    {
      describe_chunk (&piece, result->node->op, out);
      cleave_chunk_clear (&piece, result->node->op);
    }
  ck_assert_msg (g_str_equal (out->len > 0 ? out->str : why->str, expected),
                 "chunk %s is\n%s\nbut should be\n%s", chunk, out->len > 0 ? out->str : why->str,
                 expected);
}

static void
print_values (CleaveTensor *tensor, GString *out)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  const char *data = cleave_tensor_get_data (tensor);

  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    {
      double value =
          cleave_real_load (type->element, data + i * (gint64) cleave_element_size (type->element));

      g_string_append (out, i == 0 ? "" : " ");
      if (isnan (value)) /* prints no sign of a NaN, since the sign depends on the machine */
        g_string_append (out, "nan");
      else
        g_string_append_printf (out, "%g", value);
    }
}

void
cleave_assert_values (CleaveResult *result, const char *expected)
{
  CleaveNode *node = result->node;
  g_auto (CleaveNodeCall) call;
  CleaveView operands[16] = { 0 }, results[4];
  CleaveTensor *tensors[4] = { NULL };
  g_autoptr (GString) out = g_string_new (NULL);

  cleave_node_call_init (&call, node);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = cleave_view_tensor (cleave_node_get_constant (node->operands[i].result->node));
  for (guint i = 0; i < node->n_results; i++)
    {
      tensors[i] = cleave_tensor_new (&node->results[i].type, NULL);
      results[i] = cleave_view_tensor (tensors[i]);
    }
  node->op->compute (&call.call, operands, results);
  print_values (tensors[result->index], out);
  ck_assert_str_eq (out->str, expected);
  for (guint i = 0; i < node->n_results; i++)
    cleave_tensor_unref (tensors[i]);
}
