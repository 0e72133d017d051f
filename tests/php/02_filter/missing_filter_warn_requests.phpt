--TEST--
bloomshm.missing_filter=warn warns again in the next request
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/missing_filter_warn_requests.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=warn
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch('.php'), "<?php bloom_maybe_has('missing', 'a'); bloom_maybe_has('missing', 'b'); echo \"\\n\";");
echo Child::run('', command: [...Child::php(), '--repeat', '2', '-f', scratch('.php')]);
?>
--EXPECTF--
Executing for the first time...

Warning: bloom_maybe_has(): %smissing%s in %s on line 1

Finished execution, repeating...

Warning: bloom_maybe_has(): %smissing%s in %s on line 1
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
