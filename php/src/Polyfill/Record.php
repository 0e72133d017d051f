<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

/**
 * @internal
 */
final readonly class Record
{
    /**
     * @param Packed|scalar|null $stored
     * @param float $expires A unix time, or INF.
     * @param int $bytes Of key and value.
     * @param int $number Grows with every record that is created.
     */
    public function __construct(
        public Packed|bool|int|float|string|null $stored,
        public float $expires,
        public int $bytes,
        public int $number,
    ) {}

    public function value(): mixed
    {
        return $this->stored instanceof Packed ? $this->stored->value() : $this->stored;
    }

    /** The same type and bytes? NaN is NaN, and -0.0 is not 0.0. */
    public function holds(Packed|bool|int|float|string|null $stored): bool
    {
        if ($this->stored instanceof Packed) {
            return $stored instanceof Packed && $stored->text === $this->stored->text;
        }
        return !$stored instanceof Packed && \var_export($this->stored, true) === \var_export($stored, true);
    }
}
