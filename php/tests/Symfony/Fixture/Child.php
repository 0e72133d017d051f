<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

/**
 * A second process: runs a function, and hands its result over. It ends with this object.
 */
final class Child
{
    /**
     * @param resource $pipe
     */
    private function __construct(public readonly int $pid, private $pipe) {}

    public static function run(callable $work): self
    {
        [$parent, $child] = (array) \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = \pcntl_fork();
        if ($pid === 0) {
            try {
                $result = $work();
            } catch (\Throwable $error) {
                $result = (string) $error;
            }
            \fwrite($child, \serialize($result));
            \posix_kill(\getmypid(), SIGKILL); // PHPUnit's own end is the parent's
        }
        \fclose($child);
        return new self($pid, $parent);
    }

    public function result(): mixed
    {
        return \unserialize((string) \stream_get_contents($this->pipe));
    }

    public function __destruct()
    {
        \posix_kill($this->pid, SIGKILL);
        \pcntl_waitpid($this->pid, $status);
    }
}
