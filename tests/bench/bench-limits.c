/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What one core can do, as JSON: GFLOP/s of fused multiply-adds of float32, how many times as many
 * products of bytes there are, and GB/s that memcpy reads and writes together, by the bytes of both
 * sides. The best of many runs; tests/bench/census.py holds kernels to it. */

#include <glib.h>

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

/* Enough chains to hide the latency of an addition on every core that there is. */
#define N_CHAINS 12

__attribute__ ((target ("avx512f"))) static void
chain_v4 (guint n, float *out)
{
  __m512 sum[N_CHAINS], x = _mm512_set1_ps (0.999f), y = _mm512_set1_ps (0.001f);

  for (guint c = 0; c < N_CHAINS; c++)
    sum[c] = _mm512_set1_ps ((float) c);
  for (guint i = 0; i < n; i++)
#pragma GCC unroll 12
    for (guint c = 0; c < N_CHAINS; c++)
      sum[c] = _mm512_fmadd_ps (sum[c], x, y);
  for (guint c = 0; c < N_CHAINS; c++)
    *out += _mm512_cvtss_f32 (sum[c]);
}

__attribute__ ((target ("avx2,fma"))) static void
chain_v3 (guint n, float *out)
{
  __m256 sum[N_CHAINS], x = _mm256_set1_ps (0.999f), y = _mm256_set1_ps (0.001f);

  for (guint c = 0; c < N_CHAINS; c++)
    sum[c] = _mm256_set1_ps ((float) c);
  for (guint i = 0; i < n; i++)
#pragma GCC unroll 12
    for (guint c = 0; c < N_CHAINS; c++)
      sum[c] = _mm256_fmadd_ps (sum[c], x, y);
  for (guint c = 0; c < N_CHAINS; c++)
    *out += _mm256_cvtss_f32 (sum[c]);
}

static void
chain_v1 (guint n, float *out)
{
  __m128 sum[N_CHAINS], x = _mm_set1_ps (0.999f), y = _mm_set1_ps (0.001f);

  for (guint c = 0; c < N_CHAINS; c++)
    sum[c] = _mm_set1_ps ((float) c);
  for (guint i = 0; i < n; i++)
#pragma GCC unroll 12
    for (guint c = 0; c < N_CHAINS; c++)
      sum[c] = _mm_add_ps (_mm_mul_ps (sum[c], x), y);
  for (guint c = 0; c < N_CHAINS; c++)
    *out += _mm_cvtss_f32 (sum[c]);
}

static double
best_gflops (void)
{
  gboolean v4 = __builtin_cpu_supports ("avx512f");
  gboolean v3 = __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
  void (*chain) (guint n, float *out) = v4 ? chain_v4 : v3 ? chain_v3 : chain_v1;
  guint lanes = v4 ? 16 : v3 ? 8 : 4, n = 20000;
  gint64 least = G_MAXINT64;
  volatile float kept = 0;

  for (guint run = 0; run < 200; run++)
    {
      gint64 begin = g_get_monotonic_time ();
      float out = 0;

      chain (n, &out);
      kept += out;
      least = MIN (least, MAX (g_get_monotonic_time () - begin, 1));
    }
  (void) kept;
  return 2.0 * n * N_CHAINS * lanes / (double) least * 1e-3;
}

/* Four bytes to a lane where there is VNNI; where there is not, two, as numbers of 16 bits. */
static guint
bytes_factor (void)
{
  return __builtin_cpu_supports ("avx512vnni") ? 4 : 2;
}
#else
static double
best_gflops (void)
{
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

int
main (void)
{
  printf ("{ \"float32_gflops\": %.1f, \"bytes_factor\": %u, \"copy_gbps\": [", best_gflops (),
          bytes_factor ());
  for (gsize n = 1 << 14; n <= 1 << 26; n *= 4)
    printf ("%s[%" G_GSIZE_FORMAT ", %.2f]", n == 1 << 14 ? "" : ", ", 2 * n, best_copy (n));
  printf ("] }\n");
  return 0;
}
