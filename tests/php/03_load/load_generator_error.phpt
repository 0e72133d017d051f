--TEST--
An exception from the generator goes through; the live filter stays, the memory comes back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_generator_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('old ', 100));
$before = bloom_info('f');
$free = free_bytes();
foreach ([0, 1, 5000, 30000] as $count) {
    show_thrown(fn () => bloom_load('f', (function () use ($count) {
        yield from keys('new ', $count);
        throw new LogicException("the query failed after $count rows", 7);
    })()));
    check_same($free, free_bytes(), 'free bytes');
}
// An iterator may fail at each of its steps.
foreach (['rewind', 'valid', 'current', 'next'] as $step) {
    $iterator = new class ($step) implements Iterator {
        public function __construct(private string $step)
        {
        }

        private function at(string $step): void
        {
            $this->step === $step && throw new RuntimeException("in $step()");
        }

        public function rewind(): void
        {
            $this->at('rewind');
        }

        public function valid(): bool
        {
            $this->at('valid');
            return true;
        }

        public function current(): mixed
        {
            $this->at('current');
            return 'a';
        }

        public function key(): mixed
        {
            return 0;
        }

        public function next(): void
        {
            $this->at('next');
        }
    };
    show_thrown(fn () => bloom_load('f', $iterator));
}
check_same($before, bloom_info('f'), 'the filter');
check_same(0, count_no('f', keys('old ', 100)), 'denied');
check_same(0, count_yes('f', keys('new ', 100)), 'not published');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
LogicException: the query failed after 0 rows
LogicException: the query failed after 1 rows
LogicException: the query failed after 5000 rows
LogicException: the query failed after 30000 rows
RuntimeException: in rewind()
RuntimeException: in valid()
RuntimeException: in current()
RuntimeException: in next()
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
