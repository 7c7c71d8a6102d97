#!/bin/sh
# Builds the keeper and the forker for each architecture into the folder given, or into this
# one. Debian 12's gcc and gcc-aarch64-linux-gnu give the committed bytes.
set -eu
here=$(dirname "$0")
out=${1:-$here}
build() {
	compiler=$1 architecture=$2
	shift 2
	set -- "$@" -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector \
		-fno-asynchronous-unwind-tables -Wall -Wextra -Werror -Wl,--build-id=none
	"$compiler" "$@" -Os -fno-pie -no-pie -Wl,-z,noseparate-code,-n,-s \
		-o "$out/keeper_$architecture" "$here/keeper.c"
	"$compiler" "$@" -O2 -fno-tree-loop-distribute-patterns -fno-jump-tables -fpie -no-pie \
		-Wl,-T,"$here/forker.ld",--fatal-warnings -o "$out/forker.elf" "$here/forker.c"
	"${compiler%gcc}objcopy" -O binary -j .text "$out/forker.elf" "$out/forker_$architecture"
	rm "$out/forker.elf"
}
for architecture in ${ARCHITECTURES:-amd64 arm64}; do
	case $architecture in
	amd64) build x86_64-linux-gnu-gcc amd64 -fcf-protection=none ;;
	arm64) build aarch64-linux-gnu-gcc arm64 ;;
	esac
done
