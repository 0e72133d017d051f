--TEST--
bloom_cache_restore() adds what is absent, and tells how many
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
bloom_fetch('f', 'a', fn () => 'fetched');
check_same(0, bloom_cache_dump(scratch()), 'records of bloom_fetch() are left out');
check_same(0, bloom_cache_restore(scratch()), 'restore of nothing');
bloom_cache_set_many(['a' => 1, 'b' => [2], 'c' => null]);
bloom_cache_set('d', 4, 100);
var_dump(bloom_cache_dump(scratch()), bloom_cache_restore(scratch()));
bloom_cache_set('a', 'newer');
bloom_cache_delete_many(['b', 'd']);
bloom_cache_set('c', false);
var_dump(bloom_cache_restore(scratch()), bloom_cache_restore(scratch()));
echo json_encode(bloom_cache_get_many(['a', 'b', 'c', 'd'])), "\n";
// A dump replaces an older file, whatever is in it; a longer one leaves nothing of it.
file_put_contents(scratch(), str_repeat('x', 100000));
bloom_cache_clear();
bloom_cache_set('e', 5);
var_dump(bloom_cache_dump(scratch()), bloom_cache_clear(), bloom_cache_restore(scratch()), bloom_cache_get('e'));
done();
?>
--EXPECT--
int(4)
int(0)
int(2)
int(0)
{"a":"newer","b":[2],"c":false,"d":4}
int(1)
int(1)
int(1)
int(5)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
