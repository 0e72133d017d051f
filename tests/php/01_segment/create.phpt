--TEST--
The segment is created at first use: private, of its full size, nothing else on disk
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/create.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$here = fn () => array_values(array_filter(scandir(__DIR__), fn ($entry) => str_contains($entry, 'create.seg')));

check_same([], array_values(preg_grep('/^\.?create\.seg/', $here())), 'files before the first use');
bloom_reserve('f', 100, expansion: 0);
check_same(['create.seg'], array_values(preg_grep('/^\.?create\.seg/', $here())), 'files after it');

$stat = stat(segment());
printf("%o\n", $stat['mode']);
check($stat['size'] >= 1 << 20, 'the file holds the memory that was asked for');
check($stat['blocks'] * 512 >= 1 << 20, 'and all of it is reserved on disk');
done();
?>
--EXPECT--
100600
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
