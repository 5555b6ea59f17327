#!/usr/bin/env bash
# The reader of perf.data, the decoder of Arm SPE and the analyses of memory samples, built for arm64
# and run under qemu-user: the same unit tests as here, by a stand-in for cmocka (tests/arm64).
# Lane: beside
set -u
n=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=${CROSS:-aarch64-linux-gnu-}gcc

one() { # TEST SOURCES...
	local t=$1
	$cc -std=gnu17 -O2 -Wall -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -static -pthread -Itests/arm64 \
		-DTY_VERSION='"arm64"' -DRESERVED='(UINT64_C(1) << 30)' -ffunction-sections -Wl,--gc-sections \
		-iquote base -iquote format -iquote decoder -iquote model -iquote analysis -iquote tests/unit \
		-o "$dir/$t" "tests/unit/$t.c" "${@:2}" -lm 2>"$dir/log" &&
		TESTS_SKIP=test_compressed qemu-aarch64 "$dir/$t" >"$dir/log" 2>&1
}
for t in test_spe test_perf_data test_sharing; do
	n=$((n + 1))
	if ! command -v "$cc" >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
		echo "ok $n - $t on arm64 # SKIP $cc or qemu-aarch64 is not installed"
		continue
	fi
	set -- base/*.c decoder/spe_packet.c decoder/spe_record.c \
		decoder/mem_source.c
	[ $t = test_spe ] ||
		set -- "$@" format/perf_data.c format/perf_event_name.c format/perf_meta.c format/perf_queue.c format/perf_record.c \
			format/perf_data_records.c tests/unit/perf_write.c format/pread.c
	[ $t != test_sharing ] ||
		set -- "$@" decoder/mem_[ampq]*.c decoder/mem_sideband.c decoder/mem_stream.c model/mem_*.c \
			model/index_file.c model/model_index.c model/store.c model/table*.c model/block_coder.c \
			decoder/interval_tree.c analysis/sharing*.c analysis/memory*.c
	if one $t "$@"; then
		echo "ok $n - $t on arm64"
	else
		head -n 5 "$dir/log" | sed 's/^/# /'
		echo "not ok $n - $t on arm64"
	fi
done
echo "1..$n"
