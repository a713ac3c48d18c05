/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>
#include <protobuf-c/protobuf-c.h>

/* Unpacks a message from untrusted bytes. First checks the nesting depth and duplicate fields,
 * because protobuf-c recurses to the depth of the messages and merges fields that occur twice.
 * `what` names the kind of file in errors, for example "ONNX model". `is_ours`: the bytes come from
 * cleave_onnx_read_file() and are not needed afterwards, so that their pages are released when they
 * are copied. Returns NULL on error. */
gpointer cleave_wire_unpack (const ProtobufCMessageDescriptor *descriptor,
                             GBytes *bytes,
                             gboolean is_ours,
                             const char *what,
                             GError **error);

/* Appends an item to a repeated field of a message. */
void cleave_wire_append (gpointer list, size_t *n, gpointer item);
