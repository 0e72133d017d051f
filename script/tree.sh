# tree.sh - a Debian tree in a folder, and commands in it. Source it after lib.sh.
#
# $tree is the folder, to be exported. Commands in the tree run in namespaces of their own, if the
# machine permits that: no mount and no process outlives the script, however it ends.

namespaces=(setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --propagation
	private)

# Ends the script, or leaves a note, where the machine permits too little.
need_namespaces() {
	((EUID == 0)) || die "must run as root, to make a Debian tree and to enter it"
	export PATH="$PATH:/usr/sbin:/sbin"
	"${namespaces[@]}" true 2>/dev/null && return
	echo "# no namespaces permitted here: no /proc in the tree, and a plain folder as /dev/shm"
	namespaces=()
}

in_tree() { # COMMAND...
	# shellcheck disable=SC2016 # expanded in the namespaces
	"${namespaces[@]}" bash -euc '
		if [[ $0 != none ]]; then
			mount --bind "$tree" "$tree" # tests that mount need a root that is a mount
			mount -t proc proc "$tree/proc"
			mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm"
		fi
		exec chroot "$tree" env HOME=/root PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"
	' "${namespaces[0]:-none}" "$@"
}

# Where this machine's own Debian comes from.
mirror() {
	# shellcheck disable=SC2016 # apt's own variable
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' | sed -n 1p
}

# What this machine's apt needs to reach the mirror, the tree's apt needs too.
apt_settings() {
	apt-config dump | grep -E '^Acquire::(http|https|Retries|ForceIPv[46]|Check-)' || true
}

# new_tree SUITE: makes $tree anew; `experimental` has some packages only, for sid.
new_tree() {
	local site proxy=
	need_packages debootstrap
	[[ $(mirror) ]] || apt-get update
	site=$(mirror)
	[[ $site ]] || die "apt knows no Debian mirror; does 'apt-get update' work here?"
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	rm -rf "$tree"
	mkdir -p "$tree"
	http_proxy=${http_proxy:-$proxy} "${namespaces[@]}" debootstrap \
		--variant=minbase --include=ca-certificates "${1/experimental/sid}" "$tree" "$site"
	apt_settings >"$tree/etc/apt/apt.conf.d/99host"
	[[ $1 != experimental ]] ||
		echo "deb $site experimental main" >"$tree/etc/apt/sources.list.d/experimental.list"
	echo "deb-src $site $1 main" >"$tree/etc/apt/sources.list.d/source.list"
	in_tree apt-get update
}

tree_packages() { # PACKAGE...
	in_tree apt-get install --yes --no-install-recommends "$@"
	in_tree apt-get clean
}

# The files that git knows or would know, as they are now: names that end in NUL.
project_files() { # [PATHSPEC...]
	git -c safe.directory="$PWD" ls-files -coz --exclude-standard -- "$@"
}

# The same without those that `git archive` leaves out.
release_files() {
	local ignored
	mapfile -t ignored < <(sed -n 's|^/\(.*\) export-ignore$|:(exclude)\1|p' .gitattributes)
	project_files . "${ignored[@]}"
}
