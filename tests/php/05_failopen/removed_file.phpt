--TEST--
The file removed under attached processes: they notice, say so, and go over to the next one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/removed_file.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** Until it is so, or for a minute: how soon is measured in time, not in calls. */
function within_a_minute(callable $is): bool
{
    for ($deadline = hrtime(true) + 60 * 10 ** 9; !$is(); ) {
        if (hrtime(true) > $deadline) {
            return false;
        }
    }
    return true;
}

bloom_load('f', ['a']);
bloom_cache_set('r', 'old');
unlink(segment());
// Nothing but questions: one of them looks.
var_dump(within_a_minute(fn () => bloom_maybe_has('f', 'x')));
// What is added or removed by those who begin now would not be seen in the old file: it is not believed.
var_dump(bloom_maybe_has('f', 'a'), bloom_cache_get('r', 'gone'), bloom_add('f', 'b'), bloom_list(), bloom_drop('f'));
['available' => $available, 'reason' => $reason] = bloom_status();
var_dump($available, $reason === bloom_verify()[0]);
echo $reason, "\n";
var_dump(file_exists(segment()));
// The next one is found at once.
echo Child::run('bloom_load("f", ["b"]); bloom_cache_set("r", "new");');
var_dump(bloom_maybe_has('f', 'b'), bloom_maybe_has('f', 'a'), bloom_cache_get('r'), bloom_status()['reason'], bloom_verify());

// Removed and made again between two questions.
unlink(segment());
echo Child::run('bloom_load("f", ["c"]); bloom_cache_set("r", "newest");');
var_dump(within_a_minute(fn () => bloom_maybe_has('f', 'c')), bloom_maybe_has('f', 'b'), bloom_cache_get('r'));
unlink(segment());
echo Child::run('bloom_load("f", ["d"]);');
var_dump(within_a_minute(fn () => bloom_cache_get('r') === null), bloom_maybe_has('f', 'd'));
// Those who tell, or publish for others, look in any case.
unlink(segment());
var_dump(bloom_status()['available'], bloom_load('f', ['e'])['keys'], bloom_status()['available']);
unlink(segment());
echo Child::run('bloom_load("g", ["e"]);');
var_dump(bloom_verify(), bloom_load('f', ['f'])['keys'], bloom_list());
done();
?>
--EXPECTF--
bool(true)
bool(true)
string(4) "gone"
bool(false)
array(0) {
}
bool(false)
bool(false)
bool(true)
no segment yet at %sremoved_file.seg: the file that this process was attached to was removed or renamed, or lies outside of the root folder; the first call that stores something creates it
bool(false)
bool(true)
bool(false)
string(3) "new"
NULL
array(0) {
}
bool(true)
bool(false)
string(6) "newest"
bool(true)
bool(true)
bool(false)
int(1)
bool(true)
array(0) {
}
int(1)
array(2) {
  [0]=>
  string(1) "f"
  [1]=>
  string(1) "g"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
