--TEST--
A stream that throws, fails or loads in turn in the middle of bloom_load_file()
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_streams_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Lines
{
    public $context;
    public static ?Closure $act = null;
    private int $reads = 0;

    public function stream_open(string $path): bool
    {
        return true;
    }

    public function stream_read(int $count): string|false
    {
        if (++$this->reads === 5) {
            return (self::$act)();
        }
        return $this->reads > 9 ? '' : implode("\n", keys("read $this->reads: ", 100)) . "\n";
    }

    public function stream_eof(): bool
    {
        return $this->reads > 9;
    }

    public function stream_stat(): array
    {
        return [];
    }
}

stream_wrapper_register('lines', Lines::class);
bloom_load('f', ['stands']);
$free = free_bytes();

Lines::$act = fn () => throw new LogicException('in stream_read()');
show_thrown(fn () => @bloom_load_file('f', 'lines://'));
var_dump(bloom_maybe_has_many('f', ['stands', 'read 1: 1']) === [true, false], free_bytes() === $free);

Lines::$act = function () {
    bloom_load('f', ['of the inner']);
    bloom_load('g', ['of the inner']);
    bloom_add('f', 'added');
    return "from the act\n";
};
bloom_load_file('f', 'lines://', seed: 'fixed');
var_dump(count_no('f', ['read 1: 1', 'read 9: 99', 'from the act', 'added']), bloom_maybe_has('f', 'of the inner'));
var_dump(bloom_maybe_has('g', 'of the inner'));
done();
?>
--EXPECT--
LogicException: in stream_read()
bool(true)
bool(true)
int(0)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
