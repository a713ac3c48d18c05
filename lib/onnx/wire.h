/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <protobuf-c/protobuf-c.h>

/* Unpacks a message that may be hostile.  protobuf-c recurses as deep as messages nest and merges a
 * field that comes twice, so both are looked for beforehand.  `what` names the kind of file in
 * errors: "ONNX model".  `is_ours`: the bytes are those of cleave_onnx_read_file(), and
 * read for the last time: as they are copied out, their pages leave memory. */
gpointer cleave_wire_unpack (const ProtobufCMessageDescriptor *descriptor,
                             GBytes *bytes,
                             gboolean is_ours,
                             const char *what,
                             GError **error);

/* Appends to a list of a message. */
void cleave_wire_append (gpointer list, size_t *n, gpointer item);
