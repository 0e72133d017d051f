--TEST--
A union that does not fit beside its sources changes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a', 300_000, expansion: 0, seed: 'shared');
bloom_reserve('b', 300_000, expansion: 0, seed: 'shared');
bloom_add('a', 'only in a');
bloom_add('b', 'only in b');
$before = [bloom_info('a'), bloom_info('b'), free_bytes()];
show_thrown(fn () => bloom_merge('a', 'b'), fn () => bloom_merge('new', 'a', 'b'));
check_same($before, [bloom_info('a'), bloom_info('b'), free_bytes()], 'what there was');
var_dump(bloom_list(), bloom_maybe_has('a', 'only in b'));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
array(2) {
  [0]=>
  string(1) "a"
  [1]=>
  string(1) "b"
}
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
