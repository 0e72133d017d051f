--TEST--
A segment of our own that others may write, though bloomshm.mode does not say so, is refused
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/wide_mode.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["a"]);');
chmod(segment(), 0666);
echo Child::run('var_dump(bloom_maybe_has("f", "absent"), bloom_status()["available"]); show_thrown(fn () => bloom_reserve("g", 10, expansion: 0));');
// With the mode set back all is there again.
chmod(segment(), 0600);
var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'absent'));
done();
?>
--EXPECTF--
bool(true)
bool(false)
BloomShm\Exception UNAVAILABLE: %s
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
