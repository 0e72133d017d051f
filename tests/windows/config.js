#!/usr/bin/env node
/*
 * config.js - compares config.w32 with config.m4, and says what it does without a library.
 *
 * Both name the same sources, but each the files of its own system, src/platform/posix or
 * src/platform/win32, which are all files there.
 *
 * Last line: N passed, N failed.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const {evaluate} = require('./w32.js');

const root = path.resolve(__dirname, '../..');
let passed = 0;
let failed = 0;

function check(sentence, problems) {
	console.log(`${problems.length === 0 ? 'ok' : 'not ok'} - ${sentence}`);
	problems.forEach((problem) => console.log(`    ${problem}`));
	problems.length === 0 ? passed++ : failed++;
}

/* Each member of `these` that is not among `those`. */
function without(these, those, what) {
	return these.filter((name) => !those.includes(name)).map((name) => `${what}: ${name}`);
}

function compare(these, here, those, there) {
	return [...without(these, those, `only ${here}`), ...without(those, these, `only ${there}`)];
}

function configured(settings) {
	return evaluate(`${root}/config.w32`, {
		PHP_BLOOMSHM: 'yes', TARGET_ARCH: 'x64', MODE_PHPIZE: true, PHP_DIR: 'C:\\php', ...settings,
	}, '..');
}

const posix = (name) => name.startsWith('src/platform/posix/');
const win32 = (name) => name.startsWith('src/platform/win32/');
const notes = configured({});
const here = notes.sources.map((source) => source.path.replace(/^\.\.\//, ''));
const there = fs.readFileSync(`${root}/config.m4`, 'utf8').match(/src\/[a-z0-9_/]+\.c\b/g);

check('config.w32 has no error where all is found', notes.error === null ? [] : [notes.error]);
check('config.w32 makes one extension', compare(notes.extensions, 'here', ['bloomshm'], 'expected'));
check('config.w32 names each source once',
	here.filter((name, i) => here.indexOf(name) !== i));
check('config.w32 and config.m4 name the same sources',
	compare(here.filter((name) => !win32(name)), 'config.w32',
		there.filter((name) => !posix(name)), 'config.m4'));
check('config.w32 names all files of src/platform/win32', compare(here.filter(win32), 'config.w32',
	fs.readdirSync(`${root}/src/platform/win32`).filter((name) => name.endsWith('.c'))
		.map((name) => `src/platform/win32/${name}`), 'the folder'));
check('config.w32 is off unless asked for',
	configured({PHP_BLOOMSHM: 'no'}).extensions);
for (const [setting, value, word] of [
	['TARGET_ARCH', 'x86', '64-bit'],
	['missing', 'xxhash.h', 'xxHash 0.8.1'],
	['missing', 'zlib_a.lib;zlib.lib', 'zlib'],
	['missing', 'zlib.h', 'zlib'],
	['missing', 'bcrypt.lib', 'bcrypt.lib'],
]) {
	const {error} = configured({[setting]: value});
	check(`config.w32 names the reason when ${setting} is ${value}`,
		error !== null && error.includes(word) ? [] : [String(error)]);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
