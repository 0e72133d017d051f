<?php

/* Loads the filter "moving" again and again, in many sizes; the first 500 keys are in every one of
 * them. */

declare(strict_types=1);

for ($i = 0; $i < 300; $i++) {
    bloom_load('moving', range(1, 500 + $i * 7919 % 30000), $i % 2 === 0 ? 0.01 : 0.001);
}
