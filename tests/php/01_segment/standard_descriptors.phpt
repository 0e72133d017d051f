--TEST--
Standard descriptors that are closed: what is printed goes into no file of ours
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/standard_descriptors.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/* Uses every file that there is, printing all the time; tells what went wrong in the file that it is given. */
const WORK = <<<'CODE'
    ignore_user_abort(true);
    $report = scratch('.report');
    foreach ($closed as $stream) {
        fclose($stream);
    }
    $print = fn () => print(str_repeat('printed ', 100));
    $wrong = [];
    $steps = [
        'load' => fn () => (bool) bloom_load('f', keys('k', 100)),
        'set' => fn () => bloom_cache_set('key', 'value'),
        'dump' => fn () => bloom_dump('f', scratch('.dump')) > 0,
        'restore' => fn () => bloom_restore('g', scratch('.dump')) >= 0,
        'cache_dump' => fn () => bloom_cache_dump(scratch('.records')) > 0,
        'cache_restore' => fn () => bloom_cache_restore(scratch('.records')) >= 0,
        'load_file' => fn () => file_put_contents(scratch('.keys'), "a\nb\n") && bloom_load_file('h', scratch('.keys')),
        'answers' => fn () => count_no('f', keys('k', 100)) + count_no('g', keys('k', 100)) + count_no('h', ['a', 'b']) === 0,
        'get' => fn () => bloom_cache_get('key') === 'value',
        'verify' => fn () => bloom_verify() === [],
    ];
    foreach ($steps as $name => $step) {
        try {
            if (!$step()) {
                $wrong[] = "$name: not so";
            }
        } catch (Throwable $e) {
            $wrong[] = "$name: {$e->getMessage()}";
        }
        $print(); /* not before there is a file: PHP gives up printing when it once cannot */
    }
    file_put_contents($report, $wrong === [] ? 'well' : implode("\n", $wrong));
    CODE;

/** @param callable(): void $run */
function expect_well(string $what, callable $run): void
{
    foreach (['creates', 'attaches'] as $how) {
        @unlink(scratch('.report'));
        $run();
        check_same('well', @file_get_contents(scratch('.report')), "$what: $how");
    }
    check_same('[]' . "\n", Child::run('echo json_encode(bloom_verify()), "\n";'), "$what: found by another process");
    unlink(segment());
}

for ($bits = 0; $bits < 8; $bits++) {
    $closed = array_keys(array_filter(['STDIN' => $bits & 1, 'STDOUT' => $bits & 2, 'STDERR' => $bits & 4]));
    $code = '$closed = [' . implode(', ', $closed) . '];' . WORK;
    expect_well('fclose of ' . implode(', ', $closed), fn () => Child::run($code));
}
$code = '$closed = [];' . WORK;
expect_well('closed by the shell', fn () => exec(Child::command($code) . ' <&- >&- 2>&-'));
expect_well('closed by the shell, but one', fn () => exec(Child::command($code) . ' <&- >&-'));
echo "done\n";
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
