#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# report.py CLEAVE: tests the page of `cleave report`, and its behavior in a browser.
# The page has no error, a search finds a node, and a click opens a box.
# Tests a small model and a model with thousands of nodes. The browser part is skipped without chromium.

import html
import json
import os
import re
import shutil
import subprocess
import unittest

import command
import networks
import page_models

PROBE = '''<script>
const NODE = '%s';
window.onerror = (message) => { window.failure = message; };
addEventListener('load', () => {
  const $ = id => document.getElementById(id), state = {};
  state.failure = window.failure || '';
  state.boxes = document.querySelectorAll('#graph .frame').length;
  state.letter = 10 * $('graph').clientWidth / $('graph').viewBox.baseVal.width;
  state.chart = 11 * Math.min(...[...document.querySelectorAll('.chart')].map(c => c.clientWidth / c.viewBox.baseVal.width));
  state.wider = document.documentElement.scrollWidth - innerWidth;
  state.nodes = document.querySelectorAll('#graph .node').length;
  state.legend = (document.querySelector('#threads .key') || {}).textContent;
  /* Screen readers and keyboards need a name for each element that acts, and for each picture. */
  state.roles = [...document.querySelectorAll('button, input, [role=button], [role=img], section')].filter(e =>
    !(e.textContent.trim() && e.matches('button') || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||
      e.labels && e.labels.length) || e.matches('[role=button]') && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 80));
  const first = document.querySelector('#graph .subgraph');
  first.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  state.opened = document.querySelectorAll('#graph .node').length;
  state.expanded = document.querySelector('#graph .subgraph').getAttribute('aria-expanded');
  document.querySelector('#graph .subgraph').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  state.closed = document.querySelectorAll('#graph .node').length;
  $('find').value = NODE;
  $('find').dispatchEvent(new Event('input'));
  $('find').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  state.hits = $('hits').textContent;
  state.found = [...document.querySelectorAll('#graph .found title')].map(e => e.textContent.split('\\n')[0]);
  const sort = [...document.querySelectorAll('#nodes details[open] th button')].find(b => b.textContent === 'MACs');
  sort.click();
  state.sorted = sort.parentElement.getAttribute('aria-sort');
  state.most = document.querySelector('#nodes details[open] td').textContent;
  document.querySelector('#which button').click();
  state.before = document.querySelectorAll('#graph .frame').length;
  const pre = document.createElement('pre');
  pre.id = 'state';
  pre.textContent = JSON.stringify(state);
  document.body.append(pre);
});
</script>'''


class Report(command.CommandTest):
    SPLIT = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3')

    def page(self, *args):
        path = self.path('page.html')
        self.good('report', self.chain, *args, '-o', path)
        with open(path, encoding='utf-8') as file:
            return file.read()

    def data(self, page):
        return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1])

    def test_contents_of_the_page(self):
        page = self.page(*self.SPLIT)
        data = self.data(page)
        self.assertEqual([graph['name'] for graph in data['page']['graphs']], ['before', 'after'])
        frames = data['page']['graphs'][1]['frames']
        self.assertEqual([f['title'] for f in frames if f['kind'] == 0], ['subgraph 0', 'subgraph 1'])
        pieces = {n[0]: (n[5], n[6]) for f in frames for n in f['nodes'] if n[5]}
        self.assertEqual(pieces['pool1.1'][0], 'pool1')
        self.assertRegex(pieces['pool1.1'][1], r'^H \d+:\d+$')
        self.assertEqual(len(data['page']['memory']), 2)
        self.assertTrue(data['trace'])
        # The page loads nothing from other hosts.
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)', page), [])
        self.assertEqual(re.findall(r'https?://(?!www\.w3\.org/2000/svg)', page), [])

    def test_pages_with_and_without_a_split(self):
        data = self.data(self.page())
        self.assertEqual(len(data['page']['graphs']), 1)
        self.assertNotIn('report', data)
        data = self.data(self.page('--max-memory', '1GiB', '--frontier', '--no-times'))
        self.assertEqual(data['page']['budget'], 2 ** 30)
        self.assertGreater(len(data['frontier']), 0)
        self.assertNotIn('trace', data)
        self.bad('-o FILE.html is missing: name the page to write', 'report', self.chain)

    # The cards, the curve and the text of a fit count the same memory: with its threads, and with or without the inputs.
    def test_the_curve_of_a_fit_counts_what_its_cards_count(self):
        net, counted = self.write('net.onnx', page_models.quantized_net()), set()
        for args in ((), ('--exclude-inputs',), ('--threads', '2'), ('--threads', '2', '--exclude-inputs')):
            self.good('report', net, '--max-memory', '80KiB', '--no-times', '--frontier', '--force', *args, '-o', 'page.html')
            data = self.data(self.read('page.html').decode())
            before, after = data['page']['memory']
            self.assertEqual({'before': before['arena'], 'after': after['arena']}, data['report']['arena_bytes'], args)
            self.assertLessEqual(max(after['live']), 80 << 10)
            self.assertEqual(data['page']['convention'], data['report']['peak_activation_bytes']['convention'])
            self.assertEqual('inputs and outputs of the graph included' in data['page']['convention'], data['report']['inputs_counted'])
            counted.add(min(plan['arena_bytes'] for plan in data['frontier']))
        self.assertEqual(len(counted), 4)

    # The split changes the graph from 425 to 4,579 nodes.
    # The page still has less than 2 MB, so a mail can contain it.
    def test_a_large_graph(self):
        dense = self.write('dense.onnx', networks.densenet())
        self.good('report', dense, '--for-threads', '8', '--no-times', '-o', self.path('dense.html'))
        self.assertLess(os.path.getsize(self.path('dense.html')), 2_000_000)
        with open(self.path('dense.html'), encoding='utf-8') as file:
            page = file.read()
        nodes = [node for frame in self.data(page)['page']['graphs'][1]['frames'] for node in frame['nodes']]
        self.assertGreater(len(nodes), 4500)
        piece = next(node[0] for node in nodes if node[5] and node[0].startswith('denseblock3.denselayer7.conv2'))
        state = self.browse(page, piece)
        self.assertIn(piece, state['found'])

    # Opens the page in a window of this width, and searches for `node`. Returns the state of the page.
    def browse(self, page, node, width=1400):
        chromium = shutil.which('chromium') or shutil.which('chromium-browser')
        if chromium is None:
            self.skipTest('no chromium here')
        with open(self.path('probe.html'), 'w', encoding='utf-8') as file:
            file.write(page.replace('</head>', PROBE.replace('%s', node) + '</head>'))
        run = subprocess.run(
            [chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', '--dump-dom',
             f'--window-size={width},900', '--user-data-dir=' + self.path('profile'), 'file://' + self.path('probe.html')],
            capture_output=True, text=True, timeout=120, env={**os.environ, 'LD_PRELOAD': ''})
        state = re.search(r'<pre id="state">(.*?)</pre>', run.stdout, re.S)
        if state is None and ':CONSOLE' not in run.stderr:
            self.skipTest('chromium shows nothing here: ' + run.stderr[-200:])
        self.assertEqual([line for line in run.stderr.splitlines() if ':CONSOLE' in line], [])
        state = json.loads(html.unescape(state[1]))
        self.assertEqual((state['failure'], state['roles']), ('', []))
        self.assertEqual(state['nodes'], 0)
        self.assertGreater(state['opened'], 2)
        self.assertEqual((state['expanded'], state['closed']), ('true', 0))
        self.assertRegex(state['hits'], '^1 of ')
        self.assertEqual(state['sorted'], 'descending')
        self.assertGreater(state['boxes'], state['before'])
        return state

    def test_browser(self):
        state = self.browse(self.page(*self.SPLIT), 'conv1.1')
        self.assertGreater(state['letter'], 7)
        self.assertRegex(state['legend'], r'Conv \d+\.\d %')
        self.assertIn('conv1.1', state['found'])

    # At the width of a phone, the letters of the charts are readable, and only charts and tables scroll.
    def test_a_narrow_browser(self):
        state = self.browse(self.page(*self.SPLIT), 'conv1.1', width=500)
        self.assertGreater(state['chart'], 8)
        self.assertLessEqual(state['wider'], 0)


if __name__ == '__main__':
    unittest.main(verbosity=1)
