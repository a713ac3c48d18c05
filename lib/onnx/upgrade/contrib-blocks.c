/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades MatMulNBits and GatherBlockQuantized, whose weights of 2, 4 or 8 bits have a scale for
 * each block.
 *
 * DequantizeLinear of opset 17 has at most one scale for each row of a matrix. So each block
 * becomes a row of a matrix of bytes. Weights of 2 and 4 bits are unpacked to 8 bits. */

#include "contrib.h"

#include "../../ir/deferred-tensor.h"

#include <string.h>

#define MAX_BLOCK (1 << 20)

/* A matrix whose rows are divided into blocks. */
typedef struct
{
  gint64 n_bits;
  gint64 n_rows, n_blocks, n; /* numbers of rows, of blocks in a row, and of elements in a block */
} Blocks;

static gboolean
check_blocks (const CleaveOnnxNode *node, const Blocks *b, GError **error)
{
  if (b->n_bits != 2 && b->n_bits != 4 && b->n_bits != 8)
    return cleave_onnx_node_fail (node, error, "bits must be 2, 4 or 8, not %" G_GINT64_FORMAT,
                                  b->n_bits);
  return (b->n >= 16 && b->n <= MAX_BLOCK && (b->n & (b->n - 1)) == 0) ||
         cleave_onnx_node_fail (
             node, error, "block_size must be a power of two from 16 on, not %" G_GINT64_FORMAT,
             b->n);
}

/* A packed tensor: several numbers of 2 or 4 bits share a byte. The numbers are unpacked when they
 * are first read. */
typedef struct
{
  CleaveTensor *packed; /* the packed bytes; NULL: all numbers equal `number` */
  Blocks blocks;
  gint64 n, n_padded; /* length of a row, without and with padding */
  guint8 number;
} Packed;

static void
packed_free (gpointer data)
{
  g_clear_pointer (&((Packed *) data)->packed, cleave_tensor_unref);
  g_free (data);
}

static void
fill_unpacked (gpointer to, gpointer data)
{
  const Packed *p = data;
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (p->packed);
  gint64 n_bits = p->blocks.n_bits, n_packed = (p->n * n_bits + 7) / 8, per_byte = 8 / n_bits;
  guint mask = (1u << n_bits) - 1;
  const guint8 *from = cleave_tensor_get_data (dense);
  guint8 *row_to = to;

  for (gint64 row = 0; row < p->blocks.n_rows; row++, from += n_packed, row_to += p->n_padded)
    for (gint64 i = 0; i < p->n; i++)
      row_to[i] = (guint8) ((guint) from[i / per_byte] >> (i % per_byte * n_bits) & mask);
}

static void
fill_same (gpointer to, gpointer data)
{
  const Packed *p = data;

  memset (to, p->number, (gsize) (p->blocks.n_rows * p->n_padded));
}

/* Returns whether the packed tensor is dense and each row fills its bytes: no row has padding or
 * unused bits. */
static gboolean
has_whole_bytes (const Packed *packed)
{
  return packed->packed != NULL && packed->n == packed->n_padded && packed->n % 2 == 0 &&
         cleave_tensor_is_dense (packed->packed);
}

/* Returns a constant whose elements the function `fill` computes from `packed` when they are first
 * read. */
static CleaveOnnxValue *
defer (CleaveOnnxNode *node,
       const CleaveShape *shape,
       CleaveTensorFill fill,
       const Packed *packed,
       GError **error)
{
  CleaveTensor *tensor =
      cleave_tensor_new_deferred (&(CleaveTensorType){ CLEAVE_UINT8, *shape }, fill,
                                  g_memdup2 (packed, sizeof *packed), packed_free, error);

  if (tensor != NULL && packed->blocks.n_bits == 4)
    cleave_tensor_set_bits (tensor, CLEAVE_BITS_UINT4,
                            has_whole_bytes (packed) ? packed->packed : NULL);
  return tensor == NULL ? NULL : cleave_onnx_value_new_constant (node->import, NULL, tensor);
}

/* Unpacks a constant to n_rows rows of n_padded bytes (uint8). A row of the result has `n` numbers,
 * then zeros. The number in the lowest bits of a packed byte comes first. Returns NULL on error. */
static CleaveOnnxValue *
unpack (CleaveOnnxNode *node,
        CleaveOnnxValue *packed,
        const char *what,
        const Blocks *b,
        gint64 n,
        gint64 n_padded,
        const CleaveShape *shape,
        GError **error)
{
  gint64 n_packed = (n * b->n_bits + 7) / 8;
  Packed p = { .blocks = *b, .n = n, .n_padded = n_padded };
  g_autofree char *came = NULL;

  if (packed == NULL || packed->constant == NULL)
    return cleave_onnx_node_fail_null (
        node, error, "%s %s", what,
        packed == NULL ? "is absent" : cleave_onnx_why_unknown (node->import, packed));
  came = cleave_shape_to_string (cleave_onnx_value_shape (packed));
  if (cleave_onnx_value_type (packed)->element != CLEAVE_UINT8 ||
      cleave_shape_n_elements (cleave_onnx_value_shape (packed)) != b->n_rows * n_packed)
    return cleave_onnx_node_fail_null (
        node, error,
        "%s must be uint8, %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT
        ", but is %s of shape %s",
        what, b->n_rows, n_packed,
        cleave_element_get_name (cleave_onnx_value_type (packed)->element), came);
  if (b->n_bits == 8 && n == n_padded)
    return cleave_onnx_reshape (node, packed, shape, ".rows", error);
  p.packed = cleave_tensor_ref (packed->constant);
  return defer (node, shape, fill_unpacked, &p, error);
}

/* Returns the zero points, n_rows times n_blocks. If the operand is absent, each zero point is
 * 2^(n_bits - 1), the middle of the range of a number with n_bits bits. Zero points that are floats
 * are only cast to float32. */
static CleaveOnnxValue *
read_zeros (CleaveOnnxNode *node,
            CleaveOnnxValue *zeros,
            const Blocks *b,
            const CleaveShape *shape,
            GError **error)
{
  const Packed half = { .blocks = *b,
                        .n_padded = b->n_blocks,
                        .number = (guint8) (1 << (b->n_bits - 1)) };

  if (zeros != NULL && cleave_onnx_value_type (zeros)->element == CLEAVE_UINT8)
    return unpack (node, zeros, "zero_points", b, b->n_blocks, b->n_blocks, shape, error);
  if (zeros != NULL)
    return cleave_onnx_cast (node, zeros, CLEAVE_FLOAT32, ".zeros.float32", error);
  return defer (node, shape, fill_same, &half, error);
}

static CleaveOnnxValue *
read_scales (CleaveOnnxNode *node, CleaveOnnxValue *scales, const Blocks *b, GError **error)
{
  g_autofree char *came = NULL;

  if (scales != NULL &&
      cleave_shape_n_elements (cleave_onnx_value_shape (scales)) == b->n_rows * b->n_blocks)
    return cleave_onnx_cast (node, scales, CLEAVE_FLOAT32, ".scales.float32", error);
  came = scales == NULL ? NULL : cleave_shape_to_string (cleave_onnx_value_shape (scales));
  return cleave_onnx_node_fail_null (
      node, error, "scales must have %" G_GINT64_FORMAT " rows of %" G_GINT64_FORMAT ", but %s%s",
      b->n_rows, b->n_blocks, scales == NULL ? "is absent" : "has the shape ",
      scales == NULL ? "" : came);
}

/* Returns the bytes dequantized to float32. The bytes have n_rows rows, each with n_blocks blocks
 * of n elements. */
static CleaveOnnxValue *
dequantize (CleaveOnnxNode *node,
            CleaveOnnxValue *bytes,
            CleaveOnnxValue *scales,
            CleaveOnnxValue *zeros,
            const Blocks *b,
            GError **error)
{
  gboolean is_real = zeros != NULL && cleave_onnx_value_type (zeros)->element != CLEAVE_UINT8;
  gint64 n_all = b->n_rows * b->n_blocks;
  const CleaveShape by_block = CLEAVE_SHAPE (n_all, b->n),
                    each = is_real ? CLEAVE_SHAPE (n_all, 1) : CLEAVE_SHAPE (n_all);
  CleaveOnnxValue *x;

  bytes = cleave_onnx_reshape (node, bytes, &by_block, ".blocks", error);
  scales = cleave_onnx_reshape (node, scales, &each, ".scales", error);
  zeros = cleave_onnx_reshape (node, zeros, &each, ".zeros", error);
  if (is_real)
    {
      x = cleave_onnx_cast (node, bytes, CLEAVE_FLOAT32, ".blocks.float32", error);
      x = CLEAVE_ONNX_STEP ("Sub", ".blocks.centered", NULL, x, zeros);
      x = CLEAVE_ONNX_STEP ("Mul", ".blocks.real", NULL, x, scales);
    }
  else
    x = CLEAVE_ONNX_STEP ("DequantizeLinear", ".blocks.real", cleave_onnx_attr_new_int ("axis", 0),
                          bytes, scales, zeros);
  return cleave_onnx_reshape (node, x, &CLEAVE_SHAPE (b->n_rows, b->n_blocks * b->n), ".real",
                              error);
}

/* Upgrades MatMulNBits. The shape of B is [N, blocks, bytes of a block]. Each of the N rows has K
 * elements, and padding up to whole blocks. */
static gboolean
mat_mul_n_bits (CleaveOnnxNode *node, GError **error)
{
  gint64 k = cleave_onnx_node_take_int (node, "K", 0);
  Blocks b = { .n_bits = cleave_onnx_node_take_int (node, "bits", 4),
               .n_rows = cleave_onnx_node_take_int (node, "N", 0),
               .n = cleave_onnx_node_take_int (node, "block_size", 0) };
  CleaveOnnxValue *a = cleave_onnx_node_operand (node, 0),
                  *bias = cleave_onnx_node_operand (node, 5), *bytes, *scales, *zeros, *y;
  CleaveElement element = a == NULL ? CLEAVE_FLOAT32 : cleave_onnx_value_type (a)->element;

  cleave_onnx_node_take_int (node, "accuracy_level",
                             0); /* ignore accuracy_level: float32 satisfies every level */
  if (!cleave_onnx_take_only (node, "weight_prepacked", 0, error) ||
      !cleave_onnx_node_check_no_attrs (node, error) || !check_blocks (node, &b, error) ||
      !cleave_onnx_node_need (node, 3, error) || !cleave_onnx_refuse (node, 4, "g_idx", error))
    return FALSE;
  if (k < 1 || k > G_MAXINT32 || b.n_rows < 1 || b.n_rows > G_MAXINT32)
    return cleave_onnx_node_fail (node, error, "K and N must be at least 1");
  b.n_blocks = (k + b.n - 1) / b.n;
  bytes = unpack (node, cleave_onnx_node_operand (node, 1), "B", &b, b.n_blocks * b.n,
                  b.n_blocks * b.n, &CLEAVE_SHAPE (b.n_rows * b.n_blocks, b.n), error);
  if (bytes == NULL)
    return FALSE;
  scales = read_scales (node, cleave_onnx_node_operand (node, 2), &b, error);
  zeros = read_zeros (node, cleave_onnx_node_operand (node, 3), &b,
                      &CLEAVE_SHAPE (b.n_rows * b.n_blocks), error);
  y = dequantize (node, bytes, scales, zeros, &b, error);
  y = cleave_onnx_slice (node, y, 1, (CleaveSpan){ 0, k }, ".weights", error);
  y = cleave_onnx_permute (node, y, &CLEAVE_SHAPE (1, 0), ".turned", error);
  a = cleave_onnx_cast (node, a, CLEAVE_FLOAT32, ".a.float32", error);
  y = CLEAVE_ONNX_STEP ("MatMul", bias == NULL && element == CLEAVE_FLOAT32 ? "" : ".product", NULL,
                        a, y);
  if (bias != NULL)
    y = CLEAVE_ONNX_STEP ("Add", element == CLEAVE_FLOAT32 ? "" : ".biased", NULL, y,
                          cleave_onnx_cast (node, bias, CLEAVE_FLOAT32, ".bias.float32", error));
  return cleave_onnx_finish (node, cleave_onnx_cast (node, y, element, "", error));
}

/* The functions below upgrade GatherBlockQuantized. This op gathers rows of a quantized table. The
 * upgrade also gathers the scales and the zero points of these rows, and then dequantizes. */

static CleaveOnnxValue *
gather (CleaveOnnxNode *node,
        CleaveOnnxValue *from,
        CleaveOnnxValue *indices,
        const CleaveShape *table,
        const char *suffix,
        GError **error)
{
  g_autofree char *name = g_strconcat (suffix, ".table", NULL);

  from = cleave_onnx_reshape (node, from, table, name, error);
  return CLEAVE_ONNX_STEP ("Gather", suffix, cleave_onnx_attr_new_int ("axis", 0), from, indices);
}

static gboolean
check_gather (CleaveOnnxNode *node, const Blocks *b, GError **error)
{
  return cleave_onnx_take_only (node, "gather_axis", 0, error) &&
         cleave_onnx_take_only (node, "quantize_axis", 1, error) &&
         cleave_onnx_node_check_no_attrs (node, error) && check_blocks (node, b, error) &&
         cleave_onnx_node_need (node, 3, error) &&
         cleave_onnx_expect (node, "data", cleave_onnx_node_operand (node, 0),
                             &CLEAVE_SHAPE (CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY), error);
}

static gboolean
gather_block_quantized (CleaveOnnxNode *node, GError **error)
{
  Blocks b = { .n_bits = cleave_onnx_node_take_int (node, "bits", 4),
               .n = cleave_onnx_node_take_int (node, "block_size", 128) },
         gathered;
  CleaveOnnxValue *data = cleave_onnx_node_operand (node, 0),
                  *indices = cleave_onnx_node_operand (node, 1),
                  *scales = cleave_onnx_node_operand (node, 2), *zeros, *y;
  CleaveElement element;
  CleaveShape shape;
  gint64 n;

  if (!check_gather (node, &b, error))
    return FALSE;
  element = cleave_onnx_value_type (scales)->element;
  b.n_rows = cleave_onnx_value_shape (data)->dim[0];
  n = cleave_onnx_value_shape (data)->dim[1] * 8 / b.n_bits;
  b.n = MIN (b.n, MAX (n, 1)); /* block_size may exceed the length of a row */
  b.n_blocks = (n + b.n - 1) / b.n;
  gathered = b;
  gathered.n_rows = cleave_shape_n_elements (cleave_onnx_value_shape (indices));
  shape = CLEAVE_SHAPE (b.n_rows, b.n_blocks);
  data = unpack (node, data, "data", &b, n, b.n_blocks * b.n,
                 &CLEAVE_SHAPE (b.n_rows, b.n_blocks * b.n), error);
  scales = data == NULL ? NULL : read_scales (node, scales, &b, error);
  zeros = scales == NULL ? NULL
                         : read_zeros (node, cleave_onnx_node_operand (node, 3), &b, &shape, error);
  scales = gather (node, scales, indices, &shape, ".scales.rows", error);
  zeros = gather (node, zeros, indices, &shape, ".zeros.rows", error);
  shape.dim[1] *= b.n;
  data = gather (node, data, indices, &shape, ".bytes", error);
  y = dequantize (node, data, scales, zeros, &gathered, error);
  y = cleave_onnx_slice (node, y, 1, (CleaveSpan){ 0, n }, ".cut", error);
  y = cleave_onnx_cast (node, y, element, ".narrow", error);
  shape = *cleave_onnx_value_shape (indices);
  if (shape.rank == CLEAVE_MAX_RANK)
    return cleave_onnx_node_fail (node, error, "indices must have a rank below %d",
                                  CLEAVE_MAX_RANK);
  shape.dim[shape.rank++] = n;
  return cleave_onnx_finish (node, cleave_onnx_reshape (node, y, &shape, "", error));
}

const CleaveOnnxContrib cleave_onnx_contrib_blocks[] = {
  { "GatherBlockQuantized", gather_block_quantized },
  { "MatMulNBits", mat_mul_n_bits },
  { NULL, NULL },
};
