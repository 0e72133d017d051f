#!/usr/bin/env bash
# Checks what installers read, without installing anything: see check.py, and script/package-pecl.
# Prints one closing line. script/test-packages and script/package-deb install the packages.
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

out=$PWD/build/packages
passed=0
failed=0
export COMPOSER_ALLOW_SUPERUSER=1

# check NAME COMMAND...: one check, by its exit code.
check() {
	local name=$1
	shift
	if "$@" >"$out/check.log" 2>&1; then
		printf 'ok - %s\n' "$name" && passed=$((passed + 1))
	else
		printf 'not ok - %s\n' "$name" && tail -n 40 "$out/check.log" && failed=$((failed + 1))
	fi
}

# refuses TEXT COMMAND...: the command fails, and says why.
refuses() {
	local text=$1
	shift
	! "$@" >"$out/refused" 2>&1 && grep -F "$text" "$out/refused"
}

versions() {
	/usr/bin/python3 tests/packages/check.py versions \
		"$(php -n -d "extension=$BLOOMSHM_SO" --ri bloomshm | grep '^Version')" \
		"$("$BLOOMSHM_COMMAND" --version)"
}

# Composer's package has the schema; what it requires is not needed for that.
fetch_schema() {
	[[ -f $out/composer/res/composer-schema.json ]] && return
	rm -rf "$out/composer"
	composer create-project --no-install --no-scripts --no-interaction --quiet \
		'composer/composer:^2.10' "$out/composer"
}

fetch_validator() {
	[[ -x $out/node/node_modules/.bin/action-validator ]] && return
	npm install --prefix "$out/node" --no-audit --no-fund --no-save \
		@action-validator/core@0.6.0 @action-validator/cli@0.6.0
}

# composer.json with two faults is refused: the check does look.
refuses_misspelt() (
	check=$PWD/tests/packages/check.py
	rm -rf "$out/misspelt" && mkdir -p "$out/misspelt/php" &&
		cp --parents config.* composer.json php/composer.json "$out/misspelt/" &&
		sed -i 's/"linux"/"linx"/; s/"support-nts"/"suport-nts"/' "$out/misspelt/composer.json" &&
		cd "$out/misspelt" &&
		refuses "'linx' is not one of" /usr/bin/python3 "$check" composer "$schema" &&
		refuses 'PIE knows no php-ext.suport-nts' /usr/bin/python3 "$check" composer "$schema"
)

command -v npm >/dev/null || need_packages npm
need_packages composer php-pear php-xml python3 python3-jsonschema python3-yaml
need_folder "$out"
build_extension
build_command
fetch_schema >"$out/log" 2>&1 || die "no schema of composer.json; see build/packages/log"
fetch_validator >"$out/log" 2>&1 || die "no validator of workflows; see build/packages/log"
schema=$out/composer/res/composer-schema.json
validator=$out/node/node_modules/.bin/action-validator
check 'all places have one version' versions
check 'composer.json is valid by the schema of Composer and PIE' \
	/usr/bin/python3 tests/packages/check.py composer "$schema"
check 'a misspelt composer.json is not' refuses_misspelt
check 'pear accepts package.xml, which names each file' script/package-pecl
check 'the workflow is valid' "$validator" .github/workflows/test.yml
check 'the workflow pins its actions and runs the tests' \
	/usr/bin/python3 tests/packages/check.py workflow
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
