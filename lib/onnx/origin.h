/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#include "onnx.pb-c.h"

/* The opset that is written. */
#define CLEAVE_ONNX_OPSET 17
/* After the name of an Assemble: a Concat on the way to it. */
#define CLEAVE_ONNX_PART ".part"
/* After the name of an input: what it is once a run has told its shape. */
#define CLEAVE_ONNX_SHAPED ".shaped"

/* What a model says beyond what it computes: kept from import to export, by the names of nodes and
 * values, and shared by the copies of a graph.  Nothing in between reads it. */
typedef struct
{
  char *producer_name, *producer_version, *domain, *doc, *graph_doc;
  gint64 model_version; /* -1: none */
  GPtrArray *metadata;  /* key, value, key, value … */
  GPtrArray *functions; /* GBytes: the model's own, as they are */
  gboolean has_loops;   /* nodes that repeat are written as Loops */
  GHashTable *opsets;   /* domain other than the default → version, as a pointer */
  GHashTable *node_docs;
  GHashTable *value_docs;
  GHashTable *value_infos; /* set: values inside the graph whose types the model lists */
  GHashTable *operands;    /* "node\nattribute" → name of the constant operand that it was */
  GPtrArray *warnings;     /* texts, with a NULL at the end */
} CleaveOnnxOrigin;

CleaveOnnxOrigin *cleave_onnx_origin_new (const Onnx__ModelProto *model);
/* With docs of nodes of its own; the rest is shared, and is not to be changed. */
CleaveOnnxOrigin *cleave_onnx_origin_copy (const CleaveOnnxOrigin *origin);
/* Adds a warning about the model; takes the text. */
void cleave_onnx_origin_take_warning (CleaveOnnxOrigin *origin, char *text);
/* Texts that are absent, empty or no UTF-8 are not kept. */
void cleave_onnx_origin_set_metadata (CleaveOnnxOrigin *origin, const char *key, const char *value);
void cleave_onnx_origin_add_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
/* Instead of what there is; NULL: none. */
void cleave_onnx_origin_set_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
void
cleave_onnx_origin_add_value_doc (CleaveOnnxOrigin *origin, const char *value, const char *doc);
void cleave_onnx_origin_add_operand (CleaveOnnxOrigin *origin,
                                     const char *node,
                                     const char *attr,
                                     const char *name);
/* NULL: none. */
const char *
cleave_onnx_origin_get_operand (const CleaveOnnxOrigin *origin, const char *node, const char *attr);
/* Fills in what is said of the model as a whole. */
void cleave_onnx_origin_write (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model);
void cleave_onnx_origin_clear (gpointer origin);
