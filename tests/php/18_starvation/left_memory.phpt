--TEST--
Calls that memory_limit cuts off do not leave private memory behind in their worker
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/left_memory.seg
bloomshm.filter_memory=4M
bloomshm.cache_memory=8M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
if (!is_readable('/proc/self/status')) { die('skip needs /proc'); }
?>
--FILE--
<?php
require __DIR__ . '/worker.inc';

$code = <<<'PHP'
    final class Lines
    {
        public $context;

        public function stream_open(string $path): bool
        {
            return true;
        }

        public function stream_read(int $count): string
        {
            static $reads = 0;
            $reads++ > 0 && leave();
            return substr(gzencode(random_bytes(100000)), 0, 8000);
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

    /** Takes all that memory_limit allows, but for less than a step of a scan needs. */
    function fill(): array
    {
        $held = [];
        while (memory_get_usage() < (64 << 20) - 1_500_000) {
            $held[] = str_repeat('x', 65000);
        }
        return $held;
    }

    stream_wrapper_register('lines', Lines::class);
    serve([
        'load' => fn () => bloom_load('f', leaving_keys(100000)),
        'load_file' => fn () => bloom_load_file('f', 'lines://x.gz'),
        'scan' => function () {
            $held = fill();
            $cursor = 0;
            do {
                bloom_cache_scan($cursor, 1000);
            } while ($cursor !== 0);
        },
        'status' => function () {
            preg_match('/VmData:\s*(\d+) kB/', file_get_contents('/proc/self/status'), $kilobytes);
            echo $kilobytes[1], "\n";
        },
    ]);
    PHP;
for ($i = 0; $i < 100; $i++) {
    bloom_cache_set(str_repeat("key $i ", 7000), $i);
}
$worker = start_worker($code);
$kilobytes = function () use ($worker): int {
    $worker->say('status/-');
    return (int) wait_ready($worker)[0];
};
foreach (['load', 'load_file', 'scan'] as $place) {
    for ($i = 0; $i < 5; $i++) {
        $worker->say("$place/memory_limit");
        wait_ready($worker);
    }
    $before = $kilobytes();
    for ($i = 0; $i < 40; $i++) {
        $worker->say("$place/memory_limit");
        check(!in_array('went on', wait_ready($worker), true), "$place: it was cut off");
    }
    $grown = $kilobytes() - $before;
    check($grown < 2500, "$place: $grown kB more after 40 requests");
}
$worker->kill();
check_same([], bloom_list(), 'nothing was published');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
