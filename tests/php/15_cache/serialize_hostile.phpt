--TEST--
__serialize() and __unserialize() that call the store on the same key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serialize_hostile.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Hostile
{
    public static ?Closure $serialize = null;
    public static ?Closure $unserialize = null;

    public function __construct(public string $name = '')
    {
    }

    public function __serialize(): array
    {
        self::$serialize && (self::$serialize)();
        return ['name' => $this->name];
    }

    public function __unserialize(array $data): void
    {
        $this->name = $data['name'];
        // Not while it is at it: what it reads may be such an object, too.
        [$call, self::$unserialize] = [self::$unserialize, null];
        $call && $call();
        self::$unserialize = $call;
    }
}

/** What is stored under the key, without user code. */
function stored(string $key): mixed
{
    Hostile::$unserialize = null;
    return bloom_cache_get($key, 'absent');
}

// The set that began first is the one that is stored last.
Hostile::$serialize = fn () => bloom_cache_set('k', 'from inside');
var_dump(bloom_cache_set('k', new Hostile('outside')), stored('k')->name);
bloom_cache_delete('k');
var_dump(bloom_cache_add('k', new Hostile('outside')), stored('k'));
Hostile::$serialize = fn () => bloom_cache_delete('k');
var_dump(bloom_cache_replace('k', new Hostile('outside')), stored('k'));
Hostile::$serialize = fn () => bloom_cache_clear();
bloom_cache_set_many(['k' => 'old', 'l' => 'old']);
var_dump(bloom_cache_set_many(['k' => new Hostile('k'), 'l' => new Hostile('l')]), stored('k')->name, stored('l')->name);
Hostile::$serialize = fn () => bloom_cache_set('k', 'changed');
var_dump(bloom_cache_cas('k', 'changed', new Hostile('swapped')), stored('k')->name);
Hostile::$serialize = function () {
    static $depth = 0;
    if ($depth++ < 50) {
        bloom_cache_set('k', new Hostile("depth $depth"));
    }
};
var_dump(bloom_cache_set('k', new Hostile('outermost')), stored('k')->name);
Hostile::$serialize = null;

// What is read is what was stored, whatever happens to the record meanwhile.
foreach ([
    fn () => bloom_cache_delete('k'),
    fn () => bloom_cache_set('k', str_repeat('x', 5000)),
    fn () => bloom_cache_clear(),
    fn () => bloom_cache_pop_oldest(),
    fn () => bloom_cache_set_many(array_fill_keys(keys('fill ', 2000), str_repeat('y', 1000))),
] as $i => $hostile) {
    bloom_cache_clear();
    bloom_cache_set('k', [new Hostile(str_repeat('n', 3000)), new Hostile('second'), 'third']);
    Hostile::$unserialize = $hostile;
    $got = bloom_cache_get('k');
    check(strlen($got[0]->name) === 3000 && $got[1]->name === 'second' && $got[2] === 'third', "get with $i");

    Hostile::$unserialize = null;
    bloom_cache_set_many(['k' => [new Hostile('first')], 'l' => 'text', 'm' => [new Hostile('third')]]);
    Hostile::$unserialize = $hostile;
    $got = bloom_cache_get_many(['k', 'l', 'm'], 'default');
    check_same(['k', 'l', 'm'], array_keys($got), "get_many with $i");
    check_same('first', $got['k'][0]->name, "get_many with $i");

    $cursor = 0;
    do {
        bloom_cache_scan($cursor, 1);
    } while ($cursor !== 0);
    bloom_cache_pop_oldest();
    check(bloom_verify() === [], "sound after $i");
}
done();
?>
--EXPECT--
bool(true)
string(7) "outside"
bool(false)
string(11) "from inside"
bool(false)
string(6) "absent"
int(2)
string(1) "k"
string(1) "l"
bool(true)
string(7) "swapped"
bool(true)
string(9) "outermost"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
