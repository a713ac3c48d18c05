/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-product.h"

#include "../../written-conv.h"

#define cleave_written_new CLEAVE_LEVELLED (cleave_written_new)
#define cleave_written_free CLEAVE_LEVELLED (cleave_written_free)
#define cleave_written_n_scratch CLEAVE_LEVELLED (cleave_written_n_scratch)
#define cleave_written_read_norms CLEAVE_LEVELLED (cleave_written_read_norms)
#define cleave_written_run CLEAVE_LEVELLED (cleave_written_run)

typedef struct _CleaveWritten CleaveWritten;

/* For columns [first, first + n) of the packed weights.  NULL: numbers are too large, or too small,
 * for the bound. */
CleaveWritten *cleave_written_new (const CleaveWrittenConv *conv,
                                   CleaveElement x,
                                   const CleaveBytePanels *panels,
                                   const gint8 *packed,
                                   gint64 first,
                                   gint64 n,
                                   gint64 n_taps);
void cleave_written_free (CleaveWritten *written);
/* Bytes of scratch for so many pixels. */
gsize cleave_written_n_scratch (gint64 n_pixels);
/* Of what each pixel of a product reads, into its scratch. */
void cleave_written_read_norms (const CleaveByteProduct *product);
/* Columns [begin, end) of the packed form, which lie in one panel. */
void cleave_written_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
