--TEST--
Exceptions, exit(), memory_limit, time limit and fatal errors wherever keys, names and lines come from
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/left_keys.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.missing_filter=warn
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/worker.inc';

$code = <<<'PHP'
    /** Lines whose stream leaves at the step that its name begins with. */
    final class Lines
    {
        public $context;
        private string $step;
        private int $reads = 0;

        public function stream_open(string $path): bool
        {
            $this->step = parse_url($path, PHP_URL_HOST);
            $this->step === 'open' && leave();
            return true;
        }

        public function stream_read(int $count): string
        {
            $this->step === 'read' && $this->reads === 3 && leave();
            if ($this->step === 'gz') {
                return $this->reads++ === 0 ? substr(gzencode(random_bytes(5000)), 0, 4000) : leave();
            }
            return $this->reads++ > 5 ? '' : implode("\n", keys("never $this->reads", 200)) . "\n";
        }

        public function stream_eof(): bool
        {
            $this->step === 'eof' && $this->reads === 3 && leave();
            return $this->reads > 5;
        }

        public function stream_stat(): array
        {
            return [];
        }
    }

    final class Dying implements Stringable
    {
        public function __toString(): string
        {
            return 'never dying';
        }

        public function __destruct()
        {
            at('destruct');
        }
    }

    function dying_keys(): Generator
    {
        yield from keys('never ', 10);
        arm('destruct');
        yield new Dying();
        yield from keys('never ', 10);
        throw new LogicException('not left');
    }

    stream_wrapper_register('lines', Lines::class);
    $handler = fn () => set_error_handler(function () {
        leave();
        return true;
    });
    serve([
        'load' => fn () => bloom_load('shared', leaving_keys()),
        'load, capacity' => fn () => bloom_load('shared', leaving_keys(20000), capacity: 40000),
        'load, counting' => fn () => bloom_load('counted', leaving_keys(), counting: true),
        'load, new' => fn () => bloom_load('new', leaving_keys(), expansion: 0),
        'load, nested' => fn () => bloom_load('shared', (function () {
            yield 'never';
            bloom_load('new', leaving_keys());
        })()),
        'load, insert inside' => fn () => bloom_load('shared', (function () {
            yield 'never';
            bloom_insert('shared', leaving_keys());
        })()),
        'load, fetch inside' => fn () => bloom_load('shared', (function () {
            yield 'never';
            bloom_fetch('shared', 'k', leave(...));
        })()),
        'load, text' => fn () => bloom_load('shared', ['never', new Text()]),
        'load, row' => fn () => bloom_load('shared', [['never'], [new Text()]]),
        'load, destructor' => fn () => bloom_load('shared', dying_keys()),
        'add_many' => fn () => bloom_add_many('shared', leaving_keys()),
        'add_many, text' => fn () => bloom_add_many('shared', ['never', new Text()]),
        'add_many, destructor' => fn () => bloom_add_many('shared', dying_keys()),
        'insert' => fn () => bloom_insert('shared', leaving_keys()),
        'insert, new' => fn () => bloom_insert('new', leaving_keys()),
        'insert, text' => fn () => bloom_insert('new', ['never', new Text()]),
        'file, open' => fn () => bloom_load_file('shared', 'lines://open'),
        'file, read' => fn () => bloom_load_file('shared', 'lines://read'),
        'file, eof' => fn () => bloom_load_file('shared', 'lines://eof'),
        'file, gz' => fn () => bloom_load_file('shared', 'lines://gz/x.gz'),
        'add, text' => fn () => bloom_add('shared', new Text()),
        'add, filter' => fn () => bloom_add(new Text(), 'never'),
        'has, text' => fn () => bloom_maybe_has('shared', new Text()),
        'has_many, text' => fn () => bloom_maybe_has_many('shared', ['k', new Text()]),
        'remove, text' => fn () => bloom_remove('counted', new Text()),
        'count, text' => fn () => bloom_count('counted', new Text()),
        'reserve, text' => fn () => bloom_reserve(new Text(), 10),
        'merge, text' => fn () => bloom_merge('shared', new Text()),
        'dump, text' => fn () => bloom_dump('shared', new Text()),
        'restore, text' => fn () => bloom_restore('shared', new Text()),
        'warning, add' => fn () => $handler() || bloom_add('missing', 'k'),
        'warning, add_many' => fn () => $handler() || bloom_add_many('missing', ['k']),
        'warning, has' => fn () => $handler() || bloom_maybe_has('missing', 'k'),
        'warning, has_many' => fn () => $handler() || bloom_maybe_has_many('missing', ['k']),
        'warning, fetch' => fn () => $handler() || bloom_fetch('missing', 'k', fn () => 1),
    ]);
    PHP;
preg_match_all("/^ {4}'(.*)' => fn/m", $code, $places);
check_same(35, count($places[1]), 'places');
prepare();
$neighbour = start_neighbour();
$worker = start_worker($code);
leave_all($worker, $places[1]);
$worker->kill();
end_neighbour($neighbour);
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
