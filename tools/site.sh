#!/bin/sh
# site.sh [FOLDER]: builds the command and writes all pages to FOLDER (default: build/site): the guide, the references, a
# search, and samples of reports. Open FOLDER/guide.html; the pages need no server.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh build -Dtests=disabled
root=$PWD
mkdir -p "${1:-build/site}"
folder=$(cd "${1:-build/site}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/samples"
cd "$scratch"
PYTHONPATH="$root/tests/help" python3 "$root/tests/help/page_models.py" .
cleave() {
  "$root/build/tools/cleave" "$@" >/dev/null
}
cleave demo --repeat 1 --model model.onnx
cleave report model.onnx --max-memory 2MiB -o samples/MobileNetV2-in-2-MiB.html
cleave report net.onnx --max-added-macs 10 -o samples/A-quantized-network-in-the-least-memory.html
cleave report sequence.onnx --shape tokens=1,128,64 --all --dims 1 --num-chunks 4 -o samples/A-sequence-in-four-parts.html
cd "$root"
docs/reference.py gi-docgen docs/cleave.toml docs build/Cleave-0.1.gir "$folder" "$scratch/samples"
echo "$folder/guide.html"
