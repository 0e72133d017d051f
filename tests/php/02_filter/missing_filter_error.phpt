--TEST--
A bloomshm.missing_filter that is none of the three still answers maybe
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/missing_filter_error.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=nonsense
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(@bloom_maybe_has('missing', 'a'));
?>
--EXPECTF--
%Abool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
