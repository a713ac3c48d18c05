/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#include "dynamic.h"
#include "onnx.pb-c.h"

/* the lowest opset of a written file */
#define CLEAVE_ONNX_OPSET 17
/* key and value of the metadata entry of a model whose nodes run in the order in which they are
 * listed */
#define CLEAVE_ONNX_ORDER "cleave.order"
#define CLEAVE_ONNX_LISTED "listed"
/* suffix of the name of an inner Concat of an Assemble */
#define CLEAVE_ONNX_PART ".part"
/* suffix of the name of an input after the Reshape that hides its shape until the model runs */
#define CLEAVE_ONNX_SHAPED ".shaped"

/* The origin of a graph: the parts of a model that do not influence its results, such as doc
 * strings and metadata. They are kept from import to export, by names of nodes and values. Copies
 * of a graph share them. */
typedef struct
{
  char *producer_name, *producer_version, *domain, *doc, *graph_doc;
  gint64 model_version; /* version of the model; -1: none */
  GPtrArray *metadata;  /* char *: key, value, key, value … */
  gboolean has_loops;   /* the export writes repeated nodes as Loops */
  GHashTable
      *opsets; /* maps a domain that is not the default to its version, stored as a pointer */
  GHashTable *node_docs;
  GHashTable *value_docs;
  GHashTable *value_infos; /* set of the names of inner values whose types the model declares */
  GHashTable *operands; /* maps "node\nattribute" to the name of the constant operand in the file */
  GPtrArray *warnings;  /* char *: warnings; the last entry is NULL */
  CleaveOnnxDynamic *dynamic; /* the dynamic part; NULL: all nodes are in the graph */
} CleaveOnnxOrigin;

CleaveOnnxOrigin *cleave_onnx_origin_new (const Onnx__ModelProto *model);
/* Copies an origin, the metadata and doc strings of a model. The copy has its own doc strings of
 * nodes, and shares the other fields, which must not change. */
CleaveOnnxOrigin *cleave_onnx_origin_copy (const CleaveOnnxOrigin *origin);
/* Adds a warning about the model. Takes ownership of the text. */
void cleave_onnx_origin_take_warning (CleaveOnnxOrigin *origin, char *text);
/* Adds an entry to the metadata, or replaces the entry with this key. */
void cleave_onnx_origin_set_metadata (CleaveOnnxOrigin *origin, const char *key, const char *value);
/* Adds the doc string of a node or a value. Ignores one that is NULL, empty or not UTF-8. */
void cleave_onnx_origin_add_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
/* Replaces the doc string of a node. `doc` NULL removes it. */
void cleave_onnx_origin_set_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
void
cleave_onnx_origin_add_value_doc (CleaveOnnxOrigin *origin, const char *value, const char *doc);
void cleave_onnx_origin_add_operand (CleaveOnnxOrigin *origin,
                                     const char *node,
                                     const char *attr,
                                     const char *name);
/* Returns the name of the constant operand that was the attribute in the file; NULL if there was
 * none. */
const char *
cleave_onnx_origin_get_operand (const CleaveOnnxOrigin *origin, const char *node, const char *attr);
/* Adds an entry to the metadata of a model. */
void cleave_onnx_add_metadata (Onnx__ModelProto *model, const char *key, const char *value);
/* Writes metadata, doc strings and opsets into the model. */
void cleave_onnx_origin_write (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model);
void cleave_onnx_origin_clear (gpointer origin);
