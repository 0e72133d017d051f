<?php

/*
 * other.php - a page of tests/zts/apache with another bloomshm.path: must not see the filter and
 * the records of the others.
 */

declare(strict_types=1);

bloom_cache_set('page-1', 'of another site');
echo bloom_ready('site') ? 'sees the filter' : 'does not', "\n";
