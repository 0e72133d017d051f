--TEST--
Loads and loaders in fibers that are suspended when their request ends, however it ends
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/left_fiber.seg
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
    final class Lines
    {
        public $context;
        private int $reads = 0;

        public function stream_open(string $path): bool
        {
            return true;
        }

        public function stream_read(int $count): string
        {
            $this->reads++ > 0 && Fiber::suspend();
            return substr(gzencode(random_bytes(5000)), 0, 4000);
        }

        public function stream_eof(): bool
        {
            return false;
        }

        public function stream_stat(): array
        {
            return [];
        }
    }

    /** Leaves the request while the call is suspended. */
    function suspended(callable $call): void
    {
        $GLOBALS['fiber'] = new Fiber($call);
        $GLOBALS['fiber']->start();
        leave();
    }

    function suspending_keys(int $count): Generator
    {
        yield from keys('never ', $count);
        Fiber::suspend();
        yield 'never';
    }

    stream_wrapper_register('lines', Lines::class);
    serve([
        'remember' => fn () => suspended(fn () => bloom_cache_remember('k', Fiber::suspend(...))),
        'remember, nested' => fn () => suspended(
            fn () => bloom_cache_remember('k', fn () => bloom_cache_remember('inner', Fiber::suspend(...)))
        ),
        'fetch' => fn () => suspended(fn () => bloom_fetch('shared', 'k', Fiber::suspend(...))),
        'remember_many' => fn () => suspended(fn () => bloom_cache_remember_many(['k', 'x', 'inner'], Fiber::suspend(...))),
        'fetch_many' => fn () => suspended(fn () => bloom_fetch_many('shared', ['stands', 'k'], Fiber::suspend(...))),
        'load' => fn () => suspended(fn () => bloom_load('shared', suspending_keys(2000))),
        'load, capacity' => fn () => suspended(fn () => bloom_load('shared', suspending_keys(20000), capacity: 40000)),
        'load_file' => fn () => suspended(fn () => bloom_load_file('shared', 'lines://x.gz')),
        'add_many' => fn () => suspended(fn () => bloom_add_many('shared', suspending_keys(2000))),
        'insert' => fn () => suspended(fn () => bloom_insert('new', suspending_keys(2000))),
        'load in a fiber in a load' => fn () => bloom_load('shared', (function () {
            yield 'never';
            suspended(fn () => bloom_load('shared', suspending_keys(10)));
        })()),
    ]);
    PHP;
preg_match_all("/^ {4}'(.*)' => fn/m", $code, $places);
check_same(11, count($places[1]), 'places');
prepare();
$neighbour = start_neighbour();
$worker = start_worker($code);
leave_all($worker, $places[1]);
// As many loads as can run at once have been left, and more.
for ($i = 0; $i < 70; $i++) {
    $worker->say('load/memory_limit');
    wait_ready($worker);
}
all_is_well('70 loads');
check_same(1, bloom_load('last', ['a'])['keys'], 'another load');
bloom_drop('last');
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
