--TEST--
bloom_cache_remember() and bloom_fetch(): a value that cannot be read any more is loaded anew, expired or not
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_undecodable.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// What another release of the application has stored.
$old = <<<'PHP'
    class Changed { public int $n = 1; }
    class Wakes { public function __wakeup() {} }
    class Ends { public int $n = 1; }
    bloom_load('f', ['Changed', 'Wakes', 'Ends']);
    foreach (['Changed', 'Wakes', 'Ends'] as $class) {
        bloom_cache_set($class, new $class());
        bloom_cache_set("$class, expired", new $class(), 1);
        bloom_fetch('f', $class, fn () => new $class());
    }
    PHP;
echo Child::run($old);
usleep(2_100_000); // until those with a ttl are past it

final class Changed
{
    public array $n = [];
}

final class Wakes
{
    public function __wakeup()
    {
        throw new LogicException('thrown by __wakeup()');
    }
}

final class Ends
{
    public function __construct(public int $n = 2)
    {
    }

    public function __destruct()
    {
        $this->n === 1 && throw new LogicException('thrown by __destruct()');
    }
}

foreach (['Changed', 'Wakes'] as $class) {
    check(str_contains(thrown_by(fn () => bloom_cache_get($class)), 'Error') || $class === 'Wakes', "$class: get throws");
    check_same('anew', bloom_cache_remember($class, fn () => 'anew'), "$class: remember");
    check_same('anew', bloom_cache_get($class), "$class: it is stored");
    check_same('anew', bloom_fetch('f', $class, fn () => 'anew'), "$class: fetch");
    check_same('anew', bloom_fetch('f', $class, fn () => 'not called'), "$class: that is stored, too");
}
foreach (['Changed', 'Wakes', 'Ends'] as $class) {
    check_same('anew', bloom_cache_remember("$class, expired", fn () => 'anew'), "$class, expired: remember");
    check_same('anew', bloom_cache_get("$class, expired"), "$class, expired: it is stored");
}

// Where another loads it, a stale value that cannot be read is none: who asks waits.
echo Child::run('class Wakes { public function __wakeup() {} } bloom_cache_set("Wakes", new Wakes(), 1);');
usleep(2_100_000);
$owner = new Child('bloom_cache_remember("Wakes", function () { echo "loading\n"; fgets(STDIN); return "owner\'s"; });');
check_same('loading', $owner->hear(), 'the owner');
$asker = new Child('class Wakes { public function __wakeup() { echo "read\n"; throw new LogicException(); } }'
    . 'echo bloom_cache_remember("Wakes", fn () => "not called"), "\n";');
check_same('read', $asker->hear(), 'the stale value is looked at');
$owner->say('go on');
check_same("owner's", $asker->hear(), 'what the one who waited gets');
$owner->end();
$asker->end();

// A request that ends as it reads does end.
bloom_cache_set('exit', new Wakes());
echo Child::run('class Wakes { public function __wakeup() { echo "exit\n"; exit; } } bloom_cache_remember("exit", fn () => print("called\n"));');
done();
?>
--EXPECT--
exit
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
