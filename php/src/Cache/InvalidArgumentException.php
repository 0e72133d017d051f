<?php

declare(strict_types=1);

namespace BloomShm\Cache;

/**
 * A key or a ttl that PSR-16 does not permit.
 */
final class InvalidArgumentException extends \InvalidArgumentException implements \Psr\SimpleCache\InvalidArgumentException {}
