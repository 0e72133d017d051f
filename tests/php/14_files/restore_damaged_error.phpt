--TEST--
A file that is cut at any length, longer, or changed in any byte changes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_damaged_error.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('fixed', keys('k', 100), expansion: 0);
bloom_reserve('scalable', 100);
bloom_add_many('scalable', keys('k', 5000));
bloom_reserve('sliding', 100, window: 36_000_000);
bloom_add_many('sliding', keys('k', 100));
bloom_reserve('counting', 100, counting: true);
bloom_add_many('counting', keys('k', 100));
$kinds = ['fixed', 'scalable', 'sliding', 'counting'];
$before = array_map(bloom_info(...), $kinds);
$free = free_bytes();
mt_srand($seed = 14);
echo "seed $seed\n";
foreach ($kinds as $name) {
    $length = bloom_dump($name, scratch());
    $sound = file_get_contents(scratch());
    $file = fopen(scratch(), 'r+');
    $seen = [];
    $try = function (string $what) use ($name, &$seen): void {
        try {
            bloom_restore($name, scratch());
            check(false, "$name: $what was restored");
        } catch (BloomShm\Exception $e) {
            $message = str_replace(scratch(), 'FILE', $e->getMessage());
            $seen[code_name($e->getCode()) . ': ' . preg_replace('/\d+/', 'N', $message)] = true;
        }
    };
    for ($at = 0; $at < $length; $at++) {
        fseek($file, $at);
        fwrite($file, $sound[$at] ^ chr(1 << mt_rand(0, 7)));
        $try("byte $at changed");
        fseek($file, $at);
        fwrite($file, $sound[$at]);
    }
    for ($at = $length - 1; $at >= 0; $at--) {
        ftruncate($file, $at);
        $try("cut to $at");
    }
    fclose($file); // Windows replaces no file that is open
    foreach (["\0", str_repeat("\0", 8192), $sound] as $more) {
        file_put_contents(scratch(), $sound . $more);
        $try(strlen($more) . ' bytes more');
    }
    $messages[$name] = array_keys($seen);
    sort($messages[$name]);
    file_put_contents(scratch(), $sound);
    check_same(true, bloom_restore('restored', scratch()), 'the sound file');
    bloom_drop('restored');
}
foreach ($messages as $name => $of) {
    check_same($messages['fixed'], $of, $name);
}
echo implode("\n", $messages['fixed']), "\n";
check_same($before, array_map(bloom_info(...), $kinds), 'bloom_info()');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECTF--
seed %d
CORRUPT: the file FILE is damaged (checksum)%S
CORRUPT: the file FILE is damaged (header)%S
CORRUPT: the file FILE is damaged (layer)%S
CORRUPT: the file FILE is damaged (trailing bytes)%S
CORRUPT: the file FILE is damaged (truncated)%S
CORRUPT: the file FILE was not made by bloom_dump()
INCOMPATIBLE: the file FILE has the format version N, and this build reads version N
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
