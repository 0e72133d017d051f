/*
 * php_pending.c - what a call still holds when its request ends in the middle of it.
 *
 * A fatal error jumps to the end of the request. Who is on the stack catches it (php_load.c,
 * php_fetch.c); but a call in a suspended fiber is not on the stack, its fiber is not destroyed after
 * a fatal error, and there are no request hooks. A resource is closed at the end of every request.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php_bloomshm.h"

#include "Zend/zend_fibers.h"
#include "Zend/zend_list.h"

#include <string.h>

typedef struct {
	php_bloomshm_give_back give_back;
	uint64_t what[];
} pending;

static int type;

static void end_of_request(zend_resource *resource)
{
	pending *p = resource->ptr;
	if (p->give_back != NULL) {
		p->give_back(p->what);
	}
	efree(p);
}

void php_bloomshm_pending_startup(int module_number)
{
	type = zend_register_list_destructors_ex(end_of_request, NULL, "bloomshm call", module_number);
}

zend_resource *php_bloomshm_pending_begin(
	php_bloomshm_give_back give_back, const void *what, size_t bytes)
{
	if (EG(active_fiber) == NULL) {
		return NULL;
	}
	pending *p = emalloc(sizeof(*p) + bytes);
	p->give_back = give_back;
	memcpy(p->what, what, bytes);
	return zend_register_resource(p, type);
}

void php_bloomshm_pending_end(zend_resource *resource)
{
	if (resource != NULL) {
		((pending *) resource->ptr)->give_back = NULL;
		zend_list_delete(resource);
	}
}
