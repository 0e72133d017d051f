--TEST--
A stale value that is let go: whatever its __unserialize() or __destruct() does, the next one loads it anew
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

$code = <<<'PHP'
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

        public function __destruct()
        {
            at('destruct');
        }
    }

    function stale(string $where): void
    {
        arm($where);
        bloom_cache_remember("$where $GLOBALS[way]", fn () => 'anew');
    }

    function stale_fetched(string $where): void
    {
        arm($where);
        bloom_fetch('shared', "$where $GLOBALS[way]", fn () => 'anew');
    }

    serve([
        'store' => function () {
            foreach (['destruct', 'unserialize'] as $where) {
                foreach (WAYS as $way) {
                    bloom_add('shared', "$where $way");
                    bloom_cache_set("$where $way", new Value(), 1);
                    bloom_fetch('shared', "$where $way", fn () => new Value(), 1);
                }
            }
        },
        'remember, destruct' => fn () => stale('destruct'),
        'remember, unserialize' => fn () => stale('unserialize'),
        'fetch, destruct' => fn () => stale_fetched('destruct'),
        'fetch, unserialize' => fn () => stale_fetched('unserialize'),
    ]);
    PHP;
prepare();
$worker = start_worker($code);
$worker->say('store/-');
wait_ready($worker);
usleep(2_100_000); // until all of them are past their time
$neighbour = start_neighbour();
foreach (['destruct', 'unserialize'] as $where) {
    leave_all($worker, ["remember, $where", "fetch, $where"]);
    foreach (WAYS as $way) {
        // Nobody has a lease: this one loads. While there is one, others take the stale value.
        check_same('mine', bloom_cache_remember("$where $way", fn () => 'mine'), "remember, $where, $way");
        check_same('mine', bloom_fetch('shared', "$where $way", fn () => 'mine'), "fetch, $where, $way");
    }
}
$worker->kill();
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
