--TEST--
A request that ends in the __unserialize() of a stale value disturbs no other process
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/left_stale.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/worker.inc';

// An exception is no way out: such a value is none (remember_undecodable.phpt).
const WAYS_OUT = ['exit', 'memory_limit', 'timeout', 'fatal'];

$value = <<<'PHP'
    final class Value
    {
        public function __serialize(): array
        {
            return [];
        }

        public function __unserialize(array $data): void
        {
            at('unserialize');
        }
    }
    PHP;
$code = $value . <<<'PHP'
    serve([
        'remember' => function () {
            arm('unserialize');
            bloom_cache_remember($GLOBALS['way'], fn () => 'not called');
        },
        'fetch' => function () {
            arm('unserialize');
            bloom_fetch('shared', $GLOBALS['way'], fn () => 'not called');
        },
    ]);
    PHP;
prepare();
bloom_add_many('shared', WAYS_OUT);
$ways = '$ways = ' . var_export(WAYS_OUT, true) . ';';
echo Child::run($value . $ways . <<<'PHP'
    foreach ($ways as $way) {
        bloom_cache_set($way, new Value(), 1);
        bloom_fetch('shared', $way, fn () => new Value(), 1);
    }
    PHP);
usleep(2_100_000); // until all of them are past their time
// While this one loads them all, others take the stale value.
$owner = new Child($ways . <<<'PHP'
    function load(array $ways): string
    {
        $way = array_pop($ways);
        if ($way === null) {
            echo "loading\n";
            fgets(STDIN);
            return 'loaded';
        }
        return bloom_cache_remember($way, fn () => bloom_fetch('shared', $way, fn () => load($ways)));
    }
    load($ways);
    PHP);
check_same('loading', $owner->hear(), 'the owner');
$worker = start_worker($code);
$neighbour = start_neighbour();
leave_all($worker, ['remember', 'fetch'], WAYS_OUT);
$worker->kill();
$owner->say('go on');
$owner->end();
foreach (WAYS_OUT as $way) {
    check_same('loaded', bloom_cache_get($way), "remember, $way");
    check_same('loaded', bloom_fetch('shared', $way, fn () => 'not called'), "fetch, $way");
}
end_neighbour($neighbour);
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
