/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops of transfers (Send, Finish, Expect, Receive and Arrive), and the functions that add their
 * nodes (transfer.h). */

#include "transfer.h"

#include <string.h>

typedef struct
{
  GArray *transport;
  gint64 message;
  char *letters; /* dimension names of the value; NULL: none */
  CleaveTensorType type;
} TransferAttrs;

static const CleaveAttr transfer_attrs[] = {
  { "transport", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (TransferAttrs, transport),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "message", CLEAVE_ATTR_INT, CLEAVE_FIELD (TransferAttrs, message),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "letters", CLEAVE_ATTR_STRING, CLEAVE_FIELD (TransferAttrs, letters),
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
infer_token (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = cleave_transfer_token;
  return TRUE;
}

static gboolean
infer_value (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = ((const TransferAttrs *) call->attrs)->type;
  results[1] = cleave_transfer_token;
  return TRUE;
}

static const char *
layout (const CleaveCall *call)
{
  return ((const TransferAttrs *) call->attrs)->letters;
}

/* Writes to `dims` the order in which a message contains the dimensions of its value, the innermost
 * dimension first. */
static void
find_dims (const TransferAttrs *a, guint *dims)
{
  guint rank = a->type.shape.rank, n = 0;
  const char *c = a->letters == NULL ? NULL : strchr (a->letters, 'C');

  if (c != NULL)
    dims[n++] = (guint) (c - a->letters);
  for (guint d = rank; d-- > 0;)
    if (c == NULL || d != (guint) (c - a->letters))
      dims[n++] = d;
}

static CleaveMessagePlace
find_place (const CleaveCall *call, const CleaveView *view)
{
  const CleaveShape *shape = &view->type.shape;
  gint64 size = (gint64) cleave_element_size (view->type.element);
  CleaveMessagePlace place = { .data = view->data, .run_bytes = size };
  guint dims[CLEAVE_MAX_RANK];

  find_dims (call->attrs, dims);
  if (cleave_shape_n_elements (shape) == 0)
    return (CleaveMessagePlace){ .data = view->data };
  for (guint i = 0; i < shape->rank; i++)
    {
      gint64 count = shape->dim[dims[i]], stride = view->stride[dims[i]] * size;
      guint n = place.n_loops;

      if (count == 1)
        continue;
      if (n == 0 && stride == place.run_bytes)
        place.run_bytes *= count;
      else if (n > 0 && stride == place.strides[n - 1] * place.counts[n - 1])
        place.counts[n - 1] *= count;
      else
        {
          place.counts[n] = count;
          place.strides[n] = stride;
          place.n_loops++;
        }
    }
  return place;
}

static void
clear (const CleaveMessagePlace *place, guint n_loops, char *data)
{
  if (n_loops == 0)
    memset (data, 0, (gsize) place->run_bytes);
  else
    for (gint64 i = 0; i < place->counts[n_loops - 1]; i++)
      clear (place, n_loops - 1, data + i * place->strides[n_loops - 1]);
}

static void
compute_send (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);
  const CleaveMessagePlace place = find_place (call, &operands[0]);

  transport->send (transport->data, get_message (call), &place);
  *(guint8 *) results[0].data = 0;
}

static void
compute_finish (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);

  transport->finish (transport->data, get_message (call));
  *(guint8 *) results[0].data = 0;
}

static void
compute_expect (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);
  const CleaveMessagePlace place = find_place (call, &results[0]);

  transport->expect (transport->data, get_message (call), &place);
  *(guint8 *) results[1].data = 0;
}

/* Fills a value that did not arrive with zeros. Readers may use the value as indices, so the value
 * must not have arbitrary elements. */
static void
compute_receive (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransport *transport = get_transport (call);
  const CleaveMessagePlace place = find_place (call, &operands[0]);

  if (!transport->receive (transport->data, get_message (call)))
    clear (&place, place.n_loops, place.data);
  if (operands[0].data != results[0].data)
    cleave_view_copy (&results[0], &operands[0]);
  *(guint8 *) results[1].data = 0;
}

#define TRANSFER_OP(variable, op_name, first, last, n, op_flags, op_infer, op_layout, function)    \
  static const CleaveOp variable = {                                                               \
    .name = op_name,                                                                               \
    .operands = (const char *const[]){ first, NULL },                                              \
    .results = (const char *const[]){ last, NULL },                                                \
    .min_operands = n,                                                                             \
    .flags = CLEAVE_OP_NOT_ONNX | (op_flags),                                                      \
    .attrs_size = sizeof (TransferAttrs),                                                          \
    .attrs = transfer_attrs,                                                                       \
    .infer = op_infer,                                                                             \
    .layout = op_layout,                                                                           \
    .print = print,                                                                                \
    .compute = function,                                                                           \
  }

#define TWO(first, second) first, second

TRANSFER_OP (op_send,
             "Send",
             TWO ("value", "after"),
             "token",
             2,
             CLEAVE_OP_IN_ORDER,
             infer_token,
             NULL,
             compute_send);
TRANSFER_OP (op_finish,
             "Finish",
             TWO ("value", "after"),
             "token",
             2,
             CLEAVE_OP_IN_ORDER,
             infer_token,
             NULL,
             compute_finish);
TRANSFER_OP (op_expect,
             "Expect",
             "after",
             TWO ("value", "token"),
             1,
             CLEAVE_OP_IN_ORDER,
             infer_value,
             layout,
             compute_expect);
TRANSFER_OP (op_receive,
             "Receive",
             TWO ("value", "after"),
             TWO ("value", "token"),
             2,
             CLEAVE_OP_IN_ORDER | CLEAVE_OP_IN_PLACE,
             infer_value,
             layout,
             compute_receive);
/* A node of this op stands for a received value in a graph that is built only to find an order of
 * nodes. No program runs this op. */
TRANSFER_OP (op_arrive, "Arrive", "begin", TWO ("value", "token"), 1, 0, infer_value, layout, NULL);

static CleaveNode *
add (CleaveTransfers *transfers,
     const CleaveOp *op,
     const char *name,
     const CleaveTransferMessage *message,
     CleaveResult *value,
     const CleaveTensorType *type)
{
  const TransferAttrs attrs = { transfers->transport, message->number, (char *) message->letters,
                                *type };
  CleaveResult *operands[] = { value, transfers->token };
  gboolean makes = op->infer == infer_value;
  const CleaveTensorType types[] = { makes ? *type : cleave_transfer_token, cleave_transfer_token };
  CleaveNode *node = cleave_graph_add_checked (
      transfers->graph, op, name, operands + (value == NULL), value == NULL ? 1 : 2, types,
      makes ? 2 : 1, cleave_attrs_copy (op, &attrs));

  transfers->token = &node->results[makes ? 1 : 0];
  return node;
}

void
cleave_transfers_add_send (CleaveTransfers *transfers,
                           const char *name,
                           const CleaveTransferMessage *message,
                           CleaveResult *value)
{
  add (transfers, &op_send, name, message, value, &value->type);
}

void
cleave_transfers_add_finish (CleaveTransfers *transfers,
                             const char *name,
                             const CleaveTransferMessage *message,
                             CleaveResult *value)
{
  add (transfers, &op_finish, name, message, value, &value->type);
}

CleaveResult *
cleave_transfers_add_expect (CleaveTransfers *transfers,
                             const char *name,
                             const CleaveTransferMessage *message,
                             const CleaveTensorType *type)
{
  return &add (transfers, &op_expect, name, message, NULL, type)->results[0];
}

CleaveResult *
cleave_transfers_add_receive (CleaveTransfers *transfers,
                              const char *name,
                              const CleaveTransferMessage *message,
                              CleaveResult *expected)
{
  return &add (transfers, &op_receive, name, message, expected, &expected->type)->results[0];
}

CleaveResult *
cleave_transfers_add_arrival (CleaveTransfers *transfers,
                              const char *name,
                              const CleaveTransferMessage *message,
                              const CleaveTensorType *type)
{
  CleaveResult *begin = transfers->token;
  CleaveNode *node = add (transfers, &op_arrive, name, message, NULL, type);

  transfers->token = begin;
  return &node->results[0];
}
