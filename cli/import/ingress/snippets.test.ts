import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHarmless } from './snippets.ts';

const HARMLESS: readonly string[] = [
  '',
  'add_header X-A b;',
  '  more_set_headers "X-A: b; deny all";\n  # deny all;\n',
  "gzip on; # don't deny all;\nexpires 1d;",
  'add_header X-A "a\\"b";',
];

const RESTRICTING: readonly string[] = [
  'deny all;',
  'add_header X-A b; deny all;',
  'add_header X-A a#b; deny all;',
  'add_header X-A a"b; deny all; add_header X-B c"d;',
  'more_set_headers "X-A: #"; deny all;',
  "# don't\ndeny all; # won't",
  'if ($http_x = 1) { return 403; }',
  'proxy_set_header X-User "";',
  'add_header X-A b\n; deny all',
  '"deny" all;',
];

for (const snippet of HARMLESS)
  test(`${JSON.stringify(snippet)} decides nothing`, () => assert.ok(isHarmless(snippet)));

for (const snippet of RESTRICTING)
  test(`${JSON.stringify(snippet)} may decide who passes`, () => assert.ok(!isHarmless(snippet)));
