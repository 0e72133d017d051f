--TEST--
A warning that is made an exception leaves everything sound
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/missing_filter_warn_handler.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=warn
--FILE--
<?php
require __DIR__ . '/../helper.inc';

set_error_handler(function (int $level, string $message) {
    throw new ErrorException($message);
});
show_thrown(
    fn () => bloom_maybe_has('f', 'a'),
    fn () => bloom_maybe_has_many('g', ['a', 'b']),
    fn () => bloom_add_many('h', ['a']),
);
set_error_handler(function () {
    bloom_load('i', ['a']);
    return true;
});
var_dump(bloom_maybe_has('i', 'b'), bloom_maybe_has('i', 'b'));
done();
?>
--EXPECTF--
ErrorException: bloom_maybe_has(): %sf%s
ErrorException: bloom_maybe_has_many(): %sg%s
ErrorException: bloom_add_many(): %sh%s
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
