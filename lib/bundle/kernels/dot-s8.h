/* SPDX-License-Identifier: 0BSD */

/* Products of elements x[0] ... x[n - 1] of one or two pixels and the weights of four channels,
 * which are w[i / 4][channel][i % 4] for i < n - n % 4, then w[i][channel]. */

/* Adds to the sums of four channels of two pixels. The second pixel is `other` bytes after x. */
static void
dot_s8_2x4 (uint32_t *sum, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

#define STEP(at, step)                                                                             \
  {                                                                                                \
    const int32_t a = x[0], b = x[other];                                                          \
    int32_t v = w[at];                                                                             \
                                                                                                   \
    s0 += a * v;                                                                                   \
    s4 += b * v;                                                                                   \
    v = w[(at) + (step)];                                                                          \
    s1 += a * v;                                                                                   \
    s5 += b * v;                                                                                   \
    v = w[(at) + 2 * (step)];                                                                      \
    s2 += a * v;                                                                                   \
    s6 += b * v;                                                                                   \
    v = w[(at) + 3 * (step)];                                                                      \
    s3 += a * v;                                                                                   \
    s7 += b * v;                                                                                   \
    x++;                                                                                           \
  }
  for (; n >= 4; n -= 4)
    {
      STEP (0, 4)
      STEP (1, 4)
      STEP (2, 4)
      STEP (3, 4)
      w += 16;
    }
  for (; n > 0; n--)
    {
      STEP (0, 1)
      w += 4;
    }
#undef STEP
  sum[0] += (uint32_t) s0;
  sum[1] += (uint32_t) s1;
  sum[2] += (uint32_t) s2;
  sum[3] += (uint32_t) s3;
  sum[4] += (uint32_t) s4;
  sum[5] += (uint32_t) s5;
  sum[6] += (uint32_t) s6;
  sum[7] += (uint32_t) s7;
}

/* Adds to the sums of four channels of a pixel. */
static void
dot_s8_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

#define STEP(i, at, step)                                                                          \
  {                                                                                                \
    const int32_t a = x[i];                                                                        \
                                                                                                   \
    s0 += a * w[at];                                                                               \
    s1 += a * w[(at) + (step)];                                                                    \
    s2 += a * w[(at) + 2 * (step)];                                                                \
    s3 += a * w[(at) + 3 * (step)];                                                                \
  }
  for (; n >= 4; n -= 4)
    {
      STEP (0, 0, 4)
      STEP (1, 1, 4)
      STEP (2, 2, 4)
      STEP (3, 3, 4)
      x += 4;
      w += 16;
    }
  for (; n > 0; n--)
    {
      STEP (0, 0, 1)
      x++;
      w += 4;
    }
#undef STEP
  sum[0] += (uint32_t) s0;
  sum[1] += (uint32_t) s1;
  sum[2] += (uint32_t) s2;
  sum[3] += (uint32_t) s3;
}
