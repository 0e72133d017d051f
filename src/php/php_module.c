/*
 * php_module.c - the module: what PHP calls when it loads, describes and unloads the extension.
 *
 * MINIT does not touch a segment. MSHUTDOWN unmaps, and changes nothing shared: FPM's launcher runs
 * it while the daemon lives. RSHUTDOWN hands counts in. When the request of a preload script is
 * over, what it used is given up. There is no RINIT.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "compat.h"
#include "php_bloomshm.h"
#include "php_cleanup.h"
#include "php_error.h"
#include "php_message.h"
#include "php_path.h"
#include "php_segment.h"
#include "php_settings.h"
#include "php_state.h"

#include "core/bshm_records.h"

#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"

#include "stubs/bloomshm_arginfo.h"

#include <inttypes.h>
#include <stdio.h>

static PHP_GINIT_FUNCTION(bloomshm)
{
#if defined(ZTS) && defined(COMPILE_DL_BLOOMSHM)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	memset(bloomshm_globals, 0, sizeof(*bloomshm_globals));
}

static PHP_GSHUTDOWN_FUNCTION(bloomshm)
{
	php_bloomshm_segment_detach(bloomshm_globals);
	php_bloomshm_warned_free(bloomshm_globals->warned);
}

static PHP_MINIT_FUNCTION(bloomshm)
{
	(void) type;
	php_bloomshm_settings_register(module_number);
	php_bloomshm_cleanup_startup(module_number);
	php_bloomshm_segment_startup(module_number);
	php_bloomshm_exception_ce = register_class_BloomShm_Exception(spl_ce_RuntimeException);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(bloomshm)
{
	(void) type;
	UNREGISTER_INI_ENTRIES();
	php_bloomshm_segment_shutdown();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(bloomshm)
{
	(void) type;
	(void) module_number;
	php_bloomshm_segment_request_end();
	return SUCCESS;
}

static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(bloomshm)
{
	php_bloomshm_segment_request_over();
	return SUCCESS;
}

static void info_row(const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, value);
	php_info_print_table_row(2, name, text);
}

static PHP_MINFO_FUNCTION(bloomshm)
{
	(void) zend_module;
	bshm_error error;
	bshm_stat stat;
	bshm_segment *segment = php_bloomshm_segment_try(&error);
	php_info_print_table_start();
	php_info_print_table_row(2, "bloomshm support", BLOOMSHM_G(enable) ? "enabled" : "disabled");
	php_info_print_table_row(2, "Version", PHP_BLOOMSHM_VERSION);
	php_info_print_table_row(2, "Path in use", php_bloomshm_path());
	if (segment != NULL && bshm_segment_stat(segment, &stat, &error) == BSHM_OK) {
		php_info_print_table_row(2, "State", "attached");
		info_row("Layout version", stat.layout_version);
		info_row("Filters", stat.filters);
		info_row("Filter memory, bytes", stat.filter_bytes);
		info_row("Filter memory free, bytes", stat.filter_bytes_free);
		bshm_store_info store;
		if (bshm_store_stat(segment, &store) == BSHM_OK) {
			info_row("Record store, bytes", store.bytes_total);
			info_row("Record store in use, bytes", store.bytes_used);
			info_row("Records", store.records);
		}
		info_row("Attached processes", stat.attached);
	} else {
		zend_string *reason = php_bloomshm_message(&error, NULL);
		php_info_print_table_row(2, "State", ZSTR_VAL(reason));
		zend_string_release(reason);
	}
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

zend_module_entry bloomshm_module_entry = {
	STANDARD_MODULE_HEADER,
	"bloomshm",
	ext_functions,
	PHP_MINIT(bloomshm),
	PHP_MSHUTDOWN(bloomshm),
	NULL,
	PHP_RSHUTDOWN(bloomshm),
	PHP_MINFO(bloomshm),
	PHP_BLOOMSHM_VERSION,
	PHP_MODULE_GLOBALS(bloomshm),
	PHP_GINIT(bloomshm),
	PHP_GSHUTDOWN(bloomshm),
	ZEND_MODULE_POST_ZEND_DEACTIVATE_N(bloomshm),
	STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_BLOOMSHM
ZEND_GET_MODULE(bloomshm)
#endif
