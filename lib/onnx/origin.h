/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#include "dynamic.h"
#include "onnx.pb-c.h"

/* The parts of a model file that do not influence results, such as doc strings and metadata. The
 * importer fills a CleaveOnnxOrigin and attaches it to the graph. The exporter writes its contents
 * into the new file, for nodes and values that still have their names. */

/* lowest opset of the files that the exporter writes, and the opset of the op records */
#define CLEAVE_ONNX_OPSET 17
/* key and value of the metadata entry which states that a runtime should run the nodes in their
 * order in the file */
#define CLEAVE_ONNX_ORDER "cleave.order"
#define CLEAVE_ONNX_LISTED "listed"
/* suffix of the name of a Concat that computes a part of an Assemble, if one Concat is not enough
 */
#define CLEAVE_ONNX_PART ".part"
/* suffix of the name of a Reshape that returns an input unchanged. The new shape is the shape of
 * the input, but it is known only at run time. So a runtime cannot use the shape when it plans
 * memory */
#define CLEAVE_ONNX_SHAPED ".shaped"

/* The origin of a graph. Copies of a graph share it. */
typedef struct
{
  char *producer_name, *producer_version, *domain, *doc, *graph_doc;
  gint64 model_version; /* version of the model; -1: none */
  GPtrArray *metadata;  /* char *: for each entry of the metadata its key, then its value */
  gboolean has_loops;   /* whether the export writes repeated nodes as Loops */
  /* maps each domain other than the default domain to its opset, stored as a pointer */
  GHashTable *opsets;
  GHashTable *node_docs;
  GHashTable *value_docs;
  GHashTable *value_infos;    /* set of the names of intermediate values whose types the model
                               * declares */
  GHashTable *operands;       /* for an attribute that is a constant operand in the file: maps
                               * "node\nattribute" to the name of the constant */
  GPtrArray *warnings;        /* char *: the importer's warnings; the last entry is NULL */
  CleaveOnnxDynamic *dynamic; /* the dynamic part; NULL: all nodes are in the graph */
} CleaveOnnxOrigin;

CleaveOnnxOrigin *cleave_onnx_origin_new (const Onnx__ModelProto *model);
/* Returns a copy of an origin. The copy has its own table of the doc strings of nodes, and shares
 * all other fields with the original. No function may change a shared field. */
CleaveOnnxOrigin *cleave_onnx_origin_copy (const CleaveOnnxOrigin *origin);
/* Adds a warning about the model. Takes ownership of the text. */
void cleave_onnx_origin_take_warning (CleaveOnnxOrigin *origin, char *text);
/* Adds an entry to the metadata, or replaces the entry with this key. */
void cleave_onnx_origin_set_metadata (CleaveOnnxOrigin *origin, const char *key, const char *value);
/* Adds the doc string of a node. Ignores a doc string that is NULL, empty or not UTF-8. Does
 * nothing if `origin` is NULL, as in a run of the dynamic part. */
void cleave_onnx_origin_add_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
/* Replaces the doc string of a node. If `doc` is NULL, removes the node's doc string. */
void cleave_onnx_origin_set_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc);
void cleave_onnx_origin_add_operand (CleaveOnnxOrigin *origin,
                                     const char *node,
                                     const char *attr,
                                     const char *name);
/* Returns the name of the constant from which the import read attribute `attr` of node `node`, such
 * as the axes of a Squeeze. Returns NULL if the attribute was not a constant operand in the
 * file. */
const char *
cleave_onnx_origin_get_operand (const CleaveOnnxOrigin *origin, const char *node, const char *attr);
/* Adds an entry to the metadata of a model. */
void cleave_onnx_add_metadata (Onnx__ModelProto *model, const char *key, const char *value);
/* Writes metadata, doc strings and opsets into the model. */
void cleave_onnx_origin_write (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model);
void cleave_onnx_origin_clear (gpointer origin);
