--TEST--
bloom_cache_remember() and bloom_fetch(): all processes that waited for a value that cannot be stored load at once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_unstored.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

const WAITERS = 5;
const ALL = 'LLLLLL'; // the owner, and they

bloom_load('f', ['k']);
$calls = [
    'too large' => ['bloom_cache_remember', '"k"', 'str_repeat("x", 2 << 20)'],
    'fetch, too large' => ['bloom_fetch', '"f", "k"', 'str_repeat("x", 2 << 20)'],
    'fetch, null without a filter' => ['bloom_fetch', '"none", "k"', 'null'],
    'not to be serialized' => ['bloom_cache_remember', '"k"', 'fn () => 1'],
];
foreach ($calls as $name => [$function, $arguments, $value]) {
    // On a busy machine they may be slower than the time of one who waits: then again.
    for ($tries = 0, $loading = null; $loading !== ALL && $tries < 5; $tries++) {
        bloom_cache_clear();
        $code = fn (string $who) => <<<PHP
            echo "here\n";
            fgets(STDIN);
            try {
                $function($arguments, function () {
                    bloom_cache_append('loading', '$who');
                    echo "loading\n";
                    fgets(STDIN);
                    return $value;
                });
            } catch (BloomShm\Exception \$e) {
                // The value is returned, unless it is none that could be.
            }
            PHP;
        $children = [];
        for ($i = 0; $i <= WAITERS; $i++) {
            $children[$i] = new Child($code('L'));
            check_same('here', $children[$i]->hear(), "$name: child $i");
        }
        $owner = array_shift($children);
        $owner->say('go');
        check_same('loading', $owner->hear(), "$name: the owner");
        // A process waits its full time for a key whose loader does not come back.
        $slow = new Child('bloom_cache_remember("slow", function () { echo "loading\n"; fgets(STDIN); });');
        check_same('loading', $slow->hear(), "$name: the slow one");
        $control = new Child('echo "here\n"; bloom_cache_remember("slow", fn () => bloom_cache_append("loading", "C"));');
        check_same('here', $control->hear(), "$name: the control");
        usleep(300_000); // its time is up before theirs
        foreach ($children as $child) {
            $child->say('go');
        }
        usleep(100_000 << $tries); // until most of them wait
        $owner->say('return');
        $owner->end();
        foreach ($children as $i => $child) {
            check_same('loading', $child->hear(), "$name: waiter $i");
        }
        $loading = bloom_cache_get('loading');
        foreach ($children as $child) {
            $child->say('return');
            $child->end();
        }
        $slow->say('return');
        $slow->end();
        $control->end();
    }
    check_same(ALL, $loading, "$name: before the time of one who waits is up");
}

// A loader that throws says nothing of the value: one after the other.
bloom_cache_clear();
$code = 'echo "here\n"; fgets(STDIN); try { bloom_cache_remember("thrown", function () {'
    . 'bloom_cache_increment("now") > 1 && print("two at a time\n"); usleep(20_000); bloom_cache_decrement("now");'
    . 'throw new LogicException(); }); } catch (LogicException) { echo "thrown\n"; }';
$children = [];
for ($i = 0; $i < WAITERS; $i++) {
    $children[$i] = new Child($code);
    $children[$i]->hear();
}
array_walk($children, fn ($child) => $child->say('go'));
foreach ($children as $i => $child) {
    check_same("thrown\n", $child->end(), "a loader that throws: child $i");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
