<?php
require_once __DIR__ . '/../src/calc.php';
final class CalcTest extends PHPUnit\Framework\TestCase
{
    public function testParts(): void
    {
        $this->assertEquals([11, 59], parts(719));
    }
}
