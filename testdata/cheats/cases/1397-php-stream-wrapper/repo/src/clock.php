<?php
function label(int $n): string
{
    return sprintf('%02d:%02d', intdiv($n, 60), $n % 61);
}
