/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "requests.h"

/* The type of what lies at a place, once; to be freed. */
static int
make_type (const CleaveMessagePlace *place, MPI_Datatype *type)
{
  int code = MPI_Type_contiguous ((int) place->run_bytes, MPI_BYTE, type);

  for (guint i = 0; i < place->n_loops && code == MPI_SUCCESS; i++)
    {
      MPI_Datatype inner = *type;

      code = MPI_Type_create_hvector ((int) place->counts[i], 1, (MPI_Aint) place->strides[i],
                                      inner, type);
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
  int code = make_type (place, &type);

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
