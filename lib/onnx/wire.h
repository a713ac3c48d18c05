/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <protobuf-c/protobuf-c.h>

/* The wire format of protobuf: unpacks a message of a file that may be hostile, and appends to
 * lists of messages. The importer unpacks a model with cleave_wire_unpack() after read-file.c has
 * read the file. */

/* Unpacks a message from untrusted bytes. Returns NULL on error.
 *
 * protobuf-c recurses to the depth of the messages and merges fields that occur twice, so the
 * function first checks the nesting depth and duplicate fields. `what` names the kind of file in
 * errors, for example "ONNX model". If `is_ours`, the bytes come from cleave_onnx_read_file() and
 * the caller no longer needs them: the function releases their pages after it copies them. */
gpointer cleave_wire_unpack (const ProtobufCMessageDescriptor *descriptor,
                             GBytes *bytes,
                             gboolean is_ours,
                             const char *what,
                             GError **error);

/* Appends an item to the repeated field `list`, which has `n` items. */
void cleave_wire_append (gpointer list, size_t *n, gpointer item);
