<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

use BloomShm\Exception;

/**
 * An array or object as text: a record holds no object of the caller.
 *
 * @internal
 */
final readonly class Packed
{
    public string $text;

    /**
     * @param array<mixed>|object $value
     */
    public function __construct(array|object $value)
    {
        $this->text = \serialize($value);
        $levels = (int) \ini_get('unserialize_max_depth');
        // A level takes ten bytes at least: "a:1:{i:0;" and "}".
        if ($levels > 0 && \strlen($this->text) > 10 * $levels && !$this->isReadable()) {
            Status::fail(Exception::INCOMPATIBLE, \sprintf(
                'a value of type %s cannot be stored: it goes deeper than unserialize() follows, '
                    . '%d levels; the limit is unserialize_max_depth',
                Arguments::type($value),
                $levels,
            ));
        }
    }

    /** Runs no code of a class. */
    private function isReadable(): bool
    {
        return @\unserialize($this->text, ['allowed_classes' => false]) !== false;
    }
}
