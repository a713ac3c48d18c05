/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints peak rates of one core as JSON. Each measured rate is the best of many runs:
 *
 *   - float32 fused multiply-adds, in GFLOP/s
 *   - a division, a square root and a float16 conversion, in durations of a multiply-add
 *   - memcpy of several sizes, in GB/s, read plus written
 *
 * One number depends only on the instructions of the processor: how many products of bytes an
 * instruction adds up in a lane of 32 bits (1, 2 or 4).
 *
 * tests/bench/census.py compares kernels with these rates. */

#include <glib.h>

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

/* Number of independent chains of instructions: enough to hide the latency of an instruction on any
 * core. */
#define N_CHAINS 12

/* Defines a function that runs N_CHAINS chains of one instruction, n times. `type` is the type of a
 * register. The empty asm keeps the compiler from removing the chains. */
#define DEFINE_CHAIN(name, isa, type, start, next)                                                 \
  __attribute__ ((target (isa))) static void name (guint n)                                        \
  {                                                                                                \
    type chain[N_CHAINS];                                                                          \
                                                                                                   \
    for (guint c = 0; c < N_CHAINS; c++)                                                           \
      chain[c] = (start);                                                                          \
    for (guint i = 0; i < n; i++)                                                                  \
      _Pragma ("GCC unroll 12") for (guint c = 0; c < N_CHAINS; c++)                               \
      {                                                                                            \
        type x = chain[c];                                                                         \
                                                                                                   \
        __asm__ volatile("" : "+v"(x));                                                            \
        chain[c] = (next);                                                                         \
      }                                                                                            \
    for (guint c = 0; c < N_CHAINS; c++)                                                           \
      __asm__ volatile("" : "+v"(chain[c]));                                                       \
  }

#define V4 "avx512f"
#define V3 "avx2,fma,f16c"
#define SET_V4(x) _mm512_set1_ps (x)
#define SET_V3(x) _mm256_set1_ps (x)
#define SET_V1(x) _mm_set1_ps (x)

DEFINE_CHAIN (fma_v4, V4, __m512, SET_V4 (1), _mm512_fmadd_ps (x, SET_V4 (0.99f), SET_V4 (0.01f)))
DEFINE_CHAIN (fma_v3, V3, __m256, SET_V3 (1), _mm256_fmadd_ps (x, SET_V3 (0.99f), SET_V3 (0.01f)))
DEFINE_CHAIN (div_v4, V4, __m512, SET_V4 (3), _mm512_div_ps (SET_V4 (2), x))
DEFINE_CHAIN (div_v3, V3, __m256, SET_V3 (3), _mm256_div_ps (SET_V3 (2), x))
DEFINE_CHAIN (sqrt_v4, V4, __m512, SET_V4 (3), _mm512_sqrt_ps (x))
DEFINE_CHAIN (sqrt_v3, V3, __m256, SET_V3 (3), _mm256_sqrt_ps (x))
DEFINE_CHAIN (
    half_v4, V4, __m256i, _mm256_setzero_si256 (), _mm512_cvtps_ph (_mm512_cvtph_ps (x), 0))
DEFINE_CHAIN (half_v3, V3, __m128i, _mm_setzero_si128 (), _mm256_cvtps_ph (_mm256_cvtph_ps (x), 0))
DEFINE_CHAIN (
    fma_v1, "sse2", __m128, SET_V1 (1), _mm_add_ps (_mm_mul_ps (x, SET_V1 (0.99f)), SET_V1 (0.01f)))
DEFINE_CHAIN (div_v1, "sse2", __m128, SET_V1 (3), _mm_div_ps (SET_V1 (2), x))
DEFINE_CHAIN (sqrt_v1, "sse2", __m128, SET_V1 (3), _mm_sqrt_ps (x))

/* The measured operations on float32, each of one or two instructions, at the three levels v1, v3
 * and v4. */
typedef enum { FMA, DIV, SQRT, HALF, N_OPS } Op;

static void (*const chains[N_OPS][3]) (guint n) = {
  [FMA] = { fma_v1, fma_v3, fma_v4 },
  [DIV] = { div_v1, div_v3, div_v4 },
  [SQRT] = { sqrt_v1, sqrt_v3, sqrt_v4 },
  [HALF] = { NULL, half_v3, half_v4 },
};

/* Returns how many results of `op` the core computes, in billions of float32 elements per second.
 * Returns 0 if the level of the core has no such instruction. */
static double
best_rate (Op op)
{
  guint level = __builtin_cpu_supports ("avx512f")
                    ? 2
                    : __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
  guint n = 5000;
  gint64 least = G_MAXINT64;

  if (!chains[op][level])
    return 0;
  for (guint run = 0; run < 200; run++)
    {
      gint64 begin = g_get_monotonic_time ();

      chains[op][level](n);
      least = MIN (least, MAX (g_get_monotonic_time () - begin, 1));
    }
  return (double) n * N_CHAINS * (4 << level) / (double) least * 1e-3;
}

/* Returns how many products of bytes an instruction adds up in a lane of 32 bits. The number is 4
 * with VNNI. Without VNNI, the number is 2, since bytes are multiplied as 16-bit integers. */
static guint
bytes_factor (void)
{
  return __builtin_cpu_supports ("avx512vnni") ? 4 : 2;
}
#else
typedef enum { FMA, DIV, SQRT, HALF } Op;

static double
best_rate (Op op)
{
  (void) op;
  return 0;
}

static guint
bytes_factor (void)
{
  return 1;
}
#endif

static double
best_copy (gsize n_bytes)
{
  g_autofree char *from = g_malloc (n_bytes), *to = g_malloc (n_bytes);
  double least = G_MAXDOUBLE;
  gint64 end = g_get_monotonic_time () + 60000;

  memset (from, 1, n_bytes);
  memset (to, 2, n_bytes);
  for (guint run = 0; run < 8 || g_get_monotonic_time () < end; run++)
    {
      guint n = 0;
      gint64 begin = g_get_monotonic_time ();

      for (; n == 0 || g_get_monotonic_time () - begin < 200; n++)
        {
          from[n % n_bytes] ^= 1;
          memcpy (to, from, n_bytes);
          __asm__ volatile("" : : "r"(to) : "memory");
        }
      least = MIN (least, (double) (g_get_monotonic_time () - begin) / n);
    }
  return 2 * (double) n_bytes / least * 1e-3;
}

/* Returns the duration of `op` divided by the duration of a multiply-add. Returns 0 if `op` could
 * not be measured. */
static double
units (Op op)
{
  double rate = best_rate (op);

  return rate > 0 ? best_rate (FMA) / rate : 0;
}

int
main (void)
{
  printf ("{ \"float32_gflops\": %.1f, \"bytes_factor\": %u, ", 2 * best_rate (FMA),
          bytes_factor ());
  printf ("\"units\": { \"div\": %.2f, \"sqrt\": %.2f, \"half\": %.2f }, \"copy_gbps\": [",
          units (DIV), units (SQRT), units (HALF));
  for (gsize n = 1 << 14; n <= 1 << 26; n *= 4)
    printf ("%s[%" G_GSIZE_FORMAT ", %.2f]", n == 1 << 14 ? "" : ", ", 2 * n, best_copy (n));
  printf ("] }\n");
  return 0;
}
