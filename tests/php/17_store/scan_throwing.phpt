--TEST--
bloom_cache_scan() where unserializing throws: who goes on behind it comes to the end
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_throwing.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Broken
{
    public function __wakeup(): void
    {
        throw new DomainException('cannot be');
    }
}
for ($i = 0; $i < 1000; $i++) {
    bloom_cache_set("key $i", $i % 100 === 50 ? new Broken() : $i);
}
$cursor = 0;
$seen = [];
$thrown = 0;
$calls = 0;
do {
    try {
        $seen += bloom_cache_scan($cursor, 1);
    } catch (DomainException $e) {
        check_same('cannot be', $e->getMessage(), 'message');
        $thrown++;
    }
} while ($cursor !== 0 && ++$calls < 10000);
check_same(0, $cursor, 'it ended');
check($thrown > 0 && $thrown <= 10, "$thrown threw");
check(count($seen) > 300, count($seen) . ' seen');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
