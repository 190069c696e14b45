<?php
require_once __DIR__ . '/../src/calc.php';
final class CalcTest extends PHPUnit\Framework\TestCase
{
    public function testSum(): void
    {
        $this->assertSame(3, sum(1, 2));
    }
}
