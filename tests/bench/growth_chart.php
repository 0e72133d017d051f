<?php

declare(strict_types=1);

/*
 * growth_chart.php - bits a key while a filter grows: measured for the product, computed for its
 * peers.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class GrowthChart
{
    private const WIDTH = 800;
    private const HEIGHT = 420;
    private const LEFT = 70;
    private const RIGHT = 590;
    private const TOP = 74;
    private const BOTTOM = 370;
    private const MOST_BITS = 200;
    private const COLOURS = ['#9c6644', '#a3b1bf', '#7b8794', '#cbb26a'];

    public function __construct(private Figures $figures)
    {
    }

    public function svg(): string
    {
        [$width, $height] = [self::WIDTH, self::HEIGHT];
        $own = [];
        foreach ($this->sizes() as $keys) {
            $own[$keys] = 8 * $this->figures->of("growth/bytes_$keys")[0] / $keys;
        }
        $curves = [];
        foreach (growing_peers() as $i => $peer) {
            $points = [];
            foreach ($this->sizes() as $keys) {
                $points[$keys] = 8 * $peer->bytes($keys) / $keys;
            }
            $curves[] = [$peer->name, $points, self::COLOURS[$i], 1.5];
        }
        $curves[] = ['bloomshm (measured)', $own, '#0b7285', 3];
        $lines = $this->lines($curves);
        return <<<SVG
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height"
                width="$width" height="$height"
                font-family="system-ui, sans-serif" font-size="13" fill="#1f2933" role="img">
            <title>Bits a key of a filter that grows from 100 keys at 1 %</title>
            <rect width="$width" height="$height" fill="#ffffff"/>
            <text x="20" y="28" font-size="17" font-weight="600">Memory of a filter that grows from
                100 keys at 1 %</text>
            <text x="20" y="50" fill="#52606d">Bits a key at each doubling, with the newest layer as
                full as it then is; the peers by their own formulas.</text>
            {$this->axes()}{$lines}</svg>

            SVG;
    }

    /** @return list<int> */
    private function sizes(): array
    {
        $sizes = [];
        foreach (array_keys($this->figures->all()) as $name) {
            if (preg_match('~^growth/bytes_(\d+)$~', $name, $match) === 1) {
                $sizes[] = (int) $match[1];
            }
        }
        return $sizes;
    }

    private function x(int $keys): float
    {
        $sizes = $this->sizes();
        $share = log($keys / $sizes[0]) / log(end($sizes) / $sizes[0]);
        return round(self::LEFT + $share * (self::RIGHT - self::LEFT), 1);
    }

    /** Logarithmic too, from 10 bits a key on. */
    private function y(float $bits): float
    {
        $share = log(max(10, $bits) / 10) / log(self::MOST_BITS / 10);
        return round(self::BOTTOM - $share * (self::BOTTOM - self::TOP), 1);
    }

    private function axes(): string
    {
        $axes = '';
        [$left, $right, $bottom] = [self::LEFT, self::RIGHT, self::BOTTOM];
        foreach ([10, 20, 50, 100, 200] as $bits) {
            $y = $this->y($bits);
            $text_y = $y + 4.5;
            $label_x = $left - 8;
            $axes .= "<line x1=\"$left\" y1=\"$y\" x2=\"$right\" y2=\"$y\" stroke=\"#d9dee4\"/>\n"
                . "<text x=\"$label_x\" y=\"$text_y\" text-anchor=\"end\" fill=\"#52606d\">$bits</text>\n";
        }
        foreach ($this->sizes() as $i => $keys) {
            if ($i % 3 === 1) {
                $label = number_format($keys);
                $label_y = $bottom + 20;
                $axes .= "<text x=\"{$this->x($keys)}\" y=\"$label_y\" text-anchor=\"middle\" fill=\"#52606d\">$label</text>\n";
            }
        }
        return $axes;
    }

    /**
     * @param list<array{string, array<int, float>, string, float}> $curves name, keys => bits a
     *     key, colour, width
     */
    private function lines(array $curves): string
    {
        usort($curves, fn (array $a, array $b): int => end($a[1]) <=> end($b[1]));
        $label_y = INF;
        $lines = '';
        foreach ($curves as [$name, $points, $colour, $thick]) {
            $label_y = min($label_y - 16, $this->y(end($points)) + 4.5); // never one over the other
            $lines .= $this->line($name, $points, $colour, $thick, $label_y);
        }
        return $lines;
    }

    /** @param array<int, float> $points keys => bits a key */
    private function line(
        string $name, array $points, string $colour, float $thick, float $label_y,
    ): string
    {
        $path = [];
        foreach ($points as $keys => $bits) {
            $path[] = "{$this->x($keys)},{$this->y($bits)}";
        }
        $label_x = self::RIGHT + 8;
        $value = round(end($points));
        return '<polyline points="' . implode(' ', $path)
            . "\" fill=\"none\" stroke=\"$colour\" stroke-width=\"$thick\"/>\n"
            . "<text x=\"$label_x\" y=\"$label_y\" fill=\"$colour\">$name: $value</text>\n";
    }
}
