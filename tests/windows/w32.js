/*
 * w32.js - evaluates a config.w32 as PHP's configure.js does, with functions that only take notes.
 *
 * A config.w32 is a JScript program without functions of its own: PHP's confutils.js defines what
 * it calls. Here a function that is not defined below does nothing and returns ''.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
'use strict';
const fs = require('fs');

/** What a config.w32 said: its notes are filled by evaluate(). */
class Notes {
	constructor() {
		this.sources = [];    // {path, target}: target is an extension, a SAPI, or 'php'
		this.flags = {};      // what ADD_FLAG gave each variable
		this.defines = {};    // AC_DEFINE
		this.extensions = [];
		this.libraries = [];  // each call of CHECK_LIB
		this.written = {};    // files that the program writes
		this.error = null;    // the message of ERROR
	}

	add(folder, list, target) {
		for (const file of list.trim().split(/\s+/)) {
			const path = folder === '' ? file : `${folder}/${file}`;
			this.sources.push({path: path.replace(/\\/g, '/'), target: target || 'php'});
		}
	}

	flag(name, flags) {
		this.flags[name] = (this.flags[name] || '') + ' ' + flags;
	}
}

class ConfigError extends Error {}

/* The functions of confutils.js that matter here. `world` has what they and the program define. */
function functions(notes, world, folder) {
	const argument = (name, help, value) => {
		const variable = 'PHP_' + name.toUpperCase().replace(/-/g, '_');
		if (!(variable in world)) {
			world[variable] = value;
		}
		world[variable + '_SHARED'] = false;
	};
	return {
		configure_module_dirname: folder,
		ARG_ENABLE: argument,
		ARG_WITH: argument,
		EXTENSION: (name, list, shared, flags) => {
			notes.extensions.push(name);
			notes.add(folder, list, name);
			notes.flag('CFLAGS_' + name.toUpperCase(), flags || '');
		},
		SAPI: (name, list, program, flags) => {
			notes.add(folder, list, name);
			notes.flag('CFLAGS_' + name.toUpperCase(), flags || '');
		},
		ADD_SOURCES: (dir, list, target) => notes.add(dir, list, target),
		ADD_FLAG: (name, flags) => notes.flag(name, flags),
		AC_DEFINE: (name, value) => (notes.defines[name] = value),
		CHECK_LIB: (names, target) => {
			notes.libraries.push(names);
			return world.missing !== names;
		},
		CHECK_HEADER_ADD_INCLUDE: (name) => world.missing !== name,
		GREP_HEADER: (name) => world.missing !== name,
		CHECK_FUNC_IN_HEADER: () => true,
		PATH_PROG: () => true,
		ERROR: (text) => {
			notes.error = text;
			throw new ConfigError(text); // configure.js ends here
		},
		FSO: {
			FolderExists: () => false,
			FileExists: () => false,
			CreateTextFile: (path) => ({
				WriteLine: (line) => (notes.written[path] = (notes.written[path] || '') + line + '\n'),
				Close: () => {},
			}),
			CopyFile: () => {},
		},
		STDOUT: {Write: () => {}, WriteLine: () => {}, WriteBlankLines: () => {}},
		MFO: {WriteLine: () => {}, WriteBlankLines: () => {}},
		WshShell: {Environment: () => ({Item: () => ''})},
	};
}

/*
 * Evaluates the file. `settings` are what the command line of configure would set, PHP_BLOOMSHM for
 * instance, and `missing`: the one header or library that is not found. `folder` is where the
 * file's own sources are.
 */
function evaluate(file, settings, folder = '', notes = new Notes()) {
	const world = {...settings};
	Object.assign(world, functions(notes, world, folder));
	const all = new Proxy(world, {
		has: (target, name) => name in target || !(name in globalThis),
		get: (target, name) => (name in target || typeof name === 'symbol' ? target[name] : () => ''),
	});
	try {
		new Function('all', `with (all) {\n${fs.readFileSync(file, 'utf8')}\n}`)(all);
	} catch (problem) {
		if (!(problem instanceof ConfigError)) {
			throw problem;
		}
	}
	return notes;
}

module.exports = {evaluate, Notes};
