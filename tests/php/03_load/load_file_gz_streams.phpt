--TEST--
bloom_load_file() of a stream whose name ends in .gz
--EXTENSIONS--
bloomshm
zlib
--INI--
bloomshm.path={PWD}/load_file_gz_streams.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Packed
{
    public $context;
    private string $bytes;

    public function stream_open(string $path): bool
    {
        $this->bytes = gzencode("a\nb\n");
        return true;
    }

    // One byte at a time.
    public function stream_read(int $count): string
    {
        $piece = substr($this->bytes, 0, 1);
        $this->bytes = substr($this->bytes, 1);
        return $piece;
    }

    public function stream_eof(): bool
    {
        return $this->bytes === '';
    }

    public function stream_stat(): array
    {
        return [];
    }
}

stream_wrapper_register('packed', Packed::class);
var_dump(bloom_load_file('f', 'packed://keys.gz')['keys'], count_no('f', ['a', 'b']));
file_put_contents(scratch('.gz'), gzencode("c\nd\n"));
var_dump(bloom_load_file('f', 'file://' . scratch('.gz'))['keys'], count_no('f', ['c', 'd']));
// Unpacked by PHP already.
var_dump(bloom_load_file('f', 'compress.zlib://' . scratch('.gz'))['keys'], count_no('f', ['c', 'd']));
done();
?>
--EXPECT--
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
