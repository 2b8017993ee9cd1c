#!/bin/sh
# Decodes clip.mkv, writes the digest of each frame (frames.md5) and the brightness of each (brightness.txt).
set -eu
ffmpeg -nostdin -v error -i clip.mkv -map 0:v -f framemd5 -y frames.md5
ffprobe -v error -f lavfi -i "movie=clip.mkv,signalstats" -show_entries frame_tags=lavfi.signalstats.YAVG -of csv=p=0 \
  >brightness.txt
echo "$(grep -vc '^#' frames.md5) frames"
