"""What bench/ finds in machine code: bench_hot_loop_test.py SOURCE_FOLDER"""

from __future__ import annotations

import pathlib
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "bench"))

import hot_loop


class HotLoopTest(unittest.TestCase):
    ARM = """
\tfmla\tv9.4s, v2.4s, v1.s[0]
.LBB0_1:
\tldr\ts1, [x19]
\tfmla\tv0.4s, v2.4s, v1.s[0]
\tb.ne\t.LBB0_1
\t.p2align\t5
.LBB0_2:
\tldr\tq2, [sp, #32]
\tfmla\tv0.4s, v2.4s, v1.s[0]
\tfmla\tv3.4s, v2.4s, v1.s[0]
\tb.lo\t.LBB0_2
"""

    def test_is_the_loop_with_the_most_multiply_adds(self) -> None:
        found = hot_loop.hot_loop(self.ARM)
        self.assertEqual((found.fmas, len(found.lines), found.stack_accesses), (2, 4, 1))
        intel = ".LBB0_3:                 # of j\n\tvfmadd231ps\t(%rdi), %ymm1, %ymm0\n\tjb\t.LBB0_3\n"
        self.assertEqual(hot_loop.hot_loop(intel).fmas, 1)

    def test_code_without_multiply_adds_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            hot_loop.hot_loop(".LBB0_1:\n\tadd\tx0, x0, #1\n\tb.ne\t.LBB0_1\n")


if __name__ == "__main__":
    unittest.main()
