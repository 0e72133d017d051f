--TEST--
memory_limit inside the generator: nothing is published, the memory comes back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_memory_limit.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes();
foreach (['null', '50000'] as $capacity) {
    echo Child::run("
        bloom_load('f', (function () {
            yield from keys('k', 5000);
            \$all = str_repeat('x', 1 << 30);
        })(), capacity: $capacity);
        echo 'not reached';
    ", ['memory_limit' => '64M']);
    var_dump(free_bytes() === $free, bloom_maybe_has_many('f', ['old', 'k1']) === [true, false], bloom_verify() === []);
}
// The limit is met at other places of the load; PHP takes memory from the system in pieces of 2 MB.
$limited = 0;
for ($limit = 2 << 20; $limit < 14 << 20; $limit += 1 << 20) {
    $output = Child::run(<<<'PHP'
        bloom_load('f', (function () {
            for ($i = 0; $i < 10000; $i++) {
                $held[] = str_repeat('x', 1000);
                yield "k$i";
            }
        })());
        echo 'loaded';
        PHP, ['memory_limit' => $limit]);
    check_same([], bloom_verify(), 'bloom_verify()');
    if ($output !== 'loaded') {
        check(str_contains($output, 'Allowed memory size'), $output);
        check_same([true, false], bloom_maybe_has_many('f', ['old', 'k1']), "a limit of $limit");
        $limited++;
    }
    bloom_load('f', ['old']);
    check_same($free, free_bytes(), "free bytes after a limit of $limit");
}
check($limited > 2, "a limit was met $limited times");
done();
?>
--EXPECTF--
%AFatal error: Allowed memory size %a
bool(true)
bool(true)
bool(true)
%AFatal error: Allowed memory size %a
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
