--TEST--
bloom_load_file() of any PHP stream
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_streams.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Lines
{
    public $context;
    private int $at = 0;

    public function stream_open(string $path): bool
    {
        return true;
    }

    // One byte at a time, or odd pieces: what a read gives has nothing to do with lines.
    public function stream_read(int $count): string
    {
        $piece = substr("one\r\ntwo\nthree\r\n\r\nfour", $this->at, 1 + $this->at % 3);
        $this->at += strlen($piece);
        return $piece;
    }

    public function stream_eof(): bool
    {
        return $this->at >= 22;
    }

    public function stream_stat(): array
    {
        return [];
    }
}

stream_wrapper_register('lines', Lines::class);
var_dump(bloom_load_file('f', 'lines://')['keys'], count_no('f', ['one', 'two', 'three', 'four']), bloom_maybe_has('f', 'five'));
var_dump(bloom_load_file('f', 'data:text/plain,a%0Ab')['keys'], count_no('f', ['a', 'b']));
file_put_contents(scratch(), "c\nd\n");
var_dump(bloom_load_file('f', 'file://' . scratch())['keys'], count_no('f', ['c', 'd']));
chdir(__DIR__);
var_dump(bloom_load_file('f', basename(scratch()))['keys'], count_no('f', ['c', 'd']));
var_dump(bloom_load_file('f', 'php://filter/read=string.toupper/resource=' . scratch())['keys'], count_no('f', ['C', 'D']));
done();
?>
--EXPECT--
int(4)
int(0)
bool(false)
int(2)
int(0)
int(2)
int(0)
int(2)
int(0)
int(2)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
