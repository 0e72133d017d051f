<?php

declare(strict_types=1);

/*
 * chart.php - what questions cost, as bars on a logarithmic scale: the product beside its peers,
 * and the kinds of filters beside each other.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Chart
{
    private const WIDTH = 800;
    private const LEFT = 240;   // where the axis begins
    private const TOP = 74;     // the first bar
    private const STEP = 34;    // from bar to bar
    private const THICK = 20;
    private const DECADE = 92;  // pixels from 1 to 10 ns
    private const DECADES = 5;  // 1 ns to 100,000 ns

    private const QUESTIONS = [
        'phpredis GET, unix socket' => 'redis_far/get',
        "pixiv's way on APCu" => 'in_order/pixiv',
        'Yac::get' => 'in_order/yac_get',
        'apcu_exists' => 'in_order/apcu_exists',
        'bloom_maybe_has' => 'in_order/bloom_maybe_has',
        'bloom_maybe_has_many, 20 keys' => 'in_order/bloom_maybe_has_many',
        'str_contains' => 'in_order/str_contains',
    ];

    private const KINDS = [
        'grown to 12 layers, 33 MB' => 'kinds/grown_absent',
        'the same, 20 keys a call' => 'kinds/grown_many',
        'fixed, 33 MB' => 'kinds/as_large_absent',
        'fixed, as many keys, 13 MB' => 'kinds/single_absent',
        'the same, 20 keys a call ' => 'kinds/single_many',
        'sliding' => 'kinds/sliding_absent',
        'counting' => 'kinds/counting_absent',
        'fixed, memory of the sliding one' => 'kinds/plain_absent',
    ];

    /** @param array<string, string> $bars label => figure */
    private function __construct(
        private Figures $figures,
        private array $bars,
        private string $title,
        private string $subtitle,
    ) {
    }

    public static function ofQuestions(Figures $figures): self
    {
        $subtitle = 'Nanoseconds a key, net of the empty loop; 100,000 keys in order. ';
        // Yac may be missing.
        $questions = array_filter(self::QUESTIONS, $figures->has(...));
        return new self($figures, $questions, '"Is this key there?" asked from PHP', $subtitle);
    }

    public static function ofKinds(Figures $figures): self
    {
        $subtitle = 'Nanoseconds a key, net of the loop; 200,000 absent keys, shuffled. ';
        return new self(
            $figures, self::KINDS, 'The same question to each kind of filter', $subtitle,
        );
    }

    public function svg(): string
    {
        $height = self::TOP + count($this->bars) * self::STEP + 40;
        $width = self::WIDTH;
        $labels = array_keys($this->bars);
        $bars = implode('', array_map($this->bar(...), $labels, array_keys($labels)));
        return <<<SVG
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height"
                width="$width" height="$height"
                font-family="system-ui, sans-serif" font-size="13" fill="#1f2933" role="img">
            <title>{$this->subtitle}</title>
            <rect width="$width" height="$height" fill="#ffffff"/>
            <text x="20" y="28" font-size="17" font-weight="600">{$this->title}</text>
            <text x="20" y="50" fill="#52606d">{$this->subtitle}Logarithmic scale;
                the thin line is the spread.</text>
            {$this->axis()}{$bars}</svg>

            SVG;
    }

    private function axis(): string
    {
        $top = self::TOP - 8;
        $bottom = self::TOP + count($this->bars) * self::STEP;
        $label_y = $bottom + 20;
        $lines = '';
        for ($decade = 0; $decade <= self::DECADES; $decade++) {
            $x = self::LEFT + $decade * self::DECADE;
            $label = number_format(10 ** $decade);
            $lines .= "<line x1=\"$x\" y1=\"$top\" x2=\"$x\" y2=\"$bottom\" stroke=\"#d9dee4\"/>\n"
                . "<text x=\"$x\" y=\"$label_y\" text-anchor=\"middle\" fill=\"#52606d\">$label ns</text>\n";
        }
        return $lines;
    }

    private function bar(string $label, int $index): string
    {
        $spread = Spread::of($this->figures->of($this->bars[$label]));
        [$left, $thick] = [self::LEFT, self::THICK];
        $y = self::TOP + $index * self::STEP;
        $middle = $y + $thick / 2;
        $text_y = $middle + 4.5;
        [$low, $end, $high] = array_map(
            $this->x(...), [$spread->low, $spread->median, $spread->high],
        );
        $width = $end - $left;
        $value = number_format($spread->median, $spread->median < 100 ? 1 : 0);
        $ours = preg_match(
            '~/(hot_)?bloom|^kinds/(grown|sliding|counting)~', $this->bars[$label],
        ) === 1;
        $colour = $ours ? '#0b7285' : '#a3b1bf';
        $label = htmlspecialchars($label, ENT_XML1);
        $label_x = $left - 10;
        $value_x = $high + 8;
        return "<text x=\"$label_x\" y=\"$text_y\" text-anchor=\"end\">$label</text>\n"
            . "<rect x=\"$left\" y=\"$y\" width=\"$width\" height=\"$thick\" fill=\"$colour\"/>\n"
            . "<line x1=\"$low\" y1=\"$middle\" x2=\"$high\" y2=\"$middle\" stroke=\"#1f2933\"/>\n"
            . "<text x=\"$value_x\" y=\"$text_y\">$value ns</text>\n";
    }

    /** Where on the axis, never left of its beginning. */
    private function x(float $nanoseconds): float
    {
        return round(self::LEFT + log10(max(1.0, $nanoseconds)) * self::DECADE, 1);
    }
}
