<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel;

/**
 * An application of the framework. Its configuration is that of php/README.md, and a pool that
 * outlives the build.
 */
final class App extends Kernel
{
    use MicroKernelTrait;

    public function __construct(private readonly string $folder)
    {
        parent::__construct('prod', false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle()];
    }

    public function getProjectDir(): string
    {
        return $this->folder;
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        $readme = (string) \file_get_contents(__DIR__ . '/../../../README.md');
        [, $section] = \explode("## With Symfony\n", $readme);
        \preg_match_all('/```yaml\n(.*?)```/s', \explode("\n## ", $section)[0], $examples);
        $examples[1][] = <<<'YAML'
            services:
                cache.adapter.kept:
                    parent: cache.adapter.bloomshm
                    arguments: { index_2: null }
            framework:
                cache:
                    pools:
                        kept.cache: { adapter: cache.adapter.kept }
            YAML;
        foreach ($examples[1] as $i => $yaml) {
            \file_put_contents("$this->folder/$i.yaml", $yaml);
            $container->import("$this->folder/$i.yaml");
        }
        $container->extension('framework', [
            'secret' => 'secret',
            'http_method_override' => false,
            'handle_all_throwables' => true,
            'php_errors' => ['log' => false],
            'validation' => ['enabled' => true],
        ]);
        $container->services()
            ->set(Page::class)->autowire()->public()
            ->alias('kept', 'kept.cache')->public();
    }
}
