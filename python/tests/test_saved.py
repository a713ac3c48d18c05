# SPDX-License-Identifier: GPL-2.0-or-later
import numpy
import pytest

import cleave


def test_a_saved_program_runs_with_the_same_bits(graph, tmp_path):
    x = numpy.random.default_rng(1).standard_normal((1, 3, 16, 16), 'float32')
    for threads in (1, 2):  # as_is: the graph is too small to be split, so compile would use one thread without as_is
        graph.save_program(tmp_path / 'x.plan', threads=threads, as_is=True)
        program = cleave.load_program(tmp_path / 'x.plan')
        assert program.stats['n_threads'] == threads
        assert (program(x=x)['y'] == graph.compile(threads=threads, as_is=True)(x=x)['y']).all()


def test_a_file_that_is_no_saved_program_is_an_error(tmp_path):
    (tmp_path / 'x.plan').write_bytes(b'nothing')
    for path, words in (('x.plan', 'saved program'), ('y.plan', 'No such file')):
        with pytest.raises(cleave.Error, match=words):
            cleave.load_program(tmp_path / path)
