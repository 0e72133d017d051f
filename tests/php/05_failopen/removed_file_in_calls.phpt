--TEST--
The file removed while a load, a loader or a fiber is at work: they end with the segment they began with
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/removed_file_in_calls.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** The file is removed, another one made, and it is time to look. */
function replace_file(string $key): void
{
    unlink(segment());
    echo Child::run("bloom_load('f', ['$key']); bloom_cache_set('r', '$key');");
    usleep(1_100_000);
}

/** Asks often enough to look if it may. */
function ask(string $key): int
{
    for ($no = $i = 0; $i < 1000; $i++) {
        $no += !bloom_maybe_has('f', $key);
    }
    return $no;
}

bloom_load('f', ['a']);
bloom_cache_set('r', 'a');
$load = function () {
    yield 'g';
    replace_file('b');
    var_dump(ask('a'), ask('b'), bloom_cache_get('r'), bloom_cache_set('r', 'still'), bloom_cache_get('r'));
    yield 'h';
};
show_thrown(fn () => bloom_load('f', $load()));
var_dump(bloom_cache_get('r'), ask('a'), ask('b'), bloom_list());

var_dump(bloom_cache_remember('loaded', function () {
    replace_file('c');
    return bloom_cache_remember('nested', fn () => bloom_cache_get('r') . ask('b'));
}));
var_dump(bloom_cache_get('loaded'), bloom_cache_get('r'), ask('b'), ask('c'));

$fiber = new Fiber(fn () => bloom_fetch('f', 'c', fn () => Fiber::suspend() . bloom_cache_get('r')));
$fiber->start();
replace_file('d');
// Neither what is gone is denied from, nor is anything put there.
var_dump(ask('c'), bloom_cache_get('r'), ask('d'), bloom_add('f', 'in vain'), bloom_cache_set('r', 'in vain'));
var_dump(bloom_status()['reason']);
show_thrown(fn () => bloom_load('f', ['in vain']));
$fiber->resume('resumed ');
usleep(1_100_000);
ask('x'); // one of them looks
var_dump($fiber->getReturn(), bloom_cache_get('r'), ask('c'), ask('d'));

/** Its value asks while it is read. */
final class Asks
{
    public string $told = '';

    public function __unserialize(array $data): void
    {
        replace_file('e');
        $this->told = bloom_cache_get('r') . ask('d');
    }

    public function __serialize(): array
    {
        return [];
    }
}
bloom_cache_set_many(['first' => new Asks(), 'second' => 'of the same file']);
$got = bloom_cache_get_many(['first', 'second']);
var_dump($got['first']->told, $got['second'], bloom_cache_get('r'), ask('d'));

/** A fiber that is destroyed within a call sees nothing of it on its stack. */
$destroys = function () {
    $fiber = new Fiber(function () {
        try {
            Fiber::suspend();
        } finally {
            var_dump(bloom_cache_get('r'), ask('e'));
        }
    });
    $fiber->start();
    replace_file('f');
    unset($fiber);
    return bloom_cache_get('r') . ask('e');
};
var_dump(bloom_cache_remember('destroys', $destroys), bloom_cache_get('r'), ask('e'), ask('f'));
done();
?>
--EXPECTF--
int(0)
int(1000)
string(1) "a"
bool(true)
string(5) "still"
BloomShm\Exception UNAVAILABLE: %sremoved_file_in_calls.seg was removed or replaced while the filter was published in it; repeat the call
string(1) "b"
int(1000)
int(0)
array(1) {
  [0]=>
  string(1) "f"
}
string(2) "b0"
NULL
string(1) "c"
int(1000)
int(0)
int(0)
NULL
int(0)
bool(false)
bool(false)
string(%d) "%sremoved_file_in_calls.seg was removed or replaced, and a suspended fiber of this process still uses %s"
BloomShm\Exception UNAVAILABLE: %sremoved_file_in_calls.seg was removed or replaced, %s
string(9) "resumed c"
string(1) "d"
int(1000)
int(0)
string(2) "d0"
string(16) "of the same file"
string(1) "e"
int(1000)
string(1) "e"
int(0)
string(2) "e0"
string(1) "f"
int(1000)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
