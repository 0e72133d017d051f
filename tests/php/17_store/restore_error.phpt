--TEST--
A file that is cut, longer or changed anywhere, or no dump at all, changes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(['a' => 'text', 'b' => 12345, 'c' => null, 'd' => 1.5]);
bloom_cache_set('e', [1, 2], 1000);
bloom_cache_dump(scratch());
$sound = file_get_contents(scratch());
$length = strlen($sound);
bloom_cache_delete_many(['a', 'c', 'e']);
bloom_cache_set('b', 'mine');
$info = bloom_cache_info();
$try = function (string $what, string $bytes, array $codes = ['CORRUPT']) use ($info): void {
    file_put_contents(scratch(), $bytes);
    try {
        check_same('an exception', bloom_cache_restore(scratch()), $what);
    } catch (BloomShm\Exception $e) {
        check(in_array(code_name($e->getCode()), $codes, true), "$what: " . code_name($e->getCode()) . ': ' . $e->getMessage());
        check(str_contains($e->getMessage(), scratch()), "$what: the message names the file");
    }
    check_same($info, bloom_cache_info(), "$what: bloom_cache_info()");
};
mt_srand($seed = 5);
echo "seed $seed\n";
for ($at = 0; $at < $length; $at++) {
    // Another version is told as such.
    $codes = $at >= 8 && $at < 16 ? ['CORRUPT', 'INCOMPATIBLE'] : ['CORRUPT'];
    $try("byte $at changed", substr_replace($sound, $sound[$at] ^ chr(1 << mt_rand(0, 7)), $at, 1), $codes);
    $try("byte $at inverted", substr_replace($sound, ~$sound[$at], $at, 1), $codes);
}
for ($at = 0; $at < $length; $at += 7) {
    $try("cut to $at", substr($sound, 0, $at));
}
$try('cut by 1', substr($sound, 0, -1));
foreach (["\0", "\xff", 'x', str_repeat("\0", 4096), $sound] as $more) {
    $try(strlen($more) . ' bytes more', $sound . $more);
}
$try('no dump', "This is not a dump.\n" . str_repeat('x', 1000));
$try('zeros', str_repeat("\0", 4096));
bloom_reserve('f', 100);
bloom_dump('f', scratch('.filter'));
$info = bloom_cache_info();
$try('the dump of a filter', file_get_contents(scratch('.filter')));
echo json_encode(bloom_cache_get_many(['a', 'b', 'c', 'd', 'e'])), "\n";
file_put_contents(scratch(), $sound);
var_dump(bloom_cache_restore(scratch()));
// Nor is this the dump of a filter.
echo thrown_by(fn () => bloom_restore('g', scratch())), "\n";
done();
?>
--EXPECTF--
seed %d
{"a":null,"b":"mine","c":null,"d":1.5,"e":null}
int(3)
BloomShm\Exception CORRUPT: %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
