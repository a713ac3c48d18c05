/* SPDX-License-Identifier: 0BSD */

/* Sums of products for conv-s8.c: elements x[0] ... x[n - 1] of one or two pixels, times the
 * weights of four channels. n is a multiple of four, and at least four.
 *
 * The weights are int16. Each int16 combines two weights of one element: the weight w0 for a
 * channel and the weight w1 for the next channel, as w0 + 256 * w1. The low byte is w0. Four
 * elements have eight of these integers, in this order:
 *
 *   int16       0      1      2      3      4      5      6      7
 *   element     0      2      0      2      1      3      1      3
 *   channels   0, 1   0, 1   2, 3   2, 3   0, 1   0, 1   2, 3   2, 3
 *
 * For two channels with the sums S0 and S1, a kernel adds up two kinds of products. The products of
 * elements and int16 add up to S0 + 256 * S1. The products of elements and low bytes add up to S0.
 * So the difference, divided by 256, is S1. This order saves instructions on a processor that
 * multiplies the 16-bit halves of words: only the low bytes must be extended to 16 bits. */

/* The largest number n of elements x[0] ... x[n - 1]. With more elements, the sum of their products
 * with the int16 weights can exceed an int32. */
#define DOT_S8_ELEMENTS 508

/* Adds the results of two channels to sum[0] and sum[1]. `first`: sum of the products of elements
 * and low bytes of the weights; `both`: sum of the products of elements and int16 weights. */
static inline void
dot_s8_end (uint32_t *sum, int32_t first, int32_t both)
{
  sum[0] += (uint32_t) first;
  sum[1] += (uint32_t) ((both - first) >> 8);
}

#ifdef CLEAVE_MVE
/* Adds n products to each of two sums, one for each channel. A vector has eight elements of x as
 * int16, or the weights of eight elements. If n is no multiple of eight, the last step computes
 * half of a vector. `second`: the instructions for a second pixel; empty if there is none. */
#define DOT_S8_LOOP(second)                                                                        \
  __asm__ volatile("vldrh.u16 q3, [%8]\n\tdlstp.16 lr, %7\n1:\n\t"                                 \
                   "vldrh.u16 q1, [%6, q3]\n\tvldrb.s16 q0, [%4], #8\n\tvmovlb.s8 q2, q1\n\t"      \
                   "vmladava.s16 %1, q0, q1\n\tvmladava.s16 %0, q0, q2\n\t" second                 \
                   "add %6, %6, #32\n\tletp lr, 1b"                                                \
                   : "+Te"(s0), "+Te"(s1), "+Te"(s2), "+Te"(s3), "+l"(x), "+l"(next), "+r"(from)   \
                   : "r"(n), "r"(offsets)                                                          \
                   : "q0", "q1", "q2", "q3", "lr", "memory");

/* Adds n products to each of four sums: the sums of four channels for one pixel. If has_second is
 * not 0, does the same for a second pixel, whose elements are `other` bytes after `first`. */
static inline void
dot_s8_add (
    uint32_t *sum, const int8_t *first, int32_t other, const int8_t *w, int32_t n, int has_second)
{
  /* offsets in bytes of the weights of elements 0 to 7 */
  static const uint16_t offsets[8] = { 0, 8, 2, 10, 16, 24, 18, 26 };

  for (int32_t c = 0; c < 4; c += 2)
    {
      const int8_t *x = first, *next = first + other, *from = w + 2 * c;
      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

      if (has_second)
        {
          DOT_S8_LOOP ("vldrb.s16 q0, [%5], #8\n\t"
                       "vmladava.s16 %3, q0, q1\n\tvmladava.s16 %2, q0, q2\n\t")
          dot_s8_end (sum + c + 4, s2, s3);
        }
      else
        DOT_S8_LOOP ("")
      dot_s8_end (sum + c, s0, s1);
    }
}

/* Adds n products to each of eight sums: the sums of four channels for two pixels. The elements of
 * the second pixel are `other` bytes after x. */
static inline void
dot_s8_2x4 (uint32_t *sum, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  dot_s8_add (sum, x, other, w, n, 1);
}

/* Adds n products to each of four sums: the sums of four channels for one pixel. */
static inline void
dot_s8_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  dot_s8_add (sum, x, 0, w, n, 0);
}
#else
#ifdef CLEAVE_DSP
/* Adds products for two elements and two channels. The halves of the word `a` are the elements. The
 * word at address w + `at` has an int16 for each element, which combines the weights for the two
 * channels. Adds the products with these int16 to s1, and the products with their low bytes, the
 * weights for the first channel, to s0. */
#define DOT_S8_PAIR(at, a, s0, s1)                                                                 \
  memcpy (&v, w + (at), sizeof v);                                                                 \
  s1 = __smlad (a, v, s1);                                                                         \
  v = __sxtb16 (v);                                                                                \
  s0 = __smlad (a, v, s0);

/* Reads elements 0 and 2 of four bytes, or elements 1 and 3, as the halves of a word. */
#define DOT_S8_EVEN(a, from)                                                                       \
  memcpy (&a, from, sizeof a);                                                                     \
  a = __sxtb16 (a);

#define DOT_S8_ODD(a, from)                                                                        \
  memcpy (&a, from, sizeof a);                                                                     \
  __asm__("sxtb16 %0, %0, ror #8" : "+r"(a));

#define DOT_S8_1X4                                                                                 \
  {                                                                                                \
    int32_t a, v;                                                                                  \
                                                                                                   \
    DOT_S8_EVEN (a, x)                                                                             \
    DOT_S8_PAIR (0, a, s0, s1)                                                                     \
    DOT_S8_PAIR (4, a, s2, s3)                                                                     \
    DOT_S8_ODD (a, x)                                                                              \
    DOT_S8_PAIR (8, a, s0, s1)                                                                     \
    DOT_S8_PAIR (12, a, s2, s3)                                                                    \
    x += 4;                                                                                        \
    w += 16;                                                                                       \
  }

#if defined __OPTIMIZE__ && !defined __clang__
/* The loop for two pixels uses all registers. It is assembler code, since compilers load the
 * operands of C code too early, and registers spill. To save registers, this code reads `other` and
 * `end` from memory, and reads the bytes of x twice. */
#define DOT_S8_HALF                                                                                \
  "ldr %10, [%11], #4\n\tsmlad %1, %8, %10, %1\n\tsmlad %5, %9, %10, %5\n\t"                       \
  "sxtb16 %10, %10\n\tsmlad %0, %8, %10, %0\n\tsmlad %4, %9, %10, %4\n\t"                          \
  "ldr %10, [%11], #4\n\tsmlad %3, %8, %10, %3\n\tsmlad %7, %9, %10, %7\n\t"                       \
  "sxtb16 %10, %10\n\tsmlad %2, %8, %10, %2\n\tsmlad %6, %9, %10, %6\n\t"

#define DOT_S8_2X4_LOOP                                                                            \
  {                                                                                                \
    int32_t a, b, v;                                                                               \
                                                                                                   \
    __asm__ volatile("1:\n\tldr %9, %13\n\tldr %8, [%12]\n\tldr %9, [%12, %9]\n\t"                 \
                     "sxtb16 %8, %8\n\tsxtb16 %9, %9\n\t" DOT_S8_HALF                              \
                     "ldr %9, %13\n\tldr %9, [%12, %9]\n\tldr %8, [%12], #4\n\t"                   \
                     "sxtb16 %8, %8, ror #8\n\tsxtb16 %9, %9, ror #8\n\t" DOT_S8_HALF              \
                     "ldr %10, %14\n\tcmp %11, %10\n\tbne 1b"                                      \
                     : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3), "+r"(s4), "+r"(s5), "+r"(s6),       \
                       "+r"(s7), "=&r"(a), "=&r"(b), "=&r"(v), "+r"(w), "+r"(x)                    \
                     : "m"(other), "m"(end)                                                        \
                     : "memory", "cc");                                                            \
  }
#else
#define DOT_S8_2X4                                                                                 \
  {                                                                                                \
    int32_t a, v;                                                                                  \
                                                                                                   \
    DOT_S8_EVEN (a, x + other)                                                                     \
    DOT_S8_PAIR (0, a, s4, s5)                                                                     \
    DOT_S8_PAIR (4, a, s6, s7)                                                                     \
    DOT_S8_ODD (a, x + other)                                                                      \
    DOT_S8_PAIR (8, a, s4, s5)                                                                     \
    DOT_S8_PAIR (12, a, s6, s7)                                                                    \
    DOT_S8_1X4                                                                                     \
  }
#endif
#else
/* Returns the combined weights of an element for two channels. */
static inline int32_t
dot_s8_both (const int8_t *w)
{
  int16_t both;

#ifdef __GNUC__
  w = (const int8_t *) __builtin_assume_aligned (w, 2);
#endif
  memcpy (&both, w, sizeof both);
  return both;
}

/* Adds the products of element i of x to the sums. The weights of this element begin at w[at]. */
#define DOT_S8_STEP_1(i, at)                                                                       \
  {                                                                                                \
    const int32_t a = x[i];                                                                        \
                                                                                                   \
    s0 += a * w[at];                                                                               \
    s1 += a * dot_s8_both (w + (at));                                                              \
    s2 += a * w[(at) + 4];                                                                         \
    s3 += a * dot_s8_both (w + (at) + 4);                                                          \
  }

#define DOT_S8_STEP_2(i, at)                                                                       \
  {                                                                                                \
    const int32_t a = x[i], b = x[other + (i)];                                                    \
    int32_t v = w[at];                                                                             \
                                                                                                   \
    s0 += a * v;                                                                                   \
    s4 += b * v;                                                                                   \
    v = dot_s8_both (w + (at));                                                                    \
    s1 += a * v;                                                                                   \
    s5 += b * v;                                                                                   \
    v = w[(at) + 4];                                                                               \
    s2 += a * v;                                                                                   \
    s6 += b * v;                                                                                   \
    v = dot_s8_both (w + (at) + 4);                                                                \
    s3 += a * v;                                                                                   \
    s7 += b * v;                                                                                   \
  }

#if CLEAVE_IS_SMALL || defined __riscv
/* The loops have code for two elements, to save code: on RISC-V, code for four elements takes 250
 * bytes more, and runs 3 to 7 % fewer instructions. The weights of elements 2 and 3 begin two bytes
 * after the weights of elements 0 and 1. */
#define DOT_S8_LOOP(body)                                                                          \
  {                                                                                                \
    int32_t step = 2;                                                                              \
                                                                                                   \
    do                                                                                             \
      {                                                                                            \
        body x += 2;                                                                               \
        w += step;                                                                                 \
        step = 16 - step;                                                                          \
      }                                                                                            \
    while (w != end);                                                                              \
  }
#define DOT_S8_1X4_LOOP DOT_S8_LOOP (DOT_S8_STEP_1 (0, 0) DOT_S8_STEP_1 (1, 8))
#define DOT_S8_2X4_LOOP DOT_S8_LOOP (DOT_S8_STEP_2 (0, 0) CLEAVE_FENCE DOT_S8_STEP_2 (1, 8))
#else
#define DOT_S8_1X4                                                                                 \
  DOT_S8_STEP_1 (0, 0)                                                                             \
  DOT_S8_STEP_1 (1, 8)                                                                             \
  DOT_S8_STEP_1 (2, 2)                                                                             \
  DOT_S8_STEP_1 (3, 10)                                                                            \
  x += 4;                                                                                          \
  w += 16;

#define DOT_S8_2X4                                                                                 \
  DOT_S8_STEP_2 (0, 0)                                                                             \
  CLEAVE_FENCE                                                                                     \
  DOT_S8_STEP_2 (1, 8)                                                                             \
  CLEAVE_FENCE                                                                                     \
  DOT_S8_STEP_2 (2, 2)                                                                             \
  CLEAVE_FENCE                                                                                     \
  DOT_S8_STEP_2 (3, 10)                                                                            \
  x += 4;                                                                                          \
  w += 16;
#endif
#endif

#ifndef DOT_S8_2X4_LOOP
#define DOT_S8_2X4_LOOP                                                                            \
  do                                                                                               \
    {                                                                                              \
      DOT_S8_2X4                                                                                   \
    }                                                                                              \
  while (w != end);
#endif

#ifndef DOT_S8_1X4_LOOP
#define DOT_S8_1X4_LOOP                                                                            \
  do                                                                                               \
    {                                                                                              \
      DOT_S8_1X4                                                                                   \
    }                                                                                              \
  while (w != end);
#endif

/* Adds n products to each of eight sums: the sums of four channels for two pixels. The elements of
 * the second pixel are `other` bytes after x. */
static inline void
dot_s8_2x4 (uint32_t *sum, const int8_t *x, int32_t other, const int8_t *w, int32_t n)
{
  const int8_t *const end = w + 4 * n;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

  DOT_S8_2X4_LOOP
  dot_s8_end (sum, s0, s1);
  dot_s8_end (sum + 2, s2, s3);
  dot_s8_end (sum + 4, s4, s5);
  dot_s8_end (sum + 6, s6, s7);
}

/* Adds n products to each of four sums: the sums of four channels for one pixel. */
static inline void
dot_s8_1x4 (uint32_t *sum, const int8_t *x, const int8_t *w, int32_t n)
{
  const int8_t *const end = w + 4 * n;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

  DOT_S8_1X4_LOOP
  dot_s8_end (sum, s0, s1);
  dot_s8_end (sum + 2, s2, s3);
}
#endif
