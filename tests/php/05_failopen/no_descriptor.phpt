--TEST--
No descriptor left: the reason is told, and no other
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/no_descriptor.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["a"]); bloom_cache_set("r", 1);');
$code = <<<'PHP'
    while (($file = @fopen('/dev/null', 'r')) !== false) {
        $files[] = $file;
    }
    array_pop($files); // perhaps one is enough
    $left = (int) $argv[1];
    array_splice($files, 0, $left);
    $naps = -getrusage()['ru_nvcsw'];
    $told = [thrown_by(fn () => bloom_load('f', ['b'])), (string) bloom_status()['reason']];
    foreach ($told as $text) {
        check(str_contains($text, 'nothing thrown') || $text === '' || str_contains($text, 'all 40 descriptors'), "$left: $text");
    }
    check($naps + getrusage()['ru_nvcsw'] < 100, 'no call waits');
    $files = [];
    var_dump(bloom_load('f', ['b'])['keys'], bloom_status()['available']);
    PHP;
for ($left = 0; $left < 3; $left++) {
    echo Child::run('', command: 'sh -c ' . escapeshellarg('ulimit -n 40; exec ' . Child::command($code) . " -- $left"));
}
done();
?>
--EXPECT--
int(1)
bool(true)
int(1)
bool(true)
int(1)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
