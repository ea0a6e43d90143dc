import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { envoyBinary } from '#envoy/binary.ts';
import { parseRe2 } from '../re2.ts';

const ACCEPTED = [
  'a',
  '[^/]+',
  '/user/[0-9a-f]{32}/.*',
  '\\Qa.b\\E',
  '(?i)abc',
  '(?:a|b)*?',
  '\\p{Greek}+\\pN',
  '[[:alpha:]]',
  '(?P<n>x)',
  '(?<n>x)',
  '\\bfoo\\B',
  '(?s).',
  '\\d\\D\\w\\W\\s\\S',
  '\\pL{100}',
  'a{900}',
  '(|a)+',
  '\\x{FF}',
  '\\z',
  '(?m)^a$',
  `[^${'acegikmoqsuwy'}]{900}`,
  '(a*)*'.repeat(150),
  Array.from({ length: 300 }, (_, i) => `abc${i}x`).join('|'),
];

const REFUSED: readonly [regex: string, reason: string][] = [
  ['/a(b', 'missing closing ): `/a(b`'],
  ['a)', 'unexpected ): `a)`'],
  ['[a', 'missing closing ]: `[a`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(a{1000}){900}', 'invalid repeat count: `{900}`'],
  ['(?=x)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\x{100}', '\\x{100} is above \\x{FF}. Bytes are compared'],
  ['\\777', '\\777 is above \\x{FF}. Bytes are compared'],
  ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
  ['a\\', 'trailing backslash at end of expression'],
  ['(?P<a-b>x)', 'invalid named capture: `(?P<a-b>`'],
];

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 're2-'));
});
after(() => rm(folder, { recursive: true }));

/** Whether Envoy takes all these expressions as routes, when its program size is not bounded. */
async function envoyAccepts(regexes: readonly string[]): Promise<boolean> {
  const file = join(
    folder,
    `${regexes.length}-${Buffer.from(regexes[0] ?? '')
      .toString('hex')
      .slice(0, 40)}.json`,
  );
  await writeFile(file, JSON.stringify(bootstrapWith(regexes)));
  const args = ['--mode', 'validate', '--disable-hot-restart', '-l', 'off', '-c', file];
  return promisify(execFile)(await envoyBinary(), args).then(
    () => true,
    () => false,
  );
}

function bootstrapWith(regexes: readonly string[]): unknown {
  const routes = regexes.map(regex => ({
    match: { safe_regex: { regex } },
    direct_response: { status: 200 },
  }));
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'test',
    route_config: { virtual_hosts: [{ name: 'test', domains: ['*'], routes }] },
  };
  const filters = [{ name: 'hcm', typed_config: manager }];
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  const layer = { name: 'static', static_layer: { 're2.max_program_size.error_level': 1_000_000 } };
  return {
    layered_runtime: { layers: [layer] },
    static_resources: { listeners: [{ name: 'test', address, filter_chains: [{ filters }] }] },
  };
}

test('what is accepted, Envoy accepts', async () => {
  for (const regex of ACCEPTED) assert.deepEqual(parseRe2(regex), { value: regex });
  assert.equal(await envoyAccepts(ACCEPTED), true);
});

for (const [regex, reason] of REFUSED) {
  test(`${regex} is rejected, as by Envoy`, async () => {
    assert.deepEqual(parseRe2(regex), {
      error: `Cannot parse regular expression ${JSON.stringify(regex)}: ${reason}`,
    });
    assert.equal(await envoyAccepts([regex]), false);
  });
}

test('an expression that is too large is rejected', () => {
  assert.match(
    JSON.stringify(parseRe2('a{600}b{600}')),
    /compiles to \d+ instructions, 1000 are allowed/,
  );
  assert.match(JSON.stringify(parseRe2('a'.repeat(5000))), /has 5000 characters, 4096 are allowed/);
});

test("\\C, a byte in the middle of a character, is rejected as the documents demand, though Envoy's library knows it", () => {
  assert.match(JSON.stringify(parseRe2('\\C')), /invalid escape sequence/);
});
