<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

/**
 * A value that is stored.
 *
 * @internal
 */
final readonly class Record
{
    /**
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

    /**
     * The value; what its class throws passes through.
     *
     * @param-out mixed $value
     * @return bool false: it cannot be read.
     */
    public function read(mixed &$value): bool
    {
        $value = $this->stored instanceof Packed
            ? \unserialize($this->stored->text)
            : $this->stored;
        return $value !== false || $this->stored === false;
    }

    /** Is it the same type and bytes? NaN is NaN, and -0.0 is not 0.0. */
    public function holds(Packed|bool|int|float|string|null $stored): bool
    {
        return self::bytes($this->stored) === self::bytes($stored);
    }

    /** serialize() would round a float to serialize_precision. */
    private static function bytes(Packed|bool|int|float|string|null $stored): string
    {
        return \is_float($stored) && !\is_nan($stored)
            ? 'd' . \pack('E', $stored)
            : \serialize($stored);
    }
}
