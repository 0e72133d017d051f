<?php

declare(strict_types=1);

/**
 * Stands in for symfony/polyfill-php85: functions of PHP 8.5 that the framework calls.
 */

if (!function_exists('array_first')) {
    /**
     * @param array<mixed> $array
     */
    function array_first(array $array): mixed
    {
        foreach ($array as $value) {
            return $value;
        }

        return null;
    }

    /**
     * @param array<mixed> $array
     */
    function array_last(array $array): mixed
    {
        return $array === [] ? null : $array[array_key_last($array)];
    }
}
