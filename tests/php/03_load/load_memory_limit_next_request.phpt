--TEST--
A load cut off by memory_limit does not hold its memory in the requests that follow
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_memory_limit_next_request.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
file_put_contents(scratch('.php'), <<<'PHP'
    <?php
    // The first request leaves this file, the second finds it.
    $flag = preg_replace('/\.php$/', '.flag', __FILE__);
    if (!file_exists($flag)) {
        touch($flag);
        bloom_load('f', (function () {
            for ($i = 0; $i < 20000; $i++) {
                yield "k$i";
            }
            $all = str_repeat('x', 1 << 30);
        })(), capacity: 50000);
    }
    var_dump(bloom_maybe_has('f', 'old'), bloom_maybe_has('f', 'k1'), bloom_verify());
    bloom_reserve('all', 700000, expansion: 0);
    var_dump(bloom_drop('all'), bloom_load('f', ['next'])['keys']);
    PHP);
$free = free_bytes();
echo Child::run('', command: [...Child::php(['memory_limit' => '64M']), '--repeat', '2', '-f', scratch('.php')]);
var_dump(free_bytes() === $free);
done();
?>
--EXPECTF--
%AFatal error: Allowed memory size %a
Finished execution, repeating...
bool(true)
bool(false)
array(0) {
}
bool(true)
int(1)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
