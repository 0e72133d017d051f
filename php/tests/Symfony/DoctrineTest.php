<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Symfony\BloomShmAdapter;
use BloomShm\Tests\Symfony\Fixture\Article;
use BloomShm\Tests\Symfony\Fixture\Child;
use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\SchemaTool;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

/**
 * Pools for the metadata, the queries and the results of Doctrine ORM.
 */
final class DoctrineTest extends TestCase
{
    private string $database;

    protected function setUp(): void
    {
        \bloom_cache_clear();
        $this->database = \sys_get_temp_dir() . '/bloomshm-orm.' . \getmypid();
        @\unlink($this->database);
        $manager = $this->manager();
        (new SchemaTool($manager))->createSchema($manager->getMetadataFactory()->getAllMetadata());
        $manager->persist(new Article(1, 'Bloom filters'));
        $manager->persist(new Article(2, 'LRU'));
        $manager->flush();
        \bloom_cache_clear();
    }

    protected function tearDown(): void
    {
        \unlink($this->database);
    }

    #[Group('disabled')]
    public function testEntitiesAreFound(): void
    {
        for ($i = 0; $i < 3; $i++) {
            self::assertSame('LRU', $this->manager()->find(Article::class, 2)?->title);
            self::assertSame(['Bloom filters', 'LRU'], $this->titles());
        }
    }

    public function testMetadataQueriesAndResultsAreKept(): void
    {
        self::assertSame(['Bloom filters', 'LRU'], $this->titles());
        foreach (['metadata', 'queries', 'results'] as $namespace) {
            self::assertGreaterThan(0, self::keysWith("$namespace:"), $namespace);
        }

        $this->manager()->getConnection()->executeStatement('DELETE FROM Article');
        self::assertSame(['Bloom filters', 'LRU'], $this->titles()); // the kept result
        (new BloomShmAdapter('results'))->clear();
        self::assertSame([], $this->titles());
        self::assertGreaterThan(0, self::keysWith('metadata:'));
    }

    public function testTwoProcesses(): void
    {
        $work = function (): int {
            $wrong = 0;
            for ($i = 0; $i < 100; $i++) {
                $wrong += (int) ($this->titles() !== ['Bloom filters', 'LRU']);
                if ($i % 10 === 0) {
                    (new BloomShmAdapter(['metadata', 'queries', 'results'][$i / 10 % 3]))->clear();
                }
            }
            return $wrong;
        };
        $child = Child::run($work);

        self::assertSame(0, $work());
        self::assertSame(0, $child->result());
    }

    private function manager(): EntityManager
    {
        $configuration = ORMSetup::createAttributeMetadataConfig([__DIR__ . '/Fixture']);
        if (\PHP_VERSION_ID >= 80400) {
            $configuration->enableNativeLazyObjects(true);
        } else {
            $configuration->setProxyDir(\sys_get_temp_dir());
            $configuration->setProxyNamespace('Proxies');
        }
        $configuration->setMetadataCache(new BloomShmAdapter('metadata'));
        $configuration->setQueryCache(new BloomShmAdapter('queries'));
        $configuration->setResultCache(new BloomShmAdapter('results'));
        $connection = DriverManager::getConnection(
            ['driver' => 'pdo_sqlite', 'path' => $this->database],
        );
        return new EntityManager($connection, $configuration);
    }

    /**
     * @return list<string>
     */
    private function titles(): array
    {
        $dql = 'SELECT a FROM ' . Article::class . ' a ORDER BY a.id';
        $query = $this->manager()->createQuery($dql);
        return \array_map(
            static fn(Article $article): string => $article->title,
            $query->enableResultCache(100, 'titles')->getResult(),
        );
    }

    private static function keysWith(string $prefix): int
    {
        $count = $cursor = 0;
        do {
            $count += \count(\bloom_cache_scan($cursor, 100, $prefix));
        } while ($cursor !== 0);
        return $count;
    }
}
