/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e0562def9b1925d7e598f123a20c1baea3d81194 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_reserve, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, capacity, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error_rate, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expansion, IS_LONG, 0, "2")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, window, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, counting, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seed, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_insert, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 0, "100")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error_rate, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expansion, IS_LONG, 0, "2")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, create, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_add, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_add_many, 0, 2, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

#define arginfo_bloom_maybe_has arginfo_bloom_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_maybe_has_many, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_remove arginfo_bloom_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_count, 0, 2, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_load, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error_rate, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, max_error_rate, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expansion, IS_LONG, 0, "2")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, counting, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seed, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, allow_empty, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, like, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_load_file, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error_rate, IS_DOUBLE, 0, "0.01")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, capacity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, max_error_rate, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, delimiter, IS_STRING, 0, "\"\\n\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expansion, IS_LONG, 0, "2")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seed, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, allow_empty, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, like, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_drop, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_clear arginfo_bloom_drop

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_rename, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, from, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_copy arginfo_bloom_rename

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_merge, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, into, IS_STRING, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, from, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_dump, 0, 2, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_restore, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_ready arginfo_bloom_drop

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_list, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_info, 0, 1, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_runs arginfo_bloom_info

#define arginfo_bloom_fills arginfo_bloom_info

#define arginfo_bloom_status arginfo_bloom_list

#define arginfo_bloom_verify arginfo_bloom_list

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_fetch, 0, 3, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, load, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_fetch_many, 0, 3, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, filter, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, load, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_bloom_forget arginfo_bloom_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_get, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_get_many, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_set, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_set_many, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, values, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_bloom_cache_add arginfo_bloom_cache_set

#define arginfo_bloom_cache_replace arginfo_bloom_cache_set

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_has, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_cache_delete arginfo_bloom_cache_has

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_delete_many, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_bloom_cache_increment, 0, 1, MAY_BE_LONG|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, by, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initial, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, create, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

#define arginfo_bloom_cache_decrement arginfo_bloom_cache_increment

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_cas, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, expected, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, new, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_append, 0, 2, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, suffix, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, delimiter, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_touch, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_remember, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, load, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_remember_many, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, load, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_pop_oldest, 0, 0, IS_ARRAY, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_scan, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(1, cursor, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, count, IS_LONG, 0, "100")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_clear, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bloom_cache_dump, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_bloom_cache_restore arginfo_bloom_cache_dump

#define arginfo_bloom_cache_info arginfo_bloom_list

#define arginfo_bloom_cache_classes arginfo_bloom_list


ZEND_FUNCTION(bloom_reserve);
ZEND_FUNCTION(bloom_insert);
ZEND_FUNCTION(bloom_add);
ZEND_FUNCTION(bloom_add_many);
ZEND_FUNCTION(bloom_maybe_has);
ZEND_FUNCTION(bloom_maybe_has_many);
ZEND_FUNCTION(bloom_remove);
ZEND_FUNCTION(bloom_count);
ZEND_FUNCTION(bloom_load);
ZEND_FUNCTION(bloom_load_file);
ZEND_FUNCTION(bloom_drop);
ZEND_FUNCTION(bloom_clear);
ZEND_FUNCTION(bloom_rename);
ZEND_FUNCTION(bloom_copy);
ZEND_FUNCTION(bloom_merge);
ZEND_FUNCTION(bloom_dump);
ZEND_FUNCTION(bloom_restore);
ZEND_FUNCTION(bloom_ready);
ZEND_FUNCTION(bloom_list);
ZEND_FUNCTION(bloom_info);
ZEND_FUNCTION(bloom_runs);
ZEND_FUNCTION(bloom_fills);
ZEND_FUNCTION(bloom_status);
ZEND_FUNCTION(bloom_verify);
ZEND_FUNCTION(bloom_fetch);
ZEND_FUNCTION(bloom_fetch_many);
ZEND_FUNCTION(bloom_forget);
ZEND_FUNCTION(bloom_cache_get);
ZEND_FUNCTION(bloom_cache_get_many);
ZEND_FUNCTION(bloom_cache_set);
ZEND_FUNCTION(bloom_cache_set_many);
ZEND_FUNCTION(bloom_cache_add);
ZEND_FUNCTION(bloom_cache_replace);
ZEND_FUNCTION(bloom_cache_has);
ZEND_FUNCTION(bloom_cache_delete);
ZEND_FUNCTION(bloom_cache_delete_many);
ZEND_FUNCTION(bloom_cache_increment);
ZEND_FUNCTION(bloom_cache_decrement);
ZEND_FUNCTION(bloom_cache_cas);
ZEND_FUNCTION(bloom_cache_append);
ZEND_FUNCTION(bloom_cache_touch);
ZEND_FUNCTION(bloom_cache_remember);
ZEND_FUNCTION(bloom_cache_remember_many);
ZEND_FUNCTION(bloom_cache_pop_oldest);
ZEND_FUNCTION(bloom_cache_scan);
ZEND_FUNCTION(bloom_cache_clear);
ZEND_FUNCTION(bloom_cache_dump);
ZEND_FUNCTION(bloom_cache_restore);
ZEND_FUNCTION(bloom_cache_info);
ZEND_FUNCTION(bloom_cache_classes);


static const zend_function_entry ext_functions[] = {
	ZEND_FE(bloom_reserve, arginfo_bloom_reserve)
	ZEND_FE(bloom_insert, arginfo_bloom_insert)
	ZEND_FE(bloom_add, arginfo_bloom_add)
	ZEND_FE(bloom_add_many, arginfo_bloom_add_many)
	ZEND_FE(bloom_maybe_has, arginfo_bloom_maybe_has)
	ZEND_FE(bloom_maybe_has_many, arginfo_bloom_maybe_has_many)
	ZEND_FE(bloom_remove, arginfo_bloom_remove)
	ZEND_FE(bloom_count, arginfo_bloom_count)
	ZEND_FE(bloom_load, arginfo_bloom_load)
	ZEND_FE(bloom_load_file, arginfo_bloom_load_file)
	ZEND_FE(bloom_drop, arginfo_bloom_drop)
	ZEND_FE(bloom_clear, arginfo_bloom_clear)
	ZEND_FE(bloom_rename, arginfo_bloom_rename)
	ZEND_FE(bloom_copy, arginfo_bloom_copy)
	ZEND_FE(bloom_merge, arginfo_bloom_merge)
	ZEND_FE(bloom_dump, arginfo_bloom_dump)
	ZEND_FE(bloom_restore, arginfo_bloom_restore)
	ZEND_FE(bloom_ready, arginfo_bloom_ready)
	ZEND_FE(bloom_list, arginfo_bloom_list)
	ZEND_FE(bloom_info, arginfo_bloom_info)
	ZEND_FE(bloom_runs, arginfo_bloom_runs)
	ZEND_FE(bloom_fills, arginfo_bloom_fills)
	ZEND_FE(bloom_status, arginfo_bloom_status)
	ZEND_FE(bloom_verify, arginfo_bloom_verify)
	ZEND_FE(bloom_fetch, arginfo_bloom_fetch)
	ZEND_FE(bloom_fetch_many, arginfo_bloom_fetch_many)
	ZEND_FE(bloom_forget, arginfo_bloom_forget)
	ZEND_FE(bloom_cache_get, arginfo_bloom_cache_get)
	ZEND_FE(bloom_cache_get_many, arginfo_bloom_cache_get_many)
	ZEND_FE(bloom_cache_set, arginfo_bloom_cache_set)
	ZEND_FE(bloom_cache_set_many, arginfo_bloom_cache_set_many)
	ZEND_FE(bloom_cache_add, arginfo_bloom_cache_add)
	ZEND_FE(bloom_cache_replace, arginfo_bloom_cache_replace)
	ZEND_FE(bloom_cache_has, arginfo_bloom_cache_has)
	ZEND_FE(bloom_cache_delete, arginfo_bloom_cache_delete)
	ZEND_FE(bloom_cache_delete_many, arginfo_bloom_cache_delete_many)
	ZEND_FE(bloom_cache_increment, arginfo_bloom_cache_increment)
	ZEND_FE(bloom_cache_decrement, arginfo_bloom_cache_decrement)
	ZEND_FE(bloom_cache_cas, arginfo_bloom_cache_cas)
	ZEND_FE(bloom_cache_append, arginfo_bloom_cache_append)
	ZEND_FE(bloom_cache_touch, arginfo_bloom_cache_touch)
	ZEND_FE(bloom_cache_remember, arginfo_bloom_cache_remember)
	ZEND_FE(bloom_cache_remember_many, arginfo_bloom_cache_remember_many)
	ZEND_FE(bloom_cache_pop_oldest, arginfo_bloom_cache_pop_oldest)
	ZEND_FE(bloom_cache_scan, arginfo_bloom_cache_scan)
	ZEND_FE(bloom_cache_clear, arginfo_bloom_cache_clear)
	ZEND_FE(bloom_cache_dump, arginfo_bloom_cache_dump)
	ZEND_FE(bloom_cache_restore, arginfo_bloom_cache_restore)
	ZEND_FE(bloom_cache_info, arginfo_bloom_cache_info)
	ZEND_FE(bloom_cache_classes, arginfo_bloom_cache_classes)
	ZEND_FE_END
};


static const zend_function_entry class_BloomShm_Exception_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_BloomShm_Exception(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "BloomShm", "Exception", class_BloomShm_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	zval const_UNAVAILABLE_value;
	ZVAL_LONG(&const_UNAVAILABLE_value, BLOOMSHM_CODE_UNAVAILABLE);
	zend_string *const_UNAVAILABLE_name = zend_string_init_interned("UNAVAILABLE", sizeof("UNAVAILABLE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_UNAVAILABLE_name, &const_UNAVAILABLE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_UNAVAILABLE_name);

	zval const_NO_SPACE_value;
	ZVAL_LONG(&const_NO_SPACE_value, BLOOMSHM_CODE_NO_SPACE);
	zend_string *const_NO_SPACE_name = zend_string_init_interned("NO_SPACE", sizeof("NO_SPACE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NO_SPACE_name, &const_NO_SPACE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NO_SPACE_name);

	zval const_FULL_value;
	ZVAL_LONG(&const_FULL_value, BLOOMSHM_CODE_FULL);
	zend_string *const_FULL_name = zend_string_init_interned("FULL", sizeof("FULL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_FULL_name, &const_FULL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_FULL_name);

	zval const_EMPTY_value;
	ZVAL_LONG(&const_EMPTY_value, BLOOMSHM_CODE_EMPTY);
	zend_string *const_EMPTY_name = zend_string_init_interned("EMPTY", sizeof("EMPTY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_EMPTY_name, &const_EMPTY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_EMPTY_name);

	zval const_EXISTS_value;
	ZVAL_LONG(&const_EXISTS_value, BLOOMSHM_CODE_EXISTS);
	zend_string *const_EXISTS_name = zend_string_init_interned("EXISTS", sizeof("EXISTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_EXISTS_name, &const_EXISTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_EXISTS_name);

	zval const_NOT_FOUND_value;
	ZVAL_LONG(&const_NOT_FOUND_value, BLOOMSHM_CODE_NOT_FOUND);
	zend_string *const_NOT_FOUND_name = zend_string_init_interned("NOT_FOUND", sizeof("NOT_FOUND") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NOT_FOUND_name, &const_NOT_FOUND_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NOT_FOUND_name);

	zval const_INCOMPATIBLE_value;
	ZVAL_LONG(&const_INCOMPATIBLE_value, BLOOMSHM_CODE_INCOMPATIBLE);
	zend_string *const_INCOMPATIBLE_name = zend_string_init_interned("INCOMPATIBLE", sizeof("INCOMPATIBLE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_INCOMPATIBLE_name, &const_INCOMPATIBLE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_INCOMPATIBLE_name);

	zval const_ERROR_RATE_value;
	ZVAL_LONG(&const_ERROR_RATE_value, BLOOMSHM_CODE_ERROR_RATE);
	zend_string *const_ERROR_RATE_name = zend_string_init_interned("ERROR_RATE", sizeof("ERROR_RATE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_ERROR_RATE_name, &const_ERROR_RATE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_ERROR_RATE_name);

	zval const_CORRUPT_value;
	ZVAL_LONG(&const_CORRUPT_value, BLOOMSHM_CODE_CORRUPT);
	zend_string *const_CORRUPT_name = zend_string_init_interned("CORRUPT", sizeof("CORRUPT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_CORRUPT_name, &const_CORRUPT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_CORRUPT_name);

	zval const_RANGE_value;
	ZVAL_LONG(&const_RANGE_value, BLOOMSHM_CODE_RANGE);
	zend_string *const_RANGE_name = zend_string_init_interned("RANGE", sizeof("RANGE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RANGE_name, &const_RANGE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RANGE_name);

	zval const_READ_ONLY_value;
	ZVAL_LONG(&const_READ_ONLY_value, BLOOMSHM_CODE_READ_ONLY);
	zend_string *const_READ_ONLY_name = zend_string_init_interned("READ_ONLY", sizeof("READ_ONLY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_READ_ONLY_name, &const_READ_ONLY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_READ_ONLY_name);

	zval const_TIMEOUT_value;
	ZVAL_LONG(&const_TIMEOUT_value, BLOOMSHM_CODE_TIMEOUT);
	zend_string *const_TIMEOUT_name = zend_string_init_interned("TIMEOUT", sizeof("TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_TIMEOUT_name, &const_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_TIMEOUT_name);

	zval const_IO_value;
	ZVAL_LONG(&const_IO_value, BLOOMSHM_CODE_IO);
	zend_string *const_IO_name = zend_string_init_interned("IO", sizeof("IO") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_IO_name, &const_IO_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_IO_name);

	return class_entry;
}
