import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BENCHES } from './benches.ts';
import { comparisons, measuredPages, summaryPage } from './summary.ts';
import { toSvg } from './summary-picture.ts';

const ROUTES = `# What the number of Mappings costs
2026-11-23, 2 cores.

| Mappings | a prefix each | a host each |
| --- | ---: | ---: |
| 1 Mapping | 40.0 µs | 43.2 µs |
| 10000 | 48.0 µs, 1.20 × | 49.5 µs |
| **10000, as lists** | 250.5 µs, 6.26 × | 43.3 µs |
`;
const only = (name: string, text: string) => (asked: string) => (asked === name ? text : undefined);

test('a comparison has the times of a page, and which are ours', () => {
  assert.deepEqual(comparisons(measuredPages(only('routes', ROUTES))), [
    {
      title: 'A request of the last Mapping: CPU of Envoy',
      page: 'routes',
      bars: [
        { label: '10,000 Mappings as a list', us: 250.5, isOurs: false },
        { label: 'ours, 10,000 Mappings', us: 48, isOurs: true },
        { label: 'ours, 1 Mapping', us: 40, isOurs: true },
      ],
    },
  ]);
});

test('a service and its store are summed', () => {
  const page = `# g\n\n| one | envoyproxy/ratelimit + Redis | Limitador, memory | Redis, framed | memory, framed |
| --- | ---: | ---: | ---: | ---: |
| CPU of service + store, µs a decision | 80.2 + 10.0 | 22.0 + 0.0 | 24.6 + 4.0 | 11.8 + 0.0 |\n`;
  const [compared] = comparisons(measuredPages(only('ghz', page)));
  assert.deepEqual(
    compared?.bars.map(({ us }) => us.toFixed(1)),
    ['90.2', '22.0', '28.6', '11.8'],
  );
});

test('a page without a cell that is compared is named', () => {
  assert.throws(
    () => comparisons(measuredPages(only('routes', ROUTES.replace('10000,', '9000,')))),
    /bench\/results\/routes\.md has no table with "10000, as lists" of "a prefix each", "10000"/,
  );
});

test('an empty page and a missing one are left out', () => {
  assert.deepEqual(measuredPages(only('routes', '')), []);
});

test('the results that are kept can be compared, and all of them are on the page', () => {
  const read = (name: string) => {
    const file = join(import.meta.dirname, 'results', `${name}.md`);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const pages = measuredPages(read);
  assert.equal(pages.length, BENCHES.length);
  const page = summaryPage(pages, 'A machine.');
  for (const { title } of pages) assert.ok(page.includes(`## ${title}\n`), title);
  assert.match(toSvg(comparisons(pages)), /^<svg .*<\/svg>\n$/s);
});
