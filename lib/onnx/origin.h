/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#include "dynamic.h"
#include "onnx.pb-c.h"

/* The lowest opset that is written. */
#define CLEAVE_ONNX_OPSET 17
/* Metadata of a model whose nodes shall run in the order in which they are listed. */
#define CLEAVE_ONNX_ORDER "cleave.order"
#define CLEAVE_ONNX_LISTED "listed"
/* Suffix for the name of an inner Concat of an Assemble. */
#define CLEAVE_ONNX_PART ".part"
/* Suffix for the name of an input after the Reshape that hides its shape until the model runs. */
#define CLEAVE_ONNX_SHAPED ".shaped"

/* The parts of a model that do not influence its results, such as doc strings and metadata. They
 * are kept from import to export, by names of nodes and values, and shared by copies of a graph. */
typedef struct
{
  char *producer_name, *producer_version, *domain, *doc, *graph_doc;
  gint64 model_version; /* -1: none */
  GPtrArray *metadata;  /* key, value, key, value … */
  gboolean has_loops;   /* whether repeated nodes are written as Loops */
  GHashTable *opsets;   /* non-default domain -> version, as a pointer */
  GHashTable *node_docs;
  GHashTable *value_docs;
  GHashTable *value_infos;    /* set of names: inner values whose types the model declares */
  GHashTable *operands;       /* "node\nattribute" -> name of the constant operand in the file */
  GPtrArray *warnings;        /* texts; the last entry is NULL */
  CleaveOnnxDynamic *dynamic; /* NULL: all nodes are in the graph */
} CleaveOnnxOrigin;

CleaveOnnxOrigin *cleave_onnx_origin_new (const Onnx__ModelProto *model);
/* Copies an origin: the copy has its own docs of nodes, and shares the rest, which must not be
 * changed. */
CleaveOnnxOrigin *cleave_onnx_origin_copy (const CleaveOnnxOrigin *origin);
/* Adds a warning about the model. Takes ownership of the text. */
void cleave_onnx_origin_take_warning (CleaveOnnxOrigin *origin, char *text);
/* Adds an entry to the metadata, or replaces the entry with this key. */
void cleave_onnx_origin_set_metadata (CleaveOnnxOrigin *origin, const char *key, const char *value);
/* Adds the doc string of a node or a value. Ignores one that is NULL, empty or not UTF-8. */
void cleave_onnx_origin_add_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
/* Replaces the doc of a node; NULL removes it. */
void cleave_onnx_origin_set_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
void
cleave_onnx_origin_add_value_doc (CleaveOnnxOrigin *origin, const char *value, const char *doc);
void cleave_onnx_origin_add_operand (CleaveOnnxOrigin *origin,
                                     const char *node,
                                     const char *attr,
                                     const char *name);
/* Returns the name of the constant operand that an attribute was in the file, or NULL. */
const char *
cleave_onnx_origin_get_operand (const CleaveOnnxOrigin *origin, const char *node, const char *attr);
/* Adds an entry to the metadata of a model. */
void cleave_onnx_add_metadata (Onnx__ModelProto *model, const char *key, const char *value);
/* Writes metadata, docs and opsets into the model. */
void cleave_onnx_origin_write (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model);
void cleave_onnx_origin_clear (gpointer origin);
