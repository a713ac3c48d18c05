/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "transfer.h"

typedef struct
{
  GArray *transport;
  gint64 message;
  CleaveTensorType type; /* of the value */
} TransferAttrs;

static const CleaveAttr transfer_attrs[] = {
  { "transport", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (TransferAttrs, transport),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "message", CLEAVE_ATTR_INT, CLEAVE_FIELD (TransferAttrs, message),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "type", CLEAVE_ATTR_TYPE, CLEAVE_FIELD (TransferAttrs, type), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveTensorType cleave_transfer_token = { CLEAVE_UINT8, { .rank = 1, .dim = { 1 } } };

static void
print (gconstpointer attrs, GString *out)
{
  g_string_append_printf (out, " message=%" G_GINT64_FORMAT,
                          ((const TransferAttrs *) attrs)->message);
}

static const CleaveTransport *
get_transport (const CleaveCall *call)
{
  const TransferAttrs *a = call->attrs;

  return &g_array_index (a->transport, CleaveTransport, 0);
}

static guint
get_message (const CleaveCall *call)
{
  return (guint) ((const TransferAttrs *) call->attrs)->message;
}

static gboolean
infer_send (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = cleave_transfer_token;
  return TRUE;
}

static gboolean
infer_receive (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = ((const TransferAttrs *) call->attrs)->type;
  results[1] = cleave_transfer_token;
  return TRUE;
}

static void
compute_send (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);
  CleaveView to = cleave_view_dense (&operands[0].type,
                                     transport->reserve (transport->data, get_message (call)));

  cleave_view_copy (&to, &operands[0]);
  transport->send (transport->data, get_message (call));
  *(guint8 *) results[0].data = 0;
}

static void
compute_receive (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);
  CleaveView from = cleave_view_dense (
      &results[0].type, (gpointer) transport->receive (transport->data, get_message (call)));

  cleave_view_copy (&results[0], &from);
  *(guint8 *) results[1].data = 0;
}

static const CleaveOp op_send = {
  .name = "Send",
  .operands = (const char *const[]){ "value", "after", NULL },
  .results = (const char *const[]){ "token", NULL },
  .min_operands = 2,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (TransferAttrs),
  .attrs = transfer_attrs,
  .infer = infer_send,
  .print = print,
  .compute = compute_send,
};

static const CleaveOp op_receive = {
  .name = "Receive",
  .operands = (const char *const[]){ "after", NULL },
  .results = (const char *const[]){ "value", "token", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (TransferAttrs),
  .attrs = transfer_attrs,
  .infer = infer_receive,
  .print = print,
  .compute = compute_receive,
};

static gpointer
make_attrs (const CleaveOp *op, GArray *transport, guint message, const CleaveTensorType *type)
{
  const TransferAttrs attrs = { transport, message, *type };

  return cleave_attrs_copy (op, &attrs);
}

void
cleave_transfer_add_send (CleaveGraph *graph,
                          const char *name,
                          GArray *transport,
                          guint message,
                          CleaveResult *value,
                          CleaveResult **token)
{
  CleaveResult *operands[] = { value, *token };
  CleaveNode *node =
      cleave_graph_add_checked (graph, &op_send, name, operands, 2, &cleave_transfer_token, 1,
                                make_attrs (&op_send, transport, message, &value->type));

  *token = &node->results[0];
}

CleaveResult *
cleave_transfer_add_receive (CleaveGraph *graph,
                             const char *name,
                             GArray *transport,
                             guint message,
                             const CleaveTensorType *type,
                             CleaveResult **token)
{
  const CleaveTensorType types[] = { *type, cleave_transfer_token };
  CleaveNode *node = cleave_graph_add_checked (graph, &op_receive, name, token, 1, types, 2,
                                               make_attrs (&op_receive, transport, message, type));

  *token = &node->results[1];
  return &node->results[0];
}
