--TEST--
bloomshm.readonly: questions are answered, every change throws READ_ONLY
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/readonly.seg
bloomshm.filter_memory=1M
bloomshm.readonly=1
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$writer = new Child(<<<'PHP'
    bloom_load('f', ['a']);
    bloom_load('counting', ['c', 'c'], counting: true);
    bloom_dump('f', scratch('.dump'));
    echo "loaded\n";
    fgets(STDIN);
    bloom_add('f', 'later');
    bloom_load('g', ['b']);
    echo "more\n";
    fgets(STDIN);
    PHP, ['bloomshm.readonly' => '0']);
check_same('loaded', $writer->hear(), 'the writer');
file_put_contents(scratch(), "a\n");
var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has_many('f', ['a', 'x']), bloom_list(), bloom_ready('f'), bloom_info('f')['items']);
foreach (['f', 'missing'] as $name) {
    show_thrown(
        fn () => bloom_add($name, 'x'),
        fn () => bloom_add($name, 'a'),
        fn () => bloom_add_many($name, ['x']),
        fn () => bloom_drop($name),
        fn () => bloom_clear($name),
        fn () => bloom_rename($name, 'g'),
        fn () => bloom_copy($name, 'g'),
        fn () => bloom_load($name, ['x']),
        fn () => bloom_load_file($name, scratch()),
        fn () => bloom_reserve($name, 10, expansion: 0),
        fn () => bloom_insert($name, ['a']),
        fn () => bloom_remove($name, 'a'),
        fn () => bloom_merge($name, 'f'),
        fn () => bloom_merge($name),
        fn () => bloom_restore($name, scratch('.dump')),
    );
}
// What changes no filter works: counts, and dumps.
var_dump(bloom_count('counting', 'c'), bloom_dump('f', scratch('.copy')) === filesize(scratch('.dump')));
// A bad argument is one all the same.
show_thrown(fn () => bloom_add('', 'x'), fn () => bloom_reserve('f', 0, expansion: 0));
$writer->say('go on');
check_same('more', $writer->hear(), 'the writer');
var_dump(bloom_maybe_has('f', 'later'), bloom_maybe_has('f', 'x'), bloom_list(), bloom_maybe_has('missing', 'x'));
var_dump(bloom_status()['available']);
$writer->end();
done();
?>
--EXPECTF--
bool(true)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
array(2) {
  [0]=>
  string(8) "counting"
  [1]=>
  string(1) "f"
}
bool(true)
int(1)
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
BloomShm\Exception READ_ONLY: %sbloomshm.readonly%S
int(2)
bool(true)
ValueError: bloom_add(): Argument #1 ($filter) %s
ValueError: bloom_reserve(): Argument #2 ($capacity) %s
bool(true)
bool(false)
array(3) {
  [0]=>
  string(8) "counting"
  [1]=>
  string(1) "f"
  [2]=>
  string(1) "g"
}
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
