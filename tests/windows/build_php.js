/*
 * build_php.js - writes what mingw needs to build PHP for Windows with bloomshm in it.
 *
 *   node build_php.js PHP-SOURCES PROJECT OUT
 *
 * PHP's own config.w32 files and the project's say which sources belong together and with which
 * flags; OUT gets sources.mk, for php.mk, and the headers that configure.js would write.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const {evaluate, Notes} = require('./w32.js');

const [php, project, out] = process.argv.slice(2).map((folder) => path.resolve(folder));
const extensions = ['date', 'hash', 'json', 'pcre', 'random', 'reflection', 'spl', 'standard',
	'ctype', 'zlib'];
const settings = {
	TARGET_ARCH: 'x64', X64: true, VS_TOOLSET: false, CLANG_TOOLSET: false, MODE_PHPIZE: false,
	PHP_ZTS: 'no', PHP_PHP_BUILD: '', PHP_PCRE_JIT: 'no', PHP_BLOOMSHM: 'yes', PHP_DIR: '',
	php_usual_include_suspects: '', PHP_VERSION: 8, PHP_MINOR_VERSION: 4, missing: 'edit_a.lib;edit.lib',
};

const notes = new Notes();
evaluate(`${php}/win32/build/config.w32`, settings, '', notes);
evaluate(`${php}/TSRM/config.w32`, settings, 'TSRM', notes);
evaluate(`${php}/sapi/cli/config.w32`, settings, 'sapi/cli', notes);
for (const name of extensions) {
	evaluate(`${php}/ext/${name}/config.w32`, settings, `ext/${name}`, notes);
}
evaluate(`${project}/config.w32`, settings, project, notes);
if (notes.error !== null) {
	throw new Error(notes.error);
}

function write(name, text) {
	const file = path.join(out, name);
	fs.mkdirSync(path.dirname(file), {recursive: true});
	if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
		fs.writeFileSync(file, text);
	}
}

/* "/D NAME /I folder" of cl.exe in gcc's words. Relative folders are PHP's. */
function gcc_flags(text) {
	const flags = [];
	const words = text.replace(/"/g, '').replace(/\\/g, '/').trim().split(/\s+/);
	for (let i = 0; i < words.length; i++) {
		const [, kind, rest] = words[i].match(/^[/-]([DI])(.*)$/) || [];
		if (kind !== undefined) {
			const value = rest === '' ? words[++i] : rest;
			flags.push(kind === 'D' ? `-D${value}` : `-I${path.resolve(php, value)}`);
		}
	}
	return flags.join(' ');
}

/* The header of a static extension declares its module entry. */
function module_header(name) {
	const folder = name === 'bloomshm' ? project : `${php}/ext/${name}`;
	return fs.readdirSync(folder).filter((file) =>
		file.endsWith('.h') && fs.readFileSync(`${folder}/${file}`, 'utf8').includes('phpext_'))
		.map((file) => `#include "${folder}/${file}"\n`).join('');
}

write('main/internal_functions.c', fs.readFileSync(`${php}/main/internal_functions.c.in`, 'utf8')
	.replace('@EXT_INCLUDE_CODE@', notes.extensions.map(module_header).join(''))
	.replace('@EXT_MODULE_PTRS@', notes.extensions.map((name) => `\tphpext_${name}_ptr,\n`).join('')));
write('main/config.w32.h', fs.readFileSync(`${php}/win32/build/config.w32.h.in`, 'utf8')
	.replace(/@PREFIX@/g, 'C:\\\\php')
	+ '#define CONFIGURE_COMMAND "mingw"\n#define PHP_BUILD_DATE ""\n'
	+ '#define PHP_BUILD_SYSTEM "mingw"\n#define PHP_COMPILER_ID "MinGW"\n'
	+ '#define PHP_LINKER_MAJOR 0\n#define PHP_LINKER_MINOR 0\n'
	+ Object.entries(notes.defines).map(([name, value]) => `#define ${name} `
		+ (typeof value === 'string' && !/^\d+$/.test(value) ? JSON.stringify(value) : value) + '\n').join(''));
for (const [name, text] of Object.entries(notes.written)) {
	write(name, text);
}
/* These spell the names of system headers as no file system but Windows' finds them. */
for (const name of ['WinBase', 'Winbase', 'Winsock2', 'Windns', 'Ws2tcpip', 'Winuser', 'Wincrypt', 'Sddl', 'VersionHelpers']) {
	write(`include/${name}.h`, `#include <${name.toLowerCase()}.h>\n`);
}

write('include/php_config.h', '#include "config.w32.h"\n');

const objects = [];
let makefile = '# written by build_php.js\n';
notes.sources.push({path: 'Zend/asm/make_x86_64_ms_pe_gas.S', target: 'php'},
	{path: 'Zend/asm/jump_x86_64_ms_pe_gas.S', target: 'php'});
for (const {path: name, target} of notes.sources) {
	const own = name.startsWith(project);
	const kind = name.endsWith('.S') ? 'ASSEMBLER' : !own ? 'PHP' : name.includes('/src/php/')
		? 'BINDING' : 'CORE';
	const generated = name === 'main/internal_functions.c';
	const source = own ? name : `${generated ? out : php}/${name}`;
	const object = 'objects/' + (own ? 'bloomshm/' + path.relative(project, name) : name)
		.replace(/\.[cS]$/, '.o');
	const flags = gcc_flags(notes.flags['CFLAGS_' + target.toUpperCase()] || '');
	objects.push(object);
	makefile += `${object}: ${source}\n\t@mkdir -p $(@D)\n`
		+ `\t$(CC) ${flags} $(${kind}_FLAGS) -MMD -MP -c -o $@ ${source}\n`;
}
write('sources.mk', makefile + `OBJECTS = ${objects.join(' ')}\n`);
