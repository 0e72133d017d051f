--TEST--
bloom_dump() and bloom_restore() while disabled, or before the filter is published
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_unavailable_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
bloom_dump('f', scratch());
echo Child::run("show_thrown(fn () => bloom_dump('f', scratch('.new')), fn () => bloom_restore('f', scratch()), fn () => bloom_restore('f', ''));", ['bloomshm.enable' => '0']);
bloom_load('g', (function () {
    yield 'a';
    show_thrown(fn () => bloom_dump('g', scratch('.new')));
    // A restore meanwhile publishes at once; the load, later, stands.
    var_dump(bloom_restore('g', scratch()), bloom_maybe_has_many('g', ['a', 'b']));
    bloom_add('g', 'added');
    yield 'b';
})());
var_dump(bloom_maybe_has_many('g', ['a', 'b', 'added', 'c']), file_exists(scratch('.new')));
done();
?>
--EXPECTF--
BloomShm\Exception UNAVAILABLE: %sbloomshm.enable%S
BloomShm\Exception UNAVAILABLE: %sbloomshm.enable%S
ValueError: bloom_restore(): Argument #2 ($path) %s empty
BloomShm\Exception NOT_FOUND: filter "g" %s
bool(true)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
array(4) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
  [3]=>
  bool(false)
}
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
