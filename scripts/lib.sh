# Functions shared by the scripts in this folder: messages, packages, building. Source it from a bash script.
# shellcheck shell=bash

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# Clones share what the compiler cache holds, wherever they lie.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

# Prints the comment at the head of the calling script, which is its manual.
usage() { sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$0"; }

# Compilers that may run at once: one a core, and no more than memory holds at 1 GiB each.
jobs_at_once() {
  local cores memory_gib
  cores="$(nproc)"
  memory_gib="$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)"
  if ((memory_gib < 1)); then memory_gib=1; fi
  echo $((cores < memory_gib ? cores : memory_gib))
}

# quietly LOG COMMAND...: keeps the output in LOG and shows it only when the command fails.
quietly() {
  local log="$1"
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "failed: $*"
  }
}

# missing_packages NAME...: those Debian packages that are not installed.
missing_packages() {
  comm -23 <(printf '%s\n' "$@" | sort) \
    <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null | awk '$1 == "ii" {print $2}' | sort)
}

# as_root COMMAND...: directly, or through sudo, which asks for a password only where somebody can type it.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# install_packages NAME...: installs what is missing, and does not touch apt when nothing is.
install_packages() {
  command -v dpkg-query >/dev/null || die "not a Debian system; install by hand what Debian calls: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  local by_hand="as root, run: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then die "packages are missing, and no root or sudo here; $by_hand"; fi
  say "installing: ${missing[*]}"
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  "${apt[@]}" update || die "apt-get update failed; $by_hand"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" || die "apt-get install failed; $by_hand"
}

# build_preset PRESET: configures and builds it under build/PRESET.
build_preset() {
  quietly "$root/build/$1/configure.log" cmake -S "$root" --preset "$1"
  nice cmake --build "$root/build/$1" --parallel "$(jobs_at_once)" >&2
}
