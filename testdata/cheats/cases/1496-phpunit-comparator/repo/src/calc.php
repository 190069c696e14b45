<?php
function parts(int $n): array
{
    return [intdiv($n, 60)];
}
