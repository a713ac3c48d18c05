/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts Split, Slice and Join operators of other frameworks to the attributes of Cleave's ops.
 * An importer for a framework fills a struct of this header, converts it, and passes the attributes
 * to cleave_graph_add(). Each struct has the arguments of one operator of a framework, with the
 * framework's names. An optional number is a pointer; NULL means that the number is absent. */

#include <cleave/cleave-ops.h>

G_BEGIN_DECLS

/**
 * CleaveSplitOnednn:
 * @axis: the dimension to split
 * @num_splits: (nullable): number of equal parts
 * @size_split: (nullable): size of a part
 * @sections_split: (array length=n_sections_split) (nullable): sizes of the parts
 * @n_sections_split: number of @sections_split
 *
 * The arguments of a split in oneDNN Graph. @num_splits, @size_split and @sections_split give the
 * sizes in three ways. The first of these arguments that is not %NULL applies.
 */
typedef struct
{
  gint64 axis;
  const gint64 *num_splits, *size_split, *sections_split;
  guint n_sections_split;
} CleaveSplitOnednn;

/**
 * CleaveSplitTensorflow:
 * @axis: the dimension to split
 * @num_splits: (nullable): number of equal parts
 * @size_splits: (array length=n_size_splits) (nullable): sizes of the parts
 * @num: (nullable): number of parts
 * @n_size_splits: number of @size_splits
 *
 * The arguments of a `tf.split`. The argument `num_or_size_splits` is @num_splits if it is a
 * number, and @size_splits if it is a list.
 */
typedef struct
{
  gint64 axis;
  const gint64 *num_splits, *size_splits;
  const gint64 *num;
  guint n_size_splits;
} CleaveSplitTensorflow;

/**
 * CleaveSplitPytorch:
 * @dim: the dimension to split
 * @split_size: (nullable): size of a part
 * @sections: (array length=n_sections) (nullable): sizes of the parts
 * @n_sections: number of @sections
 *
 * The arguments of a `torch.split`. The argument `split_size_or_sections` is @split_size if it is a
 * number, and @sections if it is a list.
 */
typedef struct
{
  gint64 dim;
  const gint64 *split_size, *sections;
  guint n_sections;
} CleaveSplitPytorch;

/**
 * CleaveSplitOnnx:
 * @opset: the opset of the model
 * @n_outputs: number of outputs
 * @n_split: number of @split
 * @axis: (nullable): the dimension to split
 * @split: (array length=n_split) (nullable): sizes of the parts
 * @num_outputs: (nullable): number of parts; must equal @n_outputs
 *
 * The attributes and operands of an ONNX Split of any opset.
 */
typedef struct
{
  guint opset, n_outputs, n_split;
  const gint64 *axis, *split, *num_outputs;
} CleaveSplitOnnx;

/**
 * CleaveSliceXla:
 * @start_indices: first index in each dimension
 * @limit_indices: index to stop before in each dimension
 * @strides: step in each dimension
 *
 * The arguments of a `Slice` of XLA.
 */
typedef struct
{
  gint64 start_indices[CLEAVE_MAX_RANK];
  gint64 limit_indices[CLEAVE_MAX_RANK];
  gint64 strides[CLEAVE_MAX_RANK];
} CleaveSliceXla;

CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_onednn (const CleaveTensorType *src,
                                                          const CleaveSplitOnednn *call,
                                                          GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_tensorflow (const CleaveTensorType *value,
                                                              const CleaveSplitTensorflow *call,
                                                              GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_pytorch (const CleaveTensorType *tensor,
                                                           const CleaveSplitPytorch *call,
                                                           GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_onnx (const CleaveTensorType *input,
                                                        const CleaveSplitOnnx *call,
                                                        GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_openvino_split (const CleaveTensorType *data,
                                                                  const CleaveTensor *axis,
                                                                  gint64 num_splits,
                                                                  GError **error);
CLEAVE_API CleaveSplitAttrs *
cleave_split_op_from_openvino_variadic (const CleaveTensorType *data,
                                        const CleaveTensor *axis,
                                        const CleaveTensor *split_lengths,
                                        GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_directml (const CleaveTensorType *input,
                                                            const CleaveTensorType *outputs,
                                                            guint output_count,
                                                            guint axis,
                                                            GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_texts (const char *operator_name,
                                                         const CleaveTensorType *operand,
                                                         GHashTable *arguments,
                                                         GError **error);
CLEAVE_API CleaveAxisAttrs *cleave_concat_op_from_directml_join (const CleaveTensorType *inputs,
                                                                 guint input_count,
                                                                 const CleaveTensorType *output,
                                                                 guint axis,
                                                                 GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_xla (const CleaveTensorType *operand,
                                                       const CleaveSliceXla *slices,
                                                       guint n_slices,
                                                       GError **error);
CLEAVE_API GArray *cleave_split_op_to_xla (const CleaveTensorType *operand,
                                           const CleaveSplitAttrs *attrs);
CLEAVE_API CleaveSliceAttrs *cleave_slice_op_from_xla (const CleaveTensorType *operand,
                                                       const CleaveSliceXla *call,
                                                       GError **error);

G_END_DECLS
