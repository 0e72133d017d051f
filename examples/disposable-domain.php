<?php

/*
 * Is this address of a throw-away mail service? A sign-up form asks before it sends a mail.
 *
 *     php -d extension=bloomshm -d bloomshm.path=/dev/shm/ex.seg examples/disposable-domain.php
 *
 * Some services take mail for each domain below their own: those are kept as `*.domain`, and the
 * domain of an address is asked for together with the domains above it, in one call.
 */

declare(strict_types=1);

require __DIR__ . '/support.php';

$folder = fetch('disposable-email-domains@1.0.62');
$above = json_decode(file_get_contents("$folder/wildcard.json"));
$keys = json_decode(file_get_contents("$folder/index.json"));
array_push($keys, ...array_map(static fn(string $domain): string => "*.$domain", $above));

// The batch job.
bloom_load('disposable', $keys, error_rate: 0.0001);

// The form. A missing filter would say "maybe" to each address: then none is refused.
function disposable(string $address): bool
{
    $labels = explode('.', strtolower(ltrim((string) strrchr($address, '@'), '@')));
    for ($questions = [implode('.', $labels)]; count($labels) > 1; array_shift($labels)) {
        $questions[] = '*.' . implode('.', $labels);
    }
    return bloom_ready('disposable')
        && in_array(true, bloom_maybe_has_many('disposable', $questions), true);
}
foreach (['me@mailinator.com', 'me@you.33mail.com', 'me@gmail.com', 'me@debian.org'] as $address) {
    echo $address, disposable($address) ? ": please give another address\n" : ": accepted\n";
}
figures('disposable', $keys, array_map(static fn($i) => "shop-$i.example", range(1, 1_000_000)));
