/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recognizes files that users pass by mistake in place of a model, such as a zip archive, by their
 * first bytes. */

#include "foreign.h"

#include <string.h>

static const struct
{
  const char *bytes;
  gsize n_bytes, offset;
  const char *what;
} formats[] = {
#define FORMAT(text, offset, what)                                                                 \
  {                                                                                                \
    text, sizeof (text) - 1, offset, what                                                          \
  }
  FORMAT ("version https://git-lfs",
          0,
          "a pointer of Git LFS: get the model itself with: git lfs pull"),
  FORMAT ("CLEAVEPL",
          0,
          "a program that cleave compile saved: cleave run and load_program() run it; other "
          "commands need the model of which it was made"),
  FORMAT ("<!DOCTYPE", 0, "a page of HTML: download the file itself, not the page about it"),
  FORMAT ("<!doctype", 0, "a page of HTML: download the file itself, not the page about it"),
  FORMAT ("<html", 0, "a page of HTML: download the file itself, not the page about it"),
  FORMAT ("<?xml", 0, "XML, such as a model of OpenVINO: export the original model to ONNX"),
  FORMAT ("PK\3\4",
          0,
          "a zip archive, as PyTorch and Keras write: unpack it, or export the model to ONNX"),
  FORMAT ("\x1f\x8b", 0, "compressed by gzip: unpack it with: gunzip"),
  FORMAT ("\x89HDF", 0, "HDF5, as Keras writes: export the model to ONNX"),
  FORMAT ("\x80\2", 0, "a pickle of Python, as PyTorch writes: export the model to ONNX"),
  FORMAT ("\x80\3", 0, "a pickle of Python, as PyTorch writes: export the model to ONNX"),
  FORMAT ("\x80\4", 0, "a pickle of Python, as PyTorch writes: export the model to ONNX"),
  FORMAT ("\x80\5", 0, "a pickle of Python, as PyTorch writes: export the model to ONNX"),
  FORMAT ("{\"", 8, "weights without a graph (safetensors): export the model to ONNX"),
  FORMAT ("GGUF", 0, "weights without a graph (GGUF): export the model to ONNX"),
  FORMAT ("ORTM", 4, "in ONNX Runtime's own format: use the .onnx file of which it was made"),
  FORMAT ("\x93NUMPY", 0, "an array of numpy: give it with --input"),
  FORMAT ("\x89PNG", 0, "a picture: give it with --input"),
  FORMAT ("\xff\xd8\xff", 0, "a picture: give it with --input"),
  FORMAT ("{", 0, "JSON: Cleave reads .onnx, .tflite and .cleave files"),
#undef FORMAT
};

const char *
cleave_foreign_name (const char *head, gsize n_bytes)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (n_bytes >= formats[i].offset + formats[i].n_bytes &&
        memcmp (head + formats[i].offset, formats[i].bytes, formats[i].n_bytes) == 0)
      return formats[i].what;
  return NULL;
}
