/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs ops on 16-bit floats, and ops on integers that are defined through floats, with the kernel
 * families of float32, piece by piece (pieces.h). For each piece, a run converts the operands to
 * float32 in scratch, lets the float family compute the piece, and rounds its results. The results
 * have the bits of a reference kernel that converts to float32 first. */

#include "level.h"
#include "pieces.h"
#include "upcast.h"

#define MAX_OPERANDS 8
#define MAX_RESULTS 3

/* Memory orders of the float32 copies, tried in turn until a kernel family serves one. ORIGINAL: as
 * the original elements. SHORT_OUTERMOST: a short innermost dimension becomes outermost. */
typedef enum { SHORT_OUTERMOST, ORIGINAL, CHANNELS_INNERMOST, N_ORDERS } Order;

/* The elements of an operand or result that a piece uses. `is_upcast`: they have a float32 copy. */
typedef struct
{
  CleaveView view;               /* view of the elements; each run sets the data pointer */
  gint64 offset;                 /* byte offset from the begin of the operand or result */
  CleaveView floats;             /* view of the copy or, without one, of the elements */
  gsize at;                      /* byte offset of the float copy in scratch */
  gboolean is_upcast, is_packed; /* is_packed: the float family packs the elements */
} Side;

typedef struct
{
  CleaveChunk chunk;
  Side operands[MAX_OPERANDS], results[MAX_RESULTS];
  CleaveTensorType operand_types[MAX_OPERANDS], result_types[MAX_RESULTS];
  gsize inner_scratch; /* byte offset in scratch at which the float family's own scratch begins */
  gpointer state;
} Piece;

typedef struct
{
  const CleaveKernelFamily *family;
  const CleaveOp *op;
  guint packed; /* index of the operand that the kernel family packs in its own type; 0: none */
  Order order;
  GArray *pieces;
} Upcast;

static CleaveTensorType
type_of_floats (const CleaveCall *call, const CleaveTensorType *type)
{
  CleaveTensorType floats = *type;

  if (cleave_is_upcast (call, type->element))
    floats.element = CLEAVE_FLOAT32;
  return floats;
}

/* Largest extent of a short dimension. InstanceNormalization of 8 channels of 32,768 pixels takes
 * 0.42 ms with SHORT_OUTERMOST, and 2.2 ms with ORIGINAL. */
#define SHORT_LINE 8

/* Returns a dense float32 view with the shape of `view`. Its dimensions have the memory order of
 * `like`, unless `how` requires another order. */
static CleaveView
lay_out_floats (const CleaveView *view, const CleaveView *like, Order how)
{
  CleaveView floats = { .type = { CLEAVE_FLOAT32, view->type.shape } }, ordered = *like;
  guint order[CLEAVE_MAX_RANK], n_dims;
  gint64 n = 1;

  ordered.type.shape = view->type.shape;
  if (how == CHANNELS_INNERMOST)
    ordered.stride[1] = 0;
  n_dims = cleave_loops_sort (&ordered, order);
  if (how == SHORT_OUTERMOST && n_dims > 1 && view->type.shape.dim[order[n_dims - 1]] <= SHORT_LINE)
    {
      ordered.stride[order[n_dims - 1]] = G_MAXINT64;
      cleave_loops_sort (&ordered, order);
    }
  for (guint i = n_dims; i-- > 0; n *= view->type.shape.dim[order[i]])
    floats.stride[order[i]] = n;
  for (guint d = 0; d < view->type.shape.rank; d++)
    if (view->type.shape.dim[d] == 1)
      floats.stride[d] = n;
  return floats;
}

static void
side_init (Side *side,
           const CleaveCall *call,
           const CleaveView *whole,
           const CleaveRange *range,
           const CleaveView *like,
           Order how,
           gboolean is_packed,
           gsize *n_scratch)
{
  gint64 offset = 0;

  for (guint d = 0; d < range->rank; d++)
    offset += range->dim[d].begin * whole->stride[d];
  side->view = *whole;
  side->view.type.shape = cleave_range_shape (range);
  side->offset = offset * (gint64) cleave_element_size (whole->type.element);
  side->is_packed = is_packed;
  side->is_upcast = !is_packed && cleave_is_upcast (call, whole->type.element);
  side->floats = side->is_upcast ? lay_out_floats (&side->view, like, how) : side->view;
  side->floats.type = type_of_floats (call, &side->view.type);
  side->floats.data = NULL;
  if (side->is_upcast)
    side->at = cleave_take_scratch (n_scratch, cleave_shape_n_elements (&side->view.type.shape));
}

/* Returns the view whose memory order the float copy of result y gets. This is x, since families
 * are fastest if x and y have the same order; y if x does not give an order to all dimensions of
 * y. */
static const CleaveView *
order_of_result (const CleaveView *x, const CleaveView *y)
{
  if (x->type.shape.rank != y->type.shape.rank)
    return y;
  for (guint d = 0; d < y->type.shape.rank; d++)
    if (x->type.shape.dim[d] == 1 && y->type.shape.dim[d] > 1)
      return y;
  return x;
}

/* The following functions prepare the pieces. */

static CleaveCall
call_of (const CleaveOp *op, const Piece *piece)
{
  return (CleaveCall){ .op = op,
                       .attrs = piece->chunk.attrs,
                       .n_operands = piece->chunk.n_operands,
                       .n_results = piece->chunk.n_results,
                       .operands = piece->operand_types,
                       .results = piece->result_types };
}

/* Returns whether a piece can run if the result overlays an operand. The piece must read exactly
 * the part of that operand that it overwrites, so that no other piece reads the part. */
static gboolean
is_safe (const CleaveKernelInstance *instance, const Piece *piece)
{
  for (guint i = 0; i < piece->chunk.n_operands; i++)
    if (piece->chunk.has[i] && instance->operands[i].data == instance->results[0].data &&
        !cleave_range_equal (&piece->chunk.slices[i].range, &piece->chunk.range))
      return FALSE;
  return TRUE;
}

static gboolean
prepare_family (const Upcast *upcast,
                const CleaveKernelInstance *whole,
                Piece *piece,
                CleaveWeights *weights,
                gsize *n_scratch)
{
  CleaveTensor *constants[MAX_OPERANDS] = { NULL };
  CleaveView operands[MAX_OPERANDS] = { 0 }, results[MAX_RESULTS];
  g_autoptr (CleaveTensor) constant = NULL;
  CleaveKernelInstance instance = { .call = call_of (upcast->op, piece),
                                    .operands = operands,
                                    .results = results,
                                    .constants = constants };

  for (guint i = 0; i < piece->chunk.n_operands; i++)
    if (piece->chunk.has[i])
      operands[i] = piece->operands[i].floats;
  for (guint r = 0; r < piece->chunk.n_results; r++)
    results[r] = piece->results[r].floats;
  if (upcast->packed == 0)
    return upcast->family->prepare (&instance, weights, &piece->state, n_scratch);
  constant = cleave_tensor_new_slice (whole->constants[upcast->packed],
                                      &piece->chunk.slices[upcast->packed].range);
  constants[upcast->packed] = constant;
  return upcast->family->prepare (&instance, weights, &piece->state, n_scratch);
}

/* Adds a piece, if the float family serves it. Returns FALSE if the family does not serve it. */
static gboolean
add_piece (Upcast *upcast,
           const CleaveKernelInstance *instance,
           CleaveWeights *weights,
           const CleaveRange *range,
           gsize *n_scratch)
{
  Piece piece = { 0 };
  gsize inner = 0;

  if (!cleave_chunk_init (&piece.chunk, &instance->call, range, NULL))
    return FALSE;
  for (guint i = 0; i < piece.chunk.n_operands; i++)
    if (piece.chunk.has[i])
      {
        side_init (&piece.operands[i], &instance->call, &instance->operands[i],
                   &piece.chunk.slices[i].range, &instance->operands[i], upcast->order,
                   i != 0 && i == upcast->packed, &piece.inner_scratch);
        piece.operand_types[i] = piece.operands[i].floats.type;
      }
  for (guint r = 0; r < piece.chunk.n_results; r++)
    {
      CleaveRange part = cleave_call_result_range (&instance->call, r, range);
      const CleaveView *y = &instance->results[r];

      side_init (&piece.results[r], &instance->call, y, &part,
                 order_of_result (&instance->operands[0], y), upcast->order, FALSE,
                 &piece.inner_scratch);
      piece.result_types[r] = piece.results[r].floats.type;
    }
  if (is_safe (instance, &piece) && prepare_family (upcast, instance, &piece, weights, &inner))
    {
      g_array_append_val (upcast->pieces, piece);
      *n_scratch = MAX (*n_scratch, piece.inner_scratch + inner);
      return TRUE;
    }
  cleave_chunk_clear (&piece.chunk, upcast->op);
  return FALSE;
}

static void
clear_pieces (Upcast *upcast)
{
  for (guint i = 0; i < upcast->pieces->len; i++)
    {
      Piece *piece = &g_array_index (upcast->pieces, Piece, i);

      if (upcast->family->free != NULL)
        upcast->family->free (piece->state);
      cleave_chunk_clear (&piece->chunk, upcast->op);
    }
  g_array_set_size (upcast->pieces, 0);
}

static void
upcast_free (gpointer state)
{
  Upcast *upcast = state;

  clear_pieces (upcast);
  g_array_unref (upcast->pieces);
  g_free (upcast);
}

/* Returns the kernel family that would serve the call in float32; NULL: none. */
static const CleaveKernelFamily *
find_family (const CleaveCall *call)
{
  CleaveTensorType operands[MAX_OPERANDS], results[MAX_RESULTS];
  CleaveCall floats = *call;

  for (guint i = 0; i < call->n_operands; i++)
    operands[i] = type_of_floats (call, &call->operands[i]);
  for (guint r = 0; r < call->n_results; r++)
    results[r] = type_of_floats (call, &call->results[r]);
  floats.operands = operands;
  floats.results = results;
  return cleave_kernel_find_at (&floats, G_STRINGIFY (CLEAVE_LEVEL));
}

static gboolean
add_pieces (Upcast *upcast,
            const CleaveKernelInstance *instance,
            CleaveWeights *weights,
            const gint64 *length,
            gsize *n_scratch)
{
  const CleaveShape *y = &instance->results[0].type.shape;
  CleaveRange range = { .rank = y->rank };

  clear_pieces (upcast);
  *n_scratch = 0;
  for (guint d = 0; d < y->rank; d++)
    range.dim[d].end = length[d];
  do
    if (!add_piece (upcast, instance, weights, &range, n_scratch))
      return FALSE;
  while (cleave_pieces_next (y, length, &range));
  return TRUE;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveShape *y = &instance->results[0].type.shape;
  const CleaveCall *call = &instance->call;
  gint64 length[CLEAVE_MAX_RANK] = { 0 };
  Upcast *upcast;

  if (cleave_shape_n_elements (y) == 0 || call->n_operands > MAX_OPERANDS ||
      call->n_results > MAX_RESULTS || find_family (call) == NULL)
    return FALSE;
  upcast = g_new0 (Upcast, 1);
  upcast->op = call->op;
  upcast->family = find_family (call);
  upcast->pieces = g_array_new (FALSE, FALSE, sizeof (Piece));
  if (upcast->family->packs != 0 && instance->constants[upcast->family->packs] != NULL &&
      cleave_is_short_float (call->operands[upcast->family->packs].element))
    upcast->packed = upcast->family->packs;
  cleave_pieces_find_lengths (instance, upcast->packed, length);
  while (!add_pieces (upcast, instance, weights, length, n_scratch))
    if (++upcast->order == N_ORDERS)
      {
        upcast_free (upcast);
        return FALSE;
      }
  *state = upcast;
  return TRUE;
}

/* The following functions run the pieces. */

static void
convert (const Side *side, gpointer data, gboolean narrow)
{
  CleaveElement element = side->view.type.element;
  CleaveLoops loops;
  CleaveLine line;

  cleave_loops_init (&loops, &side->floats, &side->view, 1);
  for (gboolean more = cleave_line_first (&loops, &line); more;
       more = cleave_line_next (&loops, &line))
    {
      float *floats = (float *) data + line.offset[0];
      char *elements = (char *) side->view.data + line.offset[1] * loops.size[1];

      if (narrow)
        cleave_narrow (element, floats, elements, loops.step[1], loops.length);
      else
        cleave_upcast (element, elements, loops.step[1], 0, floats, loops.length);
    }
}

/* Returns a view with an address: of the float copy or, if there is no copy, of the elements. */
static CleaveView
place (Side *side, const CleaveView *whole, char *scratch)
{
  CleaveView view = side->floats;

  side->view.data = (char *) whole->data + side->offset;
  view.data = side->is_upcast ? (gpointer) (scratch + side->at) : side->view.data;
  return view;
}

static void
run_piece (const Upcast *upcast,
           const Piece *piece,
           const CleaveKernelInstance *instance,
           char *scratch)
{
  CleaveTensor *constants[MAX_OPERANDS] = { NULL };
  CleaveView operands[MAX_OPERANDS] = { 0 }, results[MAX_RESULTS];
  CleaveKernelInstance inner = { .call = call_of (upcast->op, piece),
                                 .operands = operands,
                                 .results = results,
                                 .constants = constants };
  Side side;

  for (guint i = 0; i < piece->chunk.n_operands; i++)
    if (piece->chunk.has[i])
      {
        side = piece->operands[i];
        operands[i] = side.floats;
        if (side.is_packed)
          continue;
        operands[i] = place (&side, &instance->operands[i], scratch);
        if (side.is_upcast)
          convert (&side, operands[i].data, FALSE);
      }
  for (guint r = 0; r < piece->chunk.n_results; r++)
    {
      side = piece->results[r];
      results[r] = place (&side, &instance->results[r], scratch);
    }
  upcast->family->run (piece->state, &inner, scratch + piece->inner_scratch);
  for (guint r = 0; r < piece->chunk.n_results; r++)
    {
      side = piece->results[r];
      place (&side, &instance->results[r], scratch);
      if (side.is_upcast)
        convert (&side, results[r].data, TRUE);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Upcast *upcast = state;

  for (guint i = 0; i < upcast->pieces->len; i++)
    run_piece (upcast, &g_array_index (upcast->pieces, Piece, i), instance, scratch);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_pieces);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_pieces) = { .prepare = prepare,
                                                                           .run = run,
                                                                           .free = upcast_free };
