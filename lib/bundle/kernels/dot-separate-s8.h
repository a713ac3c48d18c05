/* SPDX-License-Identifier: 0BSD */

/* Sums of products for conv-s8.c: elements x[0] ... x[n - 1] of one or two pixels, times the
 * weights of four channels. The weights are w[i / 4][channel][i % 4] for i < n - n % 4, then
 * w[i][channel].
 *
 * The order of weights of dot-s8.h needs 20 % fewer instructions, but not every layer can have it.
 * A bundle defines CLEAVE_SEPARATE_WEIGHTS if a layer has the order of this file. */

#ifdef CLEAVE_SEPARATE_WEIGHTS
#ifdef CLEAVE_MVE
/* Adds n products to each of eight sums: four channels of two pixels. n is a multiple of four, and
 * at least four. A vector has 16 elements. If n is no multiple of 16, the last step computes a part
 * of a vector. */
static inline void
dot_separate_s8_add (uint32_t *sum, const int8_t *first, int32_t other, const int8_t *w, int32_t n)
{
  /* offsets in bytes of the weights of elements 0 to 15 */
  static const uint8_t offsets[16] = { 0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51 };

  for (int32_t c = 0; c < 4; c++)
    {
      const int8_t *x = first, *next = first + other, *from = w + 4 * c;
      int32_t s0 = 0, s1 = 0;

      __asm__ volatile("vldrb.u8 q3, [%6]\n\tdlstp.8 lr, %5\n1:\n\t"
                       "vldrb.u8 q1, [%4, q3]\n\tvldrb.u8 q0, [%2], #16\n\t"
                       "vmladava.s8 %0, q0, q1\n\tvldrb.u8 q2, [%3], #16\n\t"
                       "vmladava.s8 %1, q2, q1\n\tadd %4, %4, #64\n\tletp lr, 1b"
                       : "+Te"(s0), "+Te"(s1), "+r"(x), "+r"(next), "+r"(from)
                       : "r"(n), "r"(offsets)
                       : "q0", "q1", "q2", "q3", "lr", "memory");
      sum[c] += (uint32_t) s0;
      sum[c + 4] += (uint32_t) s1;
    }
}
#endif

#ifdef CLEAVE_DSP
/* Returns elements 0 and 2 of four bytes, as halves of a word. */
static inline int32_t
dot_separate_s8_even (const int8_t *from)
{
  int32_t bytes;

  memcpy (&bytes, from, sizeof bytes);
  return __sxtb16 (bytes);
}

/* Returns elements 1 and 3 of four bytes, as halves of a word. */
static inline int32_t
dot_separate_s8_odd (const int8_t *from)
{
  int32_t bytes;

  memcpy (&bytes, from, sizeof bytes);
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(bytes) : "r"(bytes));
  return bytes;
}

/* Multiplies two elements of each pixel by their weights for channel `c`. Adds the products to `s`,
 * the sum of the first pixel, and to `t`, the sum of the second pixel. `half` selects elements 0
 * and 2, or elements 1 and 3, of the next four elements. */
#define DOT_SEPARATE_S8_PAIR(half, c, s, t)                                                        \
  v = half (w + 4 * (c));                                                                          \
  s = __smlad (a, v, s);                                                                           \
  t = __smlad (b, v, t);

#define DOT_SEPARATE_S8_PAIRS(half)                                                                \
  a = half (x);                                                                                    \
  b = half (x + other);                                                                            \
  DOT_SEPARATE_S8_PAIR (half, 0, s0, s4)                                                           \
  DOT_SEPARATE_S8_PAIR (half, 1, s1, s5)                                                           \
  DOT_SEPARATE_S8_PAIR (half, 2, s2, s6)                                                           \
  DOT_SEPARATE_S8_PAIR (half, 3, s3, s7)

/* Adds the products of the next four elements of two pixels to the sums of four channels. Loads all
 * bytes twice, since keeping them in registers would spill, which costs more. */
#define DOT_SEPARATE_S8_2X4                                                                        \
  {                                                                                                \
    int32_t a, b, v;                                                                               \
                                                                                                   \
    DOT_SEPARATE_S8_PAIRS (dot_separate_s8_even)                                                   \
    CLEAVE_FENCE                                                                                   \
    DOT_SEPARATE_S8_PAIRS (dot_separate_s8_odd)                                                    \
    x += 4;                                                                                        \
  }

#define DOT_SEPARATE_S8_1X4                                                                        \
  {                                                                                                \
    const int32_t a = dot_separate_s8_even (x), b = dot_separate_s8_odd (x);                       \
                                                                                                   \
    s0 = __smlad (b, dot_separate_s8_odd (w), __smlad (a, dot_separate_s8_even (w), s0));          \
    s1 = __smlad (b, dot_separate_s8_odd (w + 4), __smlad (a, dot_separate_s8_even (w + 4), s1));  \
    s2 = __smlad (b, dot_separate_s8_odd (w + 8), __smlad (a, dot_separate_s8_even (w + 8), s2));  \
    s3 =                                                                                           \
        __smlad (b, dot_separate_s8_odd (w + 12), __smlad (a, dot_separate_s8_even (w + 12), s3)); \
    x += 4;                                                                                        \
  }
#else
#define DOT_SEPARATE_S8_2X4                                                                        \
  DOT_SEPARATE_S8_STEP_2X4 (0, 4)                                                                  \
  CLEAVE_FENCE                                                                                     \
  DOT_SEPARATE_S8_STEP_2X4 (1, 4)                                                                  \
  CLEAVE_FENCE                                                                                     \
  DOT_SEPARATE_S8_STEP_2X4 (2, 4)                                                                  \
  CLEAVE_FENCE                                                                                     \
  DOT_SEPARATE_S8_STEP_2X4 (3, 4)

#define DOT_SEPARATE_S8_1X4                                                                        \
  DOT_SEPARATE_S8_STEP_1X4 (0, 4)                                                                  \
  DOT_SEPARATE_S8_STEP_1X4 (1, 4)                                                                  \
  DOT_SEPARATE_S8_STEP_1X4 (2, 4)                                                                  \
  DOT_SEPARATE_S8_STEP_1X4 (3, 4)
#endif

/* Adds the products of one element. The weight of the next channel is w[at + step]. */
#define DOT_SEPARATE_S8_STEP_2X4(at, step)                                                         \
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

#define DOT_SEPARATE_S8_STEP_1X4(at, step)                                                         \
  {                                                                                                \
    const int32_t a = *x++;                                                                        \
                                                                                                   \
    s0 += a * w[at];                                                                               \
    s1 += a * w[(at) + (step)];                                                                    \
    s2 += a * w[(at) + 2 * (step)];                                                                \
    s3 += a * w[(at) + 3 * (step)];                                                                \
  }

/* Adds n products to each of eight sums: four channels of two pixels. The elements of the second
 * pixel are `other` bytes after x. */
static inline void
dot_separate_s8_2x4 (uint32_t *sum, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

#ifdef CLEAVE_MVE
  if (n >= 4)
    dot_separate_s8_add (sum, x, other, w, n & ~3);
  x += n & ~3;
  w += 4 * (n & ~3);
  n &= 3;
#else
  for (; n >= 4; n -= 4)
    {
      DOT_SEPARATE_S8_2X4
      w += 16;
    }
#endif
  for (; n > 0; n--)
    {
      DOT_SEPARATE_S8_STEP_2X4 (0, 1)
      w += 4;
    }
  sum[0] += (uint32_t) s0;
  sum[1] += (uint32_t) s1;
  sum[2] += (uint32_t) s2;
  sum[3] += (uint32_t) s3;
  sum[4] += (uint32_t) s4;
  sum[5] += (uint32_t) s5;
  sum[6] += (uint32_t) s6;
  sum[7] += (uint32_t) s7;
}

#ifndef CLEAVE_MVE
/* Adds n products to each of four sums: the sums of four channels for one pixel. */
static inline void
dot_separate_s8_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

  for (; n >= 4; n -= 4)
    {
      DOT_SEPARATE_S8_1X4
      w += 16;
    }
  for (; n > 0; n--)
    {
      DOT_SEPARATE_S8_STEP_1X4 (0, 1)
      w += 4;
    }
  sum[0] += (uint32_t) s0;
  sum[1] += (uint32_t) s1;
  sum[2] += (uint32_t) s2;
  sum[3] += (uint32_t) s3;
}
#endif
#endif
