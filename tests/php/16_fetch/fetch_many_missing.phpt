--TEST--
bloom_fetch_many() where the filter is missing, the store is off, or all is disabled
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many_missing.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    $calls = 0;
    $load = function (array $keys) use (&$calls) {
        $calls++;
        echo json_encode($keys), ' ';
        return array_diff_key(array_combine($keys, $keys), ['nothing' => 1]);
    };
    for ($i = 0; $i < 2; $i++) {
        show_thrown(fn () => bloom_fetch_many('missing', ['value', 'x' => 'nothing', 'value'], $load));
    }
    echo json_encode([$calls, bloom_status()['missing_answers'], bloom_list()]), "\n";
    PHP;
foreach (['maybe', 'warn', 'throw'] as $policy) {
    bloom_cache_clear();
    echo "$policy:\n", Child::run($code, ['bloomshm.missing_filter' => $policy, 'html_errors' => '0']);
}
// An error handler that throws, at the only warning: nothing is loaded.
bloom_cache_clear();
echo Child::run('set_error_handler(fn ($no, $text) => throw new ErrorException($text));' . $code, ['bloomshm.missing_filter' => 'warn']);
// A null of a missing filter is not kept when the filter comes.
bloom_load('missing', ['nothing']);
check_same(['found'], bloom_fetch_many('missing', ['nothing'], fn () => ['nothing' => 'found']), 'asked again');

$code = <<<'PHP'
    $calls = 0;
    for ($i = 0; $i < 2; $i++) {
        $got[] = bloom_fetch_many('f', ['a', 'b', 'absent', 'a'], function (array $keys) use (&$calls) {
            $calls++;
            return ['a' => implode(' ', $keys)];
        });
        $got[] = bloom_cache_remember_many(['k', 'k', 'l'], fn (array $keys) => ['k' => implode(' ', $keys)]);
    }
    // asked, denied, found, loaded, confirmed
    echo json_encode([$calls, ...$got, bloom_info('f')['fetches'] ?? null]), "\n";
    PHP;
// Without a record store each call loads.
echo Child::run("bloom_load('f', ['a', 'b', 'c']);" . $code, ['bloomshm.path' => scratch('.off'), 'bloomshm.cache_memory' => '0']);
echo Child::run($code, ['bloomshm.enable' => '0']);
// With bloomshm.readonly records are stored, and nothing is counted.
bloom_load('f', ['a', 'b', 'c']);
echo Child::run($code, ['bloomshm.readonly' => '1']);
done();
?>
--EXPECTF--
maybe:
["value","nothing"] nothing thrown, returned {"0":"value","x":null,"1":"value"}
["nothing"] nothing thrown, returned {"0":"value","x":null,"1":"value"}
[2,4,[]]
warn:

Warning: bloom_fetch_many(): filter "missing" is not published; %s
["value","nothing"] nothing thrown, returned {"0":"value","x":null,"1":"value"}
["nothing"] nothing thrown, returned {"0":"value","x":null,"1":"value"}
[2,4,[]]
throw:
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
[0,6,[]]
ErrorException: bloom_fetch_many(): filter "missing" is not published; %s
["value","nothing"] nothing thrown, returned {"0":"value","x":null,"1":"value"}
[1,6,[]]
[2,["a b",null,null,"a b"],["k l","k l",null],["a b",null,null,"a b"],["k l","k l",null],{"asked":8,"denied":2,"found":2,"loaded":2,"confirmed":2}]
[2,["a b absent",null,null,"a b absent"],["k l","k l",null],["a b absent",null,null,"a b absent"],["k l","k l",null],null]
[1,["a b",null,null,"a b"],["k l","k l",null],["a b",null,null,"a b"],["k l","k l",null],{"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
