<?php

declare(strict_types=1);

/*
 * first_call.php - a new PHP process asks its first question: attach and answer, in
 * microseconds. Nothing is loaded before that call that a page would not have loaded.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

hrtime(true);
$start = hrtime(true);
$maybe = bloom_maybe_has('articles', 'tag:00000001');
$taken = hrtime(true) - $start;

if (bloom_maybe_has('articles', 'non:00000001') && bloom_maybe_has('articles', 'non:00000002')) {
    fwrite(STDERR, "the filter 'articles' is not there\n");
    exit(1);
}
echo json_encode(['microseconds' => $taken / 1000]), "\n";
