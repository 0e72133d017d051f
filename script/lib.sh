# lib.sh - what the scripts share. Source it; it moves to the project's root.
#
# BLOOMSHM_SO holds the built extension after build_extension, BLOOMSHM_COMMAND the command after
# build_command.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# The sources of the core, for Linux.
core=(src/core/*.c src/core/*/*.c src/platform/posix/*.c)

# Debian's packages of the libraries that the command stands on.
command_libraries=(libxxhash-dev libjansson-dev zlib1g-dev libzstd-dev libsodium-dev
	libcurl4-openssl-dev libhiredis-dev libmicrohttpd-dev)

say() {
	printf '\n==> %s\n' "$*"
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# need_folder FOLDER: makes it, or ends with the reason why this user cannot write there.
need_folder() {
	mkdir -p "$1" 2>/dev/null && [[ -w $1 ]] && return
	local owned=$1
	while [[ ! -e $owned ]]; do
		owned=$(dirname "$owned")
	done
	die "$(id -un) cannot write to $1: $owned belongs to $(stat -c %U "$owned")"
}

# Prints the last line of a step's log once a minute, until it is killed: tell_waiting STEP LOG &
tell_waiting() {
	local minutes nap line
	trap 'kill "$nap"; exit' TERM
	for ((minutes = 1; ; minutes++)); do
		sleep 60 &
		nap=$!
		wait "$nap"
		line=$(tr '\r' '\n' <"$2" | grep -av '^[[:space:]]*$' | tail -n 1) || true
		printf '... still at %s, %d min: %.100s\n' "$1" "$minutes" "${line:-it builds}"
	done
}

# Installs the Debian packages that are not there yet.
need_packages() {
	local missing=() package
	for package in "$@"; do
		[[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] ||
			missing+=("$package")
	done
	[[ ${#missing[@]} -eq 0 ]] && return
	[[ $EUID -eq 0 ]] ||
		die "these packages are missing, and only root can install them: ${missing[*]}"
	local lock # another step, here or in another clone, may want packages too: apt lets one in
	exec {lock}>/run/lock/bloomshm-apt
	flock "$lock"
	say "installing ${missing[*]}"
	apt-get update -qq >build/apt.log 2>&1 || die "apt-get update failed; see build/apt.log"
	# Debian starts services when it installs them. The scripts start them on ports of their own.
	local policy=/usr/sbin/policy-rc.d made=''
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && made=1
	fi
	local status=0
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o DPkg::Lock::Timeout=900 "${missing[@]}" \
		>>build/apt.log 2>&1 || status=$?
	[[ -z $made ]] || rm -f "$policy"
	exec {lock}>&-
	[[ $status -eq 0 ]] || die "apt-get install failed; see build/apt.log"
}

# Lets a compiler's malloc take huge pages: where page faults are slow, that saves a seventh of its
# time.
huge_pages=GLIBC_TUNABLES=glibc.malloc.hugetlb=1

# locked NAME COMMAND...: no other step builds in build/NAME meanwhile; its output goes to a log.
locked() {
	local lock name=$1
	shift
	exec {lock}>"build/$name.lock"
	flock "$lock"
	env "$huge_pages" "$@" >"build/$name.log" 2>&1 ||
		die "make failed: $(grep -m 1 'error:' "build/$name.log"); see build/$name.log"
	exec {lock}>&-
}

# build_core NAME FLAG...: builds the core without PHP in build/NAME, by gcc, once for all steps;
# core_objects has it then.
build_core() {
	need_packages gcc make libc6-dev libxxhash-dev
	locked "$1" make -f tests/unit/Makefile -j2 engine OUT="$PWD/build/$1" CC=gcc \
		FLAGS="-std=c11 -D_GNU_SOURCE -g -Isrc -MMD -MP ${*:2}"
	core_objects=("${core[@]/#src/build\/$1\/core}")
	core_objects=("${core_objects[@]/%.c/.o}")
}

# Builds the extension in build/NAME, from a copy of the sources, with the given configure options.
build_into() {
	local dir=$PWD/build/$1
	shift
	need_folder "$dir"
	local wanted stamp=$dir/.configured lock # another step may build the same
	exec {lock}>"$dir.lock"
	flock "$lock"
	wanted="$(php-config --version) $* $(sha1sum <config.m4)"
	if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
		say "building the extension in ${dir#"$PWD/"}"
		rm -rf "$dir" && mkdir -p "$dir"
		cp -a config.m4 php_bloomshm.h src stubs "$dir/"
		(cd "$dir" && phpize) >"$dir/phpize.log" 2>&1 || die "phpize failed; see $dir/phpize.log"
		(cd "$dir" && ./configure --enable-bloomshm "$@") >"$dir/configure.log" 2>&1 ||
			die "configure failed: $(tail -n 1 "$dir/configure.log"); see $dir/configure.log"
		printf '%s' "$wanted" >"$stamp"
	fi
	cp -a --update php_bloomshm.h src stubs "$dir/"
	env "$huge_pages" make -C "$dir" -j2 >"$dir/make.log" 2>&1 ||
		die "make failed: $(grep -m 1 'error:' "$dir/make.log"); see $dir/make.log"
	exec {lock}>&-
}

build_extension() {
	need_packages gcc make php-cli php-dev libxxhash-dev zlib1g-dev
	build_into php
	BLOOMSHM_SO=$PWD/build/php/modules/bloomshm.so
}

# build_command_into NAME [VARIABLE=VALUE...]: builds the command in build/NAME.
build_command_into() {
	need_packages gcc make "${command_libraries[@]}"
	say "building the command in build/$1"
	locked "$1" make -C src/cli -j2 OUT="$PWD/build/$1" "${@:2}"
}

build_command() {
	build_command_into cli CFLAGS='-O2 -g -Werror'
	BLOOMSHM_COMMAND=$PWD/build/cli/bloomshm
}

# The command under AddressSanitizer and UndefinedBehaviorSanitizer, in build/cli-asan.
build_command_asan() {
	need_packages clang libclang-rt-14-dev
	build_command_into cli-asan CC=clang CFLAGS='-O1 -g -Werror -fno-omit-frame-pointer' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'
}

need_folder build
