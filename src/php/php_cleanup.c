/*
 * php_cleanup.c - gives back what a call has when a fatal error ends its request in the middle.
 *
 * A fatal error jumps to the end of the request. A call on the stack catches it with zend_try
 * (php_load.c, php_fetch.c, php_fetch_open.c, php_store.c). A call in a suspended fiber is not on
 * the stack, PHP does not destroy the fiber after a fatal error, and this extension has no request
 * hooks. But PHP closes every resource at the end of a request: so the call registers one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_cleanup.h"

#include "Zend/zend_fibers.h"
#include "Zend/zend_list.h"

#include <string.h>

typedef struct {
	php_bloomshm_cleanup cleanup; /* NULL: cancelled */
	uint64_t argument[];
} registration;

static int resource_type;

static void close_resource(zend_resource *resource)
{
	registration *r = resource->ptr;
	if (r->cleanup != NULL) {
		r->cleanup(r->argument);
	}
	efree(r);
}

void php_bloomshm_cleanup_startup(int module_number)
{
	resource_type =
		zend_register_list_destructors_ex(close_resource, NULL, "bloomshm call", module_number);
}

zend_resource *php_bloomshm_cleanup_register(
	php_bloomshm_cleanup cleanup, const void *argument, size_t bytes)
{
	if (EG(active_fiber) == NULL) {
		return NULL;
	}
	registration *r = emalloc(sizeof(*r) + bytes);
	r->cleanup = cleanup;
	memcpy(r->argument, argument, bytes);
	return zend_register_resource(r, resource_type);
}

void php_bloomshm_cleanup_cancel(zend_resource *registered)
{
	if (registered != NULL) {
		((registration *) registered->ptr)->cleanup = NULL;
		zend_list_delete(registered);
	}
}
