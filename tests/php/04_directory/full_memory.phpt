--TEST--
A segment whose memory is used to the last partition still answers, adds, clears and drops
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/full_memory.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$bytes = reserve_largest('large');
bloom_add('large', 'a');
for ($i = 0; $i < 10; $i++) {
    try {
        bloom_reserve("small $i", 1, expansion: 0);
    } catch (BloomShm\Exception) {
        break;
    }
}
show_thrown(
    fn () => bloom_reserve('one more', 1, expansion: 0),
    fn () => bloom_load('one more', ['a']),
    fn () => bloom_load('large', ['a']),
    fn () => bloom_copy('large', 'one more'),
);
var_dump(bloom_maybe_has('large', 'a'), bloom_maybe_has('large', 'b'), bloom_add('large', 'b'));
var_dump(bloom_rename('large', 'l'), bloom_clear('l'), bloom_maybe_has('l', 'a'), bloom_status()['largest_free_bytes']);
var_dump(bloom_drop('l'), reserve_largest('large') === $bytes || $i > 0);
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s
BloomShm\Exception NO_SPACE: %s
BloomShm\Exception NO_SPACE: %s
BloomShm\Exception NO_SPACE: %s
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
