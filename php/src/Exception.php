<?php

declare(strict_types=1);

namespace BloomShm;

/**
 * A failure outside the calling code; the code is one of the constants. The extension has this
 * class itself. Without it the polyfill throws UNAVAILABLE, INCOMPATIBLE, RANGE and NO_SPACE.
 */
class Exception extends \RuntimeException
{
    public const UNAVAILABLE = 1;
    public const NO_SPACE = 2;
    public const FULL = 3;
    public const EMPTY = 4;
    public const EXISTS = 5;
    public const NOT_FOUND = 6;
    public const INCOMPATIBLE = 7;
    public const ERROR_RATE = 8;
    public const CORRUPT = 9;
    public const RANGE = 10;
    public const READ_ONLY = 11;
    public const TIMEOUT = 12;
    public const IO = 13;
}
