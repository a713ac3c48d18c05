#!/bin/sh
# console.sh PAGE…: opens each page in a headless Chromium, and fails if the console has a message. Without Chromium, SKIP.
set -eu
command -v chromium >/dev/null || { echo 'SKIP console: no chromium'; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for page; do
  timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" --enable-logging=stderr \
    --virtual-time-budget=3000 --dump-dom "file://$page" >"$scratch/page" 2>"$scratch/log"
  if grep CONSOLE "$scratch/log"; then
    echo "$page: a message in the console"
    exit 1
  fi
  # If a page does not open, Chromium prints no content.
  grep -q '<body' "$scratch/page" || { echo "$page: does not open"; exit 1; }
done
echo 'console: good'
