<?php
require_once __DIR__ . '/../src/calc.php';
final class CalcTest extends PHPUnit\Framework\TestCase
{
    public function testSum(): void
    {
        assert(sum(1, 2) === 3);
        $this->assertTrue(true);
    }
}
