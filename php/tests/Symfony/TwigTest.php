<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Symfony\BloomShmAdapter;
use BloomShm\Tests\Symfony\Fixture\Child;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Twig\Environment;
use Twig\Extra\Cache\CacheExtension;
use Twig\Extra\Cache\CacheRuntime;
use Twig\Loader\ArrayLoader;
use Twig\RuntimeLoader\FactoryRuntimeLoader;
use Twig\TwigFunction;

/**
 * Twig's {% cache %} with a pool. Debian's package has the extension; Composer's registry lacks it.
 */
final class TwigTest extends TestCase
{
    private const TEMPLATE = <<<'TWIG'
        {% cache "teaser;" ~ id ttl(100) tags(["teasers"]) %}<b>{{ ask(id) }}</b>{% endcache %}
        TWIG;

    protected function setUp(): void
    {
        \bloom_cache_clear();
    }

    #[Group('disabled')]
    public function testAPieceOfATemplate(): void
    {
        self::assertSame('<b>1 &amp; a</b>', $this->render(1, 'a'));
    }

    public function testAPieceIsKeptUntilItsTagIsInvalid(): void
    {
        self::assertSame('<b>1 &amp; a</b>', $this->render(1, 'a'));
        self::assertSame('<b>1 &amp; a</b>', $this->render(1, 'b'));
        self::assertSame('<b>2 &amp; b</b>', $this->render(2, 'b'));
        self::pool()->invalidateTags(['teasers']);
        self::assertSame('<b>1 &amp; c</b>', $this->render(1, 'c'));
    }

    #[Group('extension')]
    public function testTwoProcesses(): void
    {
        $work = function (string $process): array {
            $pieces = [];
            for ($i = 0; $i < 200; $i++) {
                $pieces[$i] = $this->render($i % 10, $process);
            }
            return \array_values(\array_unique($pieces));
        };
        $child = Child::run(static fn(): array => $work('a'));
        $pieces = $work('a');

        self::assertCount(10, $pieces);
        self::assertSame($pieces, $child->result());
        self::assertSame('<b>3 &amp; a</b>', $this->render(3, 'b'));
    }

    private static function pool(): TagAwareAdapter
    {
        return new TagAwareAdapter(new BloomShmAdapter('twig'));
    }

    private function render(int $id, string $answer): string
    {
        $twig = new Environment(new ArrayLoader(['teaser' => self::TEMPLATE]));
        $twig->addExtension(new CacheExtension());
        $twig->addRuntimeLoader(new FactoryRuntimeLoader([
            CacheRuntime::class => static fn(): CacheRuntime => new CacheRuntime(self::pool()),
        ]));
        $ask = static fn(int $id): string => "$id & $answer";
        $twig->addFunction(new TwigFunction('ask', $ask));
        return \trim($twig->render('teaser', ['id' => $id]));
    }
}
