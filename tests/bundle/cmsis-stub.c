/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Slow functions with the documented results of CMSIS-NN (cmsis-stub.h). Each function overwrites
 * its whole context buffer, as CMSIS-NN may. */

#include <arm_nnfunctions.h>
#include <string.h>

static int32_t
scale (int32_t x, int32_t multiplier, int32_t shift)
{
  int64_t high = ((int64_t) x * (1 << (shift > 0 ? shift : 0)) * multiplier + (1 << 30)) >> 31;
  int64_t half = shift < 0 ? (int64_t) 1 << (-shift - 1) : 0;

  return shift < 0 ? (int32_t) ((high + half - (high < 0)) >> -shift) : (int32_t) high;
}

static int8_t
clamp (int32_t x, const cmsis_nn_activation *bounds)
{
  return (int8_t) (x < bounds->min ? bounds->min : x > bounds->max ? bounds->max : x);
}

static void
overwrite (const cmsis_nn_context *context)
{
  if (context->size > 0)
    memset (context->buf, 0x5a, (size_t) context->size);
}

/* The window of one pixel of the result: the shapes of operand and weights, and the window's first
 * row and column. */
typedef struct
{
  const cmsis_nn_dims *x, *w;
  cmsis_nn_tile step; /* dilation */
  int32_t row, column;
} Window;

/* Returns the offset of the pixel that tap (i, j) reads; -1: padding. */
static int32_t
find_pixel (const Window *at, int32_t i, int32_t j)
{
  int32_t row = at->row + i * at->step.h, column = at->column + j * at->step.w;

  if (row < 0 || row >= at->x->h || column < 0 || column >= at->x->w)
    return -1;
  return (row * at->x->w + column) * at->x->c;
}

#define EACH_PIXEL(y, row, column)                                                                 \
  for (int32_t row = 0; row < (y)->h; row++)                                                       \
    for (int32_t column = 0; column < (y)->w; column++)

static Window
make_window (const cmsis_nn_dims *x,
             const cmsis_nn_dims *w,
             const cmsis_nn_tile *stride,
             const cmsis_nn_tile *padding,
             const cmsis_nn_tile *dilation,
             const int32_t *at)
{
  return (Window){ x, w, *dilation, at[0] * stride->h - padding->h,
                   at[1] * stride->w - padding->w };
}

arm_cmsis_nn_status
arm_convolve_wrapper_s8 (const cmsis_nn_context *ctx,
                         const cmsis_nn_conv_params *p,
                         const cmsis_nn_per_channel_quant_params *scales,
                         const cmsis_nn_dims *x_dims,
                         const int8_t *x,
                         const cmsis_nn_dims *w_dims,
                         const int8_t *w,
                         const cmsis_nn_dims *bias_dims,
                         const int32_t *biases,
                         const cmsis_nn_dims *y_dims,
                         int8_t *y)
{
  overwrite (ctx);
  EACH_PIXEL (y_dims, row, column)
  for (int32_t c = 0; c < y_dims->c; c++)
    {
      const int32_t pixel[] = { row, column };
      Window at = make_window (x_dims, w_dims, &p->stride, &p->padding, &p->dilation, pixel);
      int32_t sum = biases[c], from;

      for (int32_t i = 0; i < w_dims->h; i++)
        for (int32_t j = 0; j < w_dims->w; j++)
          for (int32_t k = 0; (from = find_pixel (&at, i, j)) >= 0 && k < w_dims->c; k++)
            sum += (x[from + k] + p->input_offset) *
                   w[((c * w_dims->h + i) * w_dims->w + j) * w_dims->c + k];
      *y++ = clamp (scale (sum, scales->multiplier[c], scales->shift[c]) + p->output_offset,
                    &p->activation);
    }
  return bias_dims->c == y_dims->c ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR;
}

arm_cmsis_nn_status
arm_depthwise_conv_wrapper_s8 (const cmsis_nn_context *ctx,
                               const cmsis_nn_dw_conv_params *p,
                               const cmsis_nn_per_channel_quant_params *scales,
                               const cmsis_nn_dims *x_dims,
                               const int8_t *x,
                               const cmsis_nn_dims *w_dims,
                               const int8_t *w,
                               const cmsis_nn_dims *bias_dims,
                               const int32_t *biases,
                               const cmsis_nn_dims *y_dims,
                               int8_t *y)
{
  overwrite (ctx);
  EACH_PIXEL (y_dims, row, column)
  for (int32_t c = 0; c < y_dims->c; c++)
    {
      const int32_t pixel[] = { row, column };
      Window at = make_window (x_dims, w_dims, &p->stride, &p->padding, &p->dilation, pixel);
      int32_t sum = biases[c], from;

      for (int32_t i = 0; i < w_dims->h; i++)
        for (int32_t j = 0; j < w_dims->w; j++)
          if ((from = find_pixel (&at, i, j)) >= 0)
            sum += (x[from + c / p->ch_mult] + p->input_offset) *
                   w[(i * w_dims->w + j) * w_dims->c + c];
      *y++ = clamp (scale (sum, scales->multiplier[c], scales->shift[c]) + p->output_offset,
                    &p->activation);
    }
  return bias_dims->c == y_dims->c ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR;
}

arm_cmsis_nn_status
arm_fully_connected_s8 (const cmsis_nn_context *ctx,
                        const cmsis_nn_fc_params *p,
                        const cmsis_nn_per_tensor_quant_params *scales,
                        const cmsis_nn_dims *x_dims,
                        const int8_t *x,
                        const cmsis_nn_dims *w_dims,
                        const int8_t *w,
                        const cmsis_nn_dims *bias_dims,
                        const int32_t *biases,
                        const cmsis_nn_dims *y_dims,
                        int8_t *y)
{
  overwrite (ctx);
  for (int32_t c = 0; c < y_dims->c; c++)
    {
      int32_t sum = biases[c];

      for (int32_t k = 0; k < w_dims->n; k++)
        sum += (x[k] + p->input_offset) * (w[c * w_dims->n + k] + p->filter_offset);
      *y++ =
          clamp (scale (sum, scales->multiplier, scales->shift) + p->output_offset, &p->activation);
    }
  return x_dims->n == 1 && bias_dims->c == y_dims->c ? ARM_CMSIS_NN_SUCCESS
                                                     : ARM_CMSIS_NN_ARG_ERROR;
}

/* Sets each element of the result to the maximum or the mean of a window. */
static void
pool (const cmsis_nn_pool_params *p,
      const cmsis_nn_dims *x_dims,
      const int8_t *x,
      const cmsis_nn_dims *w_dims,
      const cmsis_nn_dims *y_dims,
      int is_max,
      int8_t *y)
{
  EACH_PIXEL (y_dims, row, column)
  for (int32_t c = 0; c < y_dims->c; c++)
    {
      const cmsis_nn_tile one = { 1, 1 };
      const int32_t pixel[] = { row, column };
      Window at = make_window (x_dims, w_dims, &p->stride, &p->padding, &one, pixel);
      int32_t sum = 0, max = INT8_MIN, n = 0, from;

      for (int32_t i = 0; i < w_dims->h; i++)
        for (int32_t j = 0; j < w_dims->w; j++)
          if ((from = find_pixel (&at, i, j)) >= 0)
            {
              max = x[from + c] > max ? x[from + c] : max;
              sum += x[from + c];
              n++;
            }
      *y++ = clamp (is_max ? max : (sum > 0 ? sum + n / 2 : sum - n / 2) / n, &p->activation);
    }
}

arm_cmsis_nn_status
arm_max_pool_s8 (const cmsis_nn_context *ctx,
                 const cmsis_nn_pool_params *p,
                 const cmsis_nn_dims *x_dims,
                 const int8_t *x,
                 const cmsis_nn_dims *w_dims,
                 const cmsis_nn_dims *y_dims,
                 int8_t *y)
{
  overwrite (ctx);
  pool (p, x_dims, x, w_dims, y_dims, 1, y);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status
arm_avgpool_s8 (const cmsis_nn_context *ctx,
                const cmsis_nn_pool_params *p,
                const cmsis_nn_dims *x_dims,
                const int8_t *x,
                const cmsis_nn_dims *w_dims,
                const cmsis_nn_dims *y_dims,
                int8_t *y)
{
  overwrite (ctx);
  pool (p, x_dims, x, w_dims, y_dims, 0, y);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status
arm_elementwise_add_s8 (const int8_t *a,
                        const int8_t *b,
                        const int32_t a_offset,
                        const int32_t a_multiplier,
                        const int32_t a_shift,
                        const int32_t b_offset,
                        const int32_t b_multiplier,
                        const int32_t b_shift,
                        const int32_t left_shift,
                        int8_t *y,
                        const int32_t y_offset,
                        const int32_t multiplier,
                        const int32_t shift,
                        const int32_t min,
                        const int32_t max,
                        const int32_t n)
{
  const cmsis_nn_activation bounds = { min, max };

  for (int32_t i = 0; i < n; i++)
    {
      int32_t sum = scale ((a[i] + a_offset) * (1 << left_shift), a_multiplier, a_shift) +
                    scale ((b[i] + b_offset) * (1 << left_shift), b_multiplier, b_shift);

      y[i] = clamp (scale (sum, multiplier, shift) + y_offset, &bounds);
    }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status
arm_elementwise_mul_s8 (const int8_t *a,
                        const int8_t *b,
                        const int32_t a_offset,
                        const int32_t b_offset,
                        int8_t *y,
                        const int32_t y_offset,
                        const int32_t multiplier,
                        const int32_t shift,
                        const int32_t min,
                        const int32_t max,
                        const int32_t n)
{
  const cmsis_nn_activation bounds = { min, max };

  for (int32_t i = 0; i < n; i++)
    y[i] = clamp (scale ((a[i] + a_offset) * (b[i] + b_offset), multiplier, shift) + y_offset,
                  &bounds);
  return ARM_CMSIS_NN_SUCCESS;
}
