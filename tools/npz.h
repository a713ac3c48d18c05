/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Reads NumPy's .npz archives: zip files whose entries are .npy files. inputs.c reads the values of
 * inputs from an archive, and input-shapes.c reads the shapes. Each entry is parsed by npy.h. */

/* A tensor in an archive, and its name there, without ".npy". */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveNpzEntry;

/* Reads the entries of an archive, stored or deflated, in the order of the archive. Returns an
 * array of CleaveNpzEntry that owns the entries, or NULL on error. */
GArray *cleave_npz_parse (GBytes *bytes, GError **error);
/* Returns the entries of a file, as cleave_npz_parse() does. */
GArray *cleave_npz_load (const char *path, GError **error);
