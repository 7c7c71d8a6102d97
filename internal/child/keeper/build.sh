#!/bin/sh
# Builds the keeper for each architecture into the folder given, or into this one.
# Debian 12's gcc and gcc-aarch64-linux-gnu give the committed bytes.
set -eu
here=$(dirname "$0")
out=${1:-$here}
build() {
	"$1" -Os -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector \
		-fno-asynchronous-unwind-tables -fno-pie -no-pie -Wall -Wextra -Werror \
		-Wl,--build-id=none,-z,noseparate-code,-n,-s $3 -o "$out/keeper_$2" "$here/keeper.c"
}
for architecture in ${ARCHITECTURES:-amd64 arm64}; do
	case $architecture in
	amd64) build x86_64-linux-gnu-gcc amd64 -fcf-protection=none ;;
	arm64) build aarch64-linux-gnu-gcc arm64 "" ;;
	esac
done
