<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

use Doctrine\ORM\Mapping\Column;
use Doctrine\ORM\Mapping\Entity;
use Doctrine\ORM\Mapping\Id;

#[Entity]
class Article
{
    #[Id]
    #[Column]
    public int $id;

    #[Column]
    public string $title;

    public function __construct(int $id, string $title)
    {
        $this->id = $id;
        $this->title = $title;
    }
}
