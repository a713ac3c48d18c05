/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A tensor of an archive of NumPy, and its name there, without ".npy". */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveNpzEntry;

/* The entries in the order of the archive, stored or deflated: an array of CleaveNpzEntry that
 * clears them. */
GArray *cleave_npz_parse (GBytes *bytes, GError **error);
