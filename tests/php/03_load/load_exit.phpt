--TEST--
exit() inside the generator: nothing is published, the memory comes back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_exit.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes();
echo Child::run(<<<'PHP'
    register_shutdown_function(function () {
        echo json_encode([bloom_maybe_has('f', 'old'), bloom_maybe_has('f', 'k1'), bloom_verify()]), "\n";
    });
    bloom_load('f', (function () {
        yield from keys('k', 5000);
        exit("bye\n");
    })());
    PHP);
var_dump(free_bytes() === $free, bloom_maybe_has_many('f', ['old', 'k1']));
done();
?>
--EXPECT--
bye
[true,false,[]]
bool(true)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
