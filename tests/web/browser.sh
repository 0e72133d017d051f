#!/usr/bin/env bash
# Looks at web/status.php with Chromium: clicks, typing, the keyboard, two widths, both colour
# schemes; axe-core looks for what keeps people from using it. Not part of script/test, because it
# fetches playwright-core and axe-core from npm and needs node.
#
#   tests/web/browser.sh   leaves screenshots in build/browser
#
# Last line: N passed, N failed.
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"
. tests/web/serve.sh

need_packages chromium php-cli
command -v npm >/dev/null || need_packages npm
build_extension
folder=$PWD/build/browser
need_folder "$folder"
[[ -d $folder/node_modules/axe-core && -d $folder/node_modules/playwright-core ]] ||
	npm install --prefix "$folder" --silent --no-audit --no-fund playwright-core@1 axe-core@4
cp tests/web/browser.mjs "$folder/" # its modules are found beside it

work=$(mktemp -d)
segment=$(mktemp -u /dev/shm/bloomshm-web.XXXXXX)
trap 'stop; rm -rf "$work" "$segment"' EXIT
extension=(-n -d "extension=$BLOOMSHM_SO" -d "bloomshm.path=$segment" -d bloomshm.filter_memory=4M)
head -c 4M /dev/urandom >"$work/damaged" && chmod 600 "$work/damaged"

look() { # NAME PHP-OPTION...: at one page
	local name=$1
	shift
	serve "$@"
	node "$folder/browser.mjs" "http://localhost:$port/" "$folder" "$name" | tee -a "$work/said" ||
		failed=1
}

failed=0
php "${extension[@]}" tests/web/fill.php 45
look full "${extension[@]}"
look damaged "${extension[@]}" -d "bloomshm.path=$work/damaged"
look missing "${extension[@]}" -d "bloomshm.path=$segment.none"
look readonly "${extension[@]}" -d bloomshm.readonly=1
look unloaded -n
printf '%d passed, %d failed\n' "$(grep -c '^ok' "$work/said")" \
	"$(grep -c '^not ok' "$work/said" || true)"
[[ $failed -eq 0 ]]
