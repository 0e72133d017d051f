/*
 * php_message.c - errors as sentences in PHP strings.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_message.h"
#include "php_path.h"
#include "php_state.h"

#include "message/message.h"

#include <string.h>

zend_string *php_bloomshm_message(const bshm_error *error, const char *filter)
{
	const bshm_message_about about = {
		.path = php_bloomshm_path(),
		.name = filter,
		.readonly = BLOOMSHM_G(readonly),
	};
	bshm_message message;
	const char *text = bshm_message_say(&message, error, &about);
	return zend_string_init(text, strlen(text), false);
}

zend_string *php_bloomshm_message_file(const bshm_error *error, const char *path)
{
	const bool filter = strcmp(get_active_function_name(), "bloom_restore") == 0;
	bshm_message message;
	const char *text = bshm_message_file(&message, error, path, filter);
	return text == NULL ? NULL : zend_string_init(text, strlen(text), false);
}
