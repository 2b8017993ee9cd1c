#!/bin/sh
# Counts the words of the file that line INDEX + 1 of files.txt names, most frequent first.
# Runs as a task of an array job: files.txt and the files themselves are its inputs, counts.txt is its output.
set -eu
index="${ABACUS_TASK_INDEX:-${1:-0}}"
file="$(sed -n "$((index + 1))p" files.txt)"
tr -cs '[:alnum:]' '\n' <"$file" | LC_ALL=C sort | uniq -c | LC_ALL=C sort -k1,1nr -k2 >counts.txt
echo "$file: $(wc -l <counts.txt) different words"
