/*
 * php_value.c - from PHP values to the bytes of a record, and back.
 *
 * null, false, true, int, float and string are stored as they are; arrays and objects through
 * bloomshm.serializer. Serializing and unserializing run user code, so they never happen between
 * two steps on the segment that belong together.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif

#include "php.h"

#include "php_error.h"
#include "php_state.h"
#include "php_value.h"

#include "Zend/zend_exceptions.h"
#include "Zend/zend_smart_str.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

#include <string.h>

#define READ_TRIES 64 /* until a value that grows meanwhile fits */

static void refuse(const char *what, const char *why)
{
	php_bloomshm_throw_format(
		BSHM_E_INCOMPATIBLE, "a value of type %s cannot be stored%s", what, why);
}

static const char stored_with[] = "the value was stored with";

/* False: it is not loaded, though `what` needs it; an exception was thrown. */
static bool has_igbinary(const char *name, const char *what)
{
	if (zend_hash_str_exists(EG(function_table), name, strlen(name))) {
		return true;
	}
	php_bloomshm_throw_format(
		BSHM_E_INCOMPATIBLE, "%s \"igbinary\", and that extension is not loaded", what);
	return false;
}

/* Calls a function of igbinary. False: igbinary is not loaded, though `what` needs it, or it
 * threw. */
static bool call_igbinary(const char *name, const char *what, zval *argument, zval *result)
{
	zval function;
	ZVAL_STRING(&function, name);
	ZVAL_UNDEF(result);
	const bool called = has_igbinary(name, what) &&
						call_user_function(NULL, NULL, &function, result, 1, argument) == SUCCESS &&
						EG(exception) == NULL;
	zval_ptr_dtor(&function);
	return called;
}

bool php_bloomshm_value_readable(bshm_value_type type)
{
	return type != BSHM_VALUE_IGBINARY || has_igbinary("igbinary_unserialize", stored_with);
}

/*
 * Nested calls of PHP's serialize() write one payload, and so share a list of the values that it
 * holds. A call of ours that is nested in a serialize() (in __sleep(), in an error handler) writes
 * a payload of its own: it begins with an empty list.
 */
typedef struct {
	uint32_t lock;
	struct php_serialize_data *written;
	struct php_unserialize_data *read;
	unsigned written_level;
	unsigned read_level;
} payload;

static payload begin_payload(void)
{
	const payload outer = {BG(serialize_lock), BG(serialize).data, BG(unserialize).data,
		BG(serialize).level, BG(unserialize).level};
	BG(serialize_lock) = 0;
	memset(&BG(serialize), 0, sizeof(BG(serialize)));
	memset(&BG(unserialize), 0, sizeof(BG(unserialize)));
	return outer;
}

static void end_payload(const payload *outer)
{
	BG(serialize_lock) = outer->lock;
	BG(serialize).data = outer->written;
	BG(serialize).level = outer->written_level;
	BG(unserialize).data = outer->read;
	BG(unserialize).level = outer->read_level;
}

/* The number at the first digit at or after `at`; *at is behind it. */
static size_t number_at(const char **at, const char *end)
{
	size_t number = 0;
	while (*at < end && (**at < '0' || **at > '9')) {
		(*at)++;
	}
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		number = number * 10 + (size_t) (**at - '0');
	}
	return number;
}

/*
 * How many levels of arrays and objects has the text that serialize() wrote? Strings are skipped,
 * and so is the text of a class that serializes itself ("C:"). An empty array is no level:
 * unserialize() does not count it either.
 */
static zend_long depth_of(const char *at, const char *end)
{
	zend_long depth = 0;
	zend_long deepest = 0;
	while (at < end) {
		const char what = *at;
		size_t skip = 0;
		if (what == 's' || what == 'E' || what == 'O' || what == 'C') {
			skip = number_at(&at, end) + 3; /* :"..." */
			at = skip < (size_t) (end - at) ? at + skip : end;
		}
		if (what == 'C') {
			skip = number_at(&at, end) + 2; /* :{...} */
			at = skip < (size_t) (end - at) ? at + skip + 1 : end;
		} else if (what == 'O' || what == 'a') {
			const bool level = number_at(&at, end) != 0 || what == 'O';
			at = at + 2 < end ? at + 2 : end; /* :{ */
			if (level) {
				depth++;
				deepest = MAX(deepest, depth);
			} else {
				at += at < end;
			}
		} else if (what == '}') {
			depth--;
			at++;
		} else {
			const char *next = memchr(at, ';', (size_t) (end - at));
			at = next == NULL ? end : next + 1;
		}
	}
	return deepest;
}

/* Would unserialize() refuse it? A level takes ten bytes at least: "a:1:{i:0;" and "}". */
static bool too_deep(const zend_string *bytes)
{
	const zend_long most = BG(unserialize_max_depth);
	return most > 0 && ZSTR_LEN(bytes) / 10 > (size_t) most &&
		   depth_of(ZSTR_VAL(bytes), ZSTR_VAL(bytes) + ZSTR_LEN(bytes)) > most;
}

static bool serialize_php(php_bloomshm_value *out, zval *value)
{
	smart_str bytes = {0};
	php_serialize_data_t data;
	const payload outer = begin_payload();
	PHP_VAR_SERIALIZE_INIT(data);
	php_var_serialize(&bytes, value, &data);
	PHP_VAR_SERIALIZE_DESTROY(data);
	end_payload(&outer);
	if (EG(exception) != NULL) {
		smart_str_free(&bytes);
		return false;
	}
	smart_str_0(&bytes);
	out->string = smart_str_extract(&bytes);
	if (UNEXPECTED(too_deep(out->string))) {
		php_bloomshm_throw_format(BSHM_E_INCOMPATIBLE,
			"a value of type %s cannot be stored: it goes deeper than unserialize() "
			"follows, " ZEND_LONG_FMT " levels; the limit is unserialize_max_depth",
			zend_zval_type_name(value), BG(unserialize_max_depth));
		php_bloomshm_value_release(out);
		return false;
	}
	out->value.type = BSHM_VALUE_PHP;
	return true;
}

static bool serialize(php_bloomshm_value *out, zval *value, php_bloomshm_serializer by)
{
	zval result;
	const bool is_own = by == (php_bloomshm_serializer) BLOOMSHM_G(serializer);
	switch (by) {
		case BLOOMSHM_SERIALIZER_PHP:
			return serialize_php(out, value);
		case BLOOMSHM_SERIALIZER_IGBINARY:
			if (!call_igbinary("igbinary_serialize",
					is_own ? "bloomshm.serializer is" : stored_with, value, &result)) {
				return false;
			}
			if (Z_TYPE(result) != IS_STRING) {
				zval_ptr_dtor(&result);
				refuse(zend_zval_type_name(value), " (igbinary refused it)");
				return false;
			}
			out->string = Z_STR(result);
			out->value.type = BSHM_VALUE_IGBINARY;
			return true;
		default:
			refuse(zend_zval_type_name(value), " (bloomshm.serializer is \"none\")");
			return false;
	}
}

static bool value_by(php_bloomshm_value *out, zval *value, php_bloomshm_serializer by)
{
	ZVAL_DEREF(value);
	out->string = NULL;
	out->value = (bshm_value){.bytes = "", .length = 0};
	switch (Z_TYPE_P(value)) {
		case IS_UNDEF:
		case IS_NULL:
			out->value.type = BSHM_VALUE_NULL;
			return true;
		case IS_FALSE:
			out->value.type = BSHM_VALUE_FALSE;
			return true;
		case IS_TRUE:
			out->value.type = BSHM_VALUE_TRUE;
			return true;
		case IS_LONG:
			out->number.integer = Z_LVAL_P(value);
			out->value = (bshm_value){BSHM_VALUE_INT, &out->number, sizeof(out->number.integer)};
			return true;
		case IS_DOUBLE:
			/* One pattern for every NaN, so that bloom_cache_cas() can compare bytes. */
			out->number.real = zend_isnan(Z_DVAL_P(value)) ? ZEND_NAN : Z_DVAL_P(value);
			out->value = (bshm_value){BSHM_VALUE_FLOAT, &out->number, sizeof(out->number.real)};
			return true;
		case IS_STRING:
			out->string = zend_string_copy(Z_STR_P(value));
			out->value.type = BSHM_VALUE_STRING;
			break;
		case IS_ARRAY:
		case IS_OBJECT: {
			zval kept;
			ZVAL_COPY(&kept, value); /* user code may change the reference that holds the value */
			const bool done = serialize(out, &kept, by);
			zval_ptr_dtor(&kept);
			if (!done) {
				return false;
			}
			break;
		}
		default:
			refuse(zend_zval_type_name(value), "");
			return false;
	}
	out->value.bytes = ZSTR_VAL(out->string);
	out->value.length = ZSTR_LEN(out->string);
	return true;
}

bool php_bloomshm_value_of(php_bloomshm_value *out, zval *value)
{
	return value_by(out, value, (php_bloomshm_serializer) BLOOMSHM_G(serializer));
}

bool php_bloomshm_value_like(php_bloomshm_value *out, zval *value, bshm_value_type type)
{
	return type == BSHM_VALUE_PHP        ? value_by(out, value, BLOOMSHM_SERIALIZER_PHP)
		   : type == BSHM_VALUE_IGBINARY ? value_by(out, value, BLOOMSHM_SERIALIZER_IGBINARY)
										 : php_bloomshm_value_of(out, value);
}

void php_bloomshm_value_release(php_bloomshm_value *value)
{
	if (value->string != NULL) {
		zend_string_release(value->string);
		value->string = NULL;
	}
}

/* False: the bytes are damaged, or user code threw. */
static bool unserialize(bshm_value_type type, zend_string *bytes, zval *out)
{
	zval argument;
	if (type == BSHM_VALUE_IGBINARY) {
		ZVAL_STR(&argument, bytes);
		return call_igbinary("igbinary_unserialize", stored_with, &argument, out);
	}
	const unsigned char *at = (const unsigned char *) ZSTR_VAL(bytes);
	php_unserialize_data_t data;
	ZVAL_UNDEF(out);
	const payload outer = begin_payload();
	PHP_VAR_UNSERIALIZE_INIT(data);
	const bool done = php_var_unserialize(out, &at, at + ZSTR_LEN(bytes), &data) != 0;
	PHP_VAR_UNSERIALIZE_DESTROY(data); /* runs __wakeup() and the like */
	end_payload(&outer);
	if (!done || EG(exception) != NULL) {
		zval_ptr_dtor(out);
		ZVAL_UNDEF(out);
		return false;
	}
	if (Z_ISREF_P(out)) {
		zend_unwrap_reference(out);
	}
	return true;
}

/* The bytes of a value; NULL: the record has changed meanwhile. */
static inline zend_string *copy_bytes(const bshm_found *found)
{
	zend_string *bytes = zend_string_alloc((size_t) found->length, false);
	if (UNEXPECTED(!bshm_found_copy(found, ZSTR_VAL(bytes)))) {
		zend_string_efree(bytes);
		return NULL;
	}
	ZSTR_VAL(bytes)[ZSTR_LEN(bytes)] = '\0';
	return bytes;
}

int php_bloomshm_value_copy(const bshm_found *found, php_bloomshm_value *out)
{
	out->string = NULL;
	out->value = (bshm_value){.type = found->type, .length = found->length};
	switch (found->type) {
		case BSHM_VALUE_NULL:
		case BSHM_VALUE_FALSE:
		case BSHM_VALUE_TRUE:
			return 1;
		case BSHM_VALUE_INT:
		case BSHM_VALUE_FLOAT:
			return found->length != sizeof(out->number) ? -1 : bshm_found_copy(found, &out->number);
		case BSHM_VALUE_STRING:
		case BSHM_VALUE_PHP:
		case BSHM_VALUE_IGBINARY:
			break;
		default:
			return -1;
	}
	out->string = copy_bytes(found);
	return out->string != NULL;
}

/* Makes *value of bytes that were copied into a longer string, which it takes. */
static bool settle(php_bloomshm_value *value, const bshm_found *found, zend_string *bytes)
{
	const size_t length = (size_t) found->length;
	value->string = NULL;
	value->value = (bshm_value){.type = found->type, .length = length};
	switch (found->type) {
		case BSHM_VALUE_STRING:
		case BSHM_VALUE_PHP:
		case BSHM_VALUE_IGBINARY:
			value->string = zend_string_truncate(bytes, length, false);
			ZSTR_VAL(value->string)[length] = '\0';
			return true;
		case BSHM_VALUE_INT:
		case BSHM_VALUE_FLOAT:
			if (length == sizeof(value->number)) {
				memcpy(&value->number, ZSTR_VAL(bytes), sizeof(value->number));
			}
			zend_string_efree(bytes);
			return length == sizeof(value->number);
		default:
			zend_string_efree(bytes);
			return found->type < BSHM_VALUE_INT;
	}
}

bool php_bloomshm_value_again(bshm_found *found, const bshm_key *key, unsigned flags,
	bshm_patience *patience, php_bloomshm_value *out)
{
	bshm_patience own = {0};
	bshm_segment *segment = found->segment;
	const uint32_t space = found->space;
	zend_string *bytes = NULL;
	int copied = BSHM_E_BUSY;
	for (unsigned tries = 0; copied == BSHM_E_BUSY && tries < READ_TRIES; tries++) {
		const size_t length = (size_t) found->length;
		if (bytes != NULL) {
			zend_string_efree(bytes);
		}
		bytes = zend_string_alloc(length + (tries != 0 ? length / 8 : 0) + BSHM_SHORT_MAX, false);
		const bshm_room room = {ZSTR_VAL(bytes), ZSTR_LEN(bytes)};
		bshm_error error;
		copied = bshm_record_copy(
			segment, space, key, flags, &room, patience != NULL ? patience : &own, found, &error);
	}
	if (copied == 1) {
		return settle(out, found, bytes);
	}
	zend_string_efree(bytes);
	return false; /* removed, or damaged, or its lock is held */
}

bool php_bloomshm_value_take(php_bloomshm_value *value, zval *out)
{
	bool done = true;
	switch (value->value.type) {
		case BSHM_VALUE_FALSE:
			ZVAL_FALSE(out);
			return true;
		case BSHM_VALUE_TRUE:
			ZVAL_TRUE(out);
			return true;
		case BSHM_VALUE_INT:
			ZVAL_LONG(out, value->number.integer);
			return true;
		case BSHM_VALUE_FLOAT:
			ZVAL_DOUBLE(out, value->number.real);
			return true;
		case BSHM_VALUE_STRING:
			ZVAL_NEW_STR(out, value->string);
			return true;
		case BSHM_VALUE_PHP:
		case BSHM_VALUE_IGBINARY:
			done = unserialize(value->value.type, value->string, out);
			php_bloomshm_value_release(value);
			return done;
		default:
			ZVAL_NULL(out);
			return true;
	}
}

int php_bloomshm_value_make(const bshm_found *found, zval *out)
{
	php_bloomshm_value value;
	zval taken = {0}; /* the copy reads all of it, and some types set only a part */
	if (EXPECTED(found->type == BSHM_VALUE_STRING)) { /* as below, in fewer steps */
		zend_string *bytes = copy_bytes(found);
		if (EXPECTED(bytes != NULL)) {
			ZVAL_NEW_STR(out, bytes);
		}
		return bytes != NULL;
	}
	const int copied = php_bloomshm_value_copy(found, &value);
	if (UNEXPECTED(copied != 1)) {
		return copied;
	}
	if (UNEXPECTED(!php_bloomshm_value_take(&value, &taken))) {
		return -1;
	}
	ZVAL_COPY_VALUE(out, &taken);
	return 1;
}
