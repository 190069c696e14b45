<?php
function sum(int $a, int $b): int
{
    return $a - $b;
}
