--TEST--
bloom_cache_remember(): memory_limit, exit() and fatal errors in a loader disturb no other process
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_left.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Each child lives on after its request was left: it waits in a shutdown function.
$before = <<<'PHP'
    register_shutdown_function(function () {
        echo "left\n";
        fgets(STDIN);
    });
    ini_set('display_errors', '0');
    ini_set('log_errors', '0');
    PHP;
$ways = [
    'memory_limit' => '$a = str_repeat("x", 1 << 30);',
    'exit' => 'exit(1);',
    'fatal error' => 'eval("function same() {} function same() {}");',
    'user error' => 'trigger_error("fatal", E_USER_ERROR);',
    'nested exit' => 'bloom_cache_remember("inner", fn () => exit(1));',
    'nested memory_limit' => 'bloom_cache_remember("inner", fn () => str_repeat("x", 1 << 30));',
    'nested many, exit' => 'bloom_cache_remember_many(["inner"], fn () => exit(1));',
    'nested many, memory_limit' => 'bloom_cache_remember_many(["inner"], fn () => str_repeat("x", 1 << 30));',
    'exception' => 'throw new LogicException();',
];
foreach ($ways as $name => $way) {
    foreach ([
        'remember' => fn (string $code) => "bloom_cache_remember('k', function () { $code });",
        'fetch' => fn (string $code) => "bloom_fetch('f', 'k', function () { $code });",
        'remember_many' => fn (string $code) => "bloom_cache_remember_many(['k', 'l', 'inner'], function () { $code });",
        'fetch_many' => fn (string $code) => "bloom_fetch_many('f', ['k', 'l'], function () { $code });",
    ] as $function => $call) {
        bloom_cache_clear();
        bloom_load('f', ['k', 'l']);
        $child = new Child($before . $call($way) . 'echo "not reached\n";', ['memory_limit' => '64M']);
        check_same('left', $child->hear(), "$function and $name: the child");
        $at = own_time();
        check_same('mine', bloom_cache_remember('k', fn () => 'mine'), "$function and $name: remember");
        check_same('mine', bloom_cache_remember('inner', fn () => 'mine'), "$function and $name: the inner one");
        check_same('mine', bloom_fetch('f', 'k', fn () => 'mine'), "$function and $name: fetch");
        check_same(['mine', 'mine'], bloom_fetch_many('f', ['k', 'l'], fn () => ['l' => 'mine']), "$function and $name: fetch_many");
        check_same(['mine', 'mine'], bloom_cache_remember_many(['k', 'l'], fn () => ['l' => 'mine']), "$function and $name: remember_many");
        $took = own_time() - $at;
        check($took < 1, "$function and $name: the next took $took s");
        $child->say('end');
        $child->end();
    }
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
