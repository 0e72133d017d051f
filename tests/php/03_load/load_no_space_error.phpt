--TEST--
A load that does not fit throws NO_SPACE with the sizes and the setting; the live filter stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('old ', 1000));
$free = free_bytes();
$many = function () {
    for ($i = 0; $i < 2000000; $i++) {
        yield "k$i";
    }
};
show_thrown(
    fn () => bloom_load('f', $many()),
    fn () => bloom_load('f', $many(), capacity: 2000000),
    fn () => bloom_load('g', $many(), 0.0001, 1000),
);
check_same($free, free_bytes(), 'free bytes');
var_dump(bloom_list(), count_no('f', keys('old ', 1000)), bloom_maybe_has('g', 'x'));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
array(1) {
  [0]=>
  string(1) "f"
}
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
