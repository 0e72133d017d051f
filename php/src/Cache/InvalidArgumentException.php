<?php

declare(strict_types=1);

namespace BloomShm\Cache;

use Psr\SimpleCache\InvalidArgumentException as PsrException;

/**
 * A key or a ttl that PSR-16 does not permit.
 */
final class InvalidArgumentException extends \InvalidArgumentException implements PsrException {}
