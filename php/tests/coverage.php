<?php

declare(strict_types=1);

/*
 * Names the lines of the library that no test has run, in whatever mode, and exits with 1 if there
 * are any: coverage.php FILE..., with files of PHPUnit's --coverage-php.
 */

use SebastianBergmann\CodeCoverage\CodeCoverage;

require __DIR__ . '/bootstrap.php';

$merged = null;
foreach (array_slice($argv, 1) as $file) {
    $coverage = require $file;
    assert($coverage instanceof CodeCoverage);
    $merged?->merge($coverage);
    $merged ??= $coverage;
}
$files = 0;
$lines = 0;
$missing = 0;
foreach ($merged?->getData()->lineCoverage() ?? [] as $file => $tests) {
    $executable = array_filter($tests, is_array(...));
    $uncovered = array_keys(array_filter($executable, static fn(array $by): bool => $by === []));
    $files++;
    $lines += count($executable);
    $missing += count($uncovered);
    foreach ($uncovered as $line) {
        printf("%s:%d: no test runs it\n", $file, $line);
    }
}
printf("%d of %d lines in %d files\n", $lines - $missing, $lines, $files);
exit((int) ($missing > 0 || $lines === 0));
