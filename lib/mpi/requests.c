/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes MPI types and persistent requests for messages at their places in the arena (requests.h).
 * */

#include "requests.h"

/* Number of elements of a block. MPI counts elements in ints, so repeat_many() makes an MPI type of
 * more than G_MAXINT elements from blocks. */
#define BLOCK ((gint64) 1 << 30)

/* Makes an MPI type of `n` elements of the type `inner`, `stride` bytes apart. `n` is at most
 * G_MAXINT. Returns an MPI error code. */
static int
repeat_few (gint64 n, gint64 stride, MPI_Datatype inner, MPI_Datatype *type)
{
  return stride == 1 && inner == MPI_BYTE
             ? MPI_Type_contiguous ((int) n, inner, type)
             : MPI_Type_create_hvector ((int) n, 1, (MPI_Aint) stride, inner, type);
}

/* Makes an MPI type of `n` elements, for an `n` above G_MAXINT: full blocks of BLOCK elements, then
 * the remaining elements. */
static int
repeat_many (gint64 n, gint64 stride, MPI_Datatype inner, MPI_Datatype *type)
{
  const int lengths[] = { 1, 1 };
  const MPI_Aint at[] = { 0, (MPI_Aint) (n / BLOCK * BLOCK * stride) };
  MPI_Datatype block = MPI_DATATYPE_NULL, parts[] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL };
  int code = repeat_few (BLOCK, stride, inner, &block);

  if (code == MPI_SUCCESS)
    code = repeat_few (n / BLOCK, BLOCK * stride, block, &parts[0]);
  if (code == MPI_SUCCESS)
    code = repeat_few (n % BLOCK, stride, inner, &parts[1]);
  if (code == MPI_SUCCESS)
    code = MPI_Type_create_struct (2, lengths, at, parts, type);
  for (guint i = 0; i < 2; i++)
    if (parts[i] != MPI_DATATYPE_NULL)
      MPI_Type_free (&parts[i]);
  if (block != MPI_DATATYPE_NULL)
    MPI_Type_free (&block);
  return code;
}

/* Makes an MPI type of `n` elements of the type `inner`, `stride` bytes apart, for any `n`. */
static int
repeat (gint64 n, gint64 stride, MPI_Datatype inner, MPI_Datatype *type)
{
  return n <= G_MAXINT ? repeat_few (n, stride, inner, type) : repeat_many (n, stride, inner, type);
}

int
cleave_message_type_init (const CleaveMessagePlace *place, MPI_Datatype *type)
{
  int code = repeat (place->run_bytes, 1, MPI_BYTE, type);

  for (guint i = 0; i < place->n_loops && code == MPI_SUCCESS; i++)
    {
      MPI_Datatype inner = *type;

      code = repeat (place->counts[i], place->strides[i], inner, type);
      MPI_Type_free (&inner);
    }
  return code == MPI_SUCCESS ? MPI_Type_commit (type) : code;
}

int
cleave_request_init (MPI_Request *request,
                     const CleaveMessagePlace *place,
                     gboolean is_sent,
                     int peer,
                     int tag,
                     MPI_Comm comm)
{
  MPI_Datatype type;
  int code = cleave_message_type_init (place, &type);

  if (code != MPI_SUCCESS)
    return code;
  code = is_sent ? MPI_Send_init (place->data, 1, type, peer, tag, comm, request)
                 : MPI_Recv_init (place->data, 1, type, peer, tag, comm, request);
  MPI_Type_free (&type);
  return code;
}

gboolean
cleave_message_place_equal (const CleaveMessagePlace *a, const CleaveMessagePlace *b)
{
  if (a->data != b->data || a->run_bytes != b->run_bytes || a->n_loops != b->n_loops)
    return FALSE;
  for (guint i = 0; i < a->n_loops; i++)
    if (a->counts[i] != b->counts[i] || a->strides[i] != b->strides[i])
      return FALSE;
  return TRUE;
}
