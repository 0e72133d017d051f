--TEST--
Mode 0660: two users of a group work on filters and records at once; another user is refused and disturbs neither
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/group_works.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=2M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to act as several users'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$dir = make_shared_dir(__FILE__);
$ini = ['bloomshm.mode' => '0660', 'bloomshm.path' => "$dir/group.seg"];
echo Child::run_as(12001, 12000, 'bloom_reserve("shared", 20000, expansion: 0); bloom_load("f", ["a"]);', $ini);
$work = <<<'PHP'
    // On a busy machine a writer may give up, after a while in which the others got no processor: again.
    $again = function (callable $call) {
        for (;;) {
            try {
                return $call();
            } catch (BloomShm\Exception $e) {
                check($e->getCode() === BloomShm\Exception::TIMEOUT, $e->getMessage());
            }
        }
    };
    $name = posix_geteuid();
    $wrong = 0;
    echo "here\n";
    fgets(STDIN);
    for ($i = 0; $i < 1000; $i++) {
        $again(fn () => bloom_add('shared', "$name $i"));
        $again(fn () => bloom_cache_increment('count'));
        while (!bloom_cache_set("$name", "$name $i")) {
        }
        $wrong += (int) (bloom_cache_get("$name") !== "$name $i") + count_no('shared', ["$name " . intdiv($i, 2)]);
        if ($i % 100 === 0) {
            $again(fn () => bloom_load('f', ['a', "$name"]));
        }
    }
    echo $wrong, ' ', json_encode(bloom_verify()), "\n";
    PHP;
$members = [];
foreach ([12001 => 12000, 12002 => 12000] as $uid => $gid) {
    $members[] = new Child("posix_setgid($gid); posix_setuid($uid);" . $work, $ini);
}
// The third has the group among others, from its start: it must be able to read these files.
$third = 'setpriv --reuid 12003 --regid 12003 --groups 12000 ';
exec($third . 'test -r ' . escapeshellarg(__DIR__ . '/../helper.inc'), $output, $unreadable);
if ($unreadable === 0) {
    $members[] = new Child('', command: $third . Child::command($work, $ini));
}
foreach ($members as $member) {
    check_same('here', $member->hear(), 'a member');
    $member->say('go');
}
$stranger = <<<'PHP'
    for ($i = 0; $i < 50; $i++) {
        check(bloom_maybe_has('f', "no $i") && !bloom_cache_set('count', 0) && bloom_cache_get('count') === null, 'a stranger');
    }
    show_thrown(fn () => bloom_load('f', ['of the stranger']));
    PHP;
echo Child::run_as(12004, 12004, $stranger, $ini);
// Nor is one who asks for a private segment let into a shared one, for others can write there.
echo Child::run_as(12001, 12000, 'show_thrown(fn () => bloom_load("f", ["private"]));', ['bloomshm.path' => "$dir/group.seg"]);
foreach ($members as $member) {
    check_same('0 []', $member->hear(), 'a member at the end');
    $member->end();
}
echo Child::run_as(12002, 12000, '$members = ' . count($members) . ';' . <<<'PHP'
    check_same($members * 1000, bloom_cache_get('count'), 'count');
    var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'of the stranger'));
    check_same(0, count_no('shared', array_merge(...array_map(fn (int $i) => keys(12000 + $i . ' ', 1000), range(1, $members)))), 'denied');
    check_same([0, 0], [bloom_status()['repairs'], bloom_cache_info()['repairs']], 'repairs');
    done();
    PHP, $ini);
?>
--EXPECTF--
BloomShm\Exception UNAVAILABLE: cannot open %s/group.seg (bloomshm.path): Permission denied; it belongs to uid %d with the mode 0660, and this process runs as uid %d; %s
BloomShm\Exception UNAVAILABLE: %s/group.seg has the mode 0660, which gives access to more users than bloomshm.mode = 0600
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
