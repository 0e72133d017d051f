--TEST--
What is too large: a set gives false and removes the older value; add, replace and cas change nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/refused.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Key and value together may be a quarter of the store.
$limit = 1 << 20;
$huge = str_repeat('x', $limit);
$rejected = bloom_cache_info()['rejected'];
bloom_cache_set_many(['set' => 'old', 'replace' => 'old', 'cas' => 'old', 'many' => 'old', 'add' => 'old']);
var_dump(bloom_cache_set('set', $huge), bloom_cache_get('set', 'gone'), bloom_cache_set('set', $huge), bloom_cache_has('set'));
var_dump(bloom_cache_add('new', $huge), bloom_cache_has('new'), bloom_cache_add('add', $huge), bloom_cache_get('add'));
var_dump(bloom_cache_replace('replace', $huge), bloom_cache_get('replace'));
var_dump(bloom_cache_cas('cas', 'old', $huge), bloom_cache_get('cas'), bloom_cache_cas('new', null, $huge), bloom_cache_has('new'));
// The others of a list are stored.
var_dump(bloom_cache_set_many(['a' => 1, 'many' => $huge, 'b' => 2, 'new' => $huge, 'c' => 3]));
echo json_encode(bloom_cache_get_many(['a', 'many', 'b', 'new', 'c'])), "\n";
// set twice, add of what is absent, replace, cas twice, two of the list.
check_same(8, bloom_cache_info()['rejected'] - $rejected, 'rejected');
// Serialized values count by their bytes.
var_dump(bloom_cache_set('a', [$huge]), bloom_cache_has('a'));
done();
?>
--EXPECT--
bool(false)
string(4) "gone"
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
string(3) "old"
bool(false)
string(3) "old"
bool(false)
string(3) "old"
bool(false)
bool(false)
int(3)
{"a":1,"many":null,"b":2,"new":null,"c":3}
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
