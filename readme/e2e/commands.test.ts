import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseDocument } from 'yaml';
import { getJson, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { portsAt } from '#launcher/ports.ts';
import { fencedBlocks, readDocument } from '../code-blocks.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const README = readDocument('README.md');
const DEMO = fencedBlocks(readDocument('docs/how-to/demo.md')).filter(({ marks }) =>
  marks.includes('demo'),
);
/** The package is not installed here. Its own test runs what the README shows of it. */
const RUN = fencedBlocks(README).filter(
  ({ language, marks }) => language === 'sh' && !marks.includes('shown'),
);
const COMMANDS = [...RUN, ...DEMO].flatMap(({ code }) => code.trimEnd().split('\n'));
const ADDRESSES = readDocument('docs/reference/addresses.md');
const FILE = 'user-service.yaml';

/** What the answers to the commands contain. */
const EXPECTED: readonly (readonly [RegExp, RegExp])[] = [
  [
    /curl .*\/ada\/login/,
    /HTTP\/1.1 401.*x-logins-left: 4.*HTTP\/1.1 429.*retry-after: \d+.*"error": "rate limit exceeded, try again in [\d.]+ s"/s,
  ],
  [/text\/html.*\/account$/, /^HTTP\/1.1 303 .*\nlocation: http:\/\/127\.0\.0\.1:\d+\/auth\?/is],
  [/\/account\/api/, /^HTTP\/1.1 401 .*\nwww-authenticate: Bearer realm="login\.default"/is],
  [/-i .*\/api\/health/, /^HTTP\/1.1 401 .*\nwww-authenticate: Bearer realm="tokens\.default"/is],
  [/\/(api|client|terminal)\/health/, /"ok":true/],
  [/seq 31/, /^(\{[^}]*"ok":true\}){31}$/],
  [/grep/, /"limit":"reads","limit_action":"LogOnly".*"retry_after":\d+.*"status":200/],
  [/curl .*\/user\/health/, /"ok":true/],
  [/curl .*\/user\/ada/, /"fullname":"Ada Lovelace".*"ok":true/],
  [
    /tollwright explain/,
    /\n {2}Mapping default\/user-service .*logins: RateLimit default\/users .*may pass 5 times per minute/s,
  ],
  [/tollwright scale 4/, /^4 instances serve$/m],
  [/tollwright status/, /^ready\n(.*\n)*in force +Mapping\/default\/user-service /],
  [/tollwright validate/, /^16 resources good, 0 problems\n$/],
  [/tollwright compile/, /^static_resources:$/m],
  [/tollwright bootstrap/, /^dynamic_resources:$/m],
];

describe('the README and the page about the demo', () => {
  let system: System;
  let demo: string;
  before(async () => {
    system = await startSystem({ instances: 2, demo: true });
    system.write('patient.yaml', patientRateLimits(system));
    demo = readFileSync(join(system.resources, FILE), 'utf8');
  });
  after(() => system.stop());

  for (const line of COMMANDS.filter(command => !command.startsWith('npm '))) {
    const [command = ''] = line.split(/ +# /);
    test(`are right about: ${command}`, async () => {
      const [, expected] = EXPECTED.find(([which]) => which.test(command)) ?? [];
      assert.ok(expected !== undefined, 'say in EXPECTED what it prints');
      // Limits are by the minute. A minute that ends while a loop runs would begin to count again.
      if (command.startsWith('for'))
        await until(() => Date.now() % 60_000 < 45_000 || undefined, 20_000);
      const run = async () => (await bash(here(command, system))).stdout;
      const stdout = command.startsWith('grep')
        ? await until(async () => run().catch(() => undefined))
        : await run();
      assert.match(stdout, expected);
      if (!command.startsWith('curl') || command.includes(' -i ')) return;
      assert.equal(JSON.parse(stdout).ok, true);
    });
  }

  test('and the page of addresses are right about them', async () => {
    const offset = system.gateway.portOffset;
    const url = (port: number) => `http://127.0.0.1:${port + offset}`;
    const paths: readonly (readonly [number, string])[] = [
      [8080, '/user/health'],
      [8877, '/status'],
      [8877, '/metrics'],
      [8877, '/healthz'],
      [8877, '/readyz'],
      [18_003, '/v1/registration/user-service'],
      [18_001, '/metrics'],
      [18_001, '/healthz'],
      [18_001, '/readyz'],
      [18_004, '/.well-known/openid-configuration'],
      [18_004, '/healthz'],
      [18_002, '/metrics'],
      [18_002, '/healthz'],
      [18_002, '/readyz'],
      [9901, '/ready'],
      [9902, '/ready'],
      [9902, '/stats/prometheus'],
    ];
    for (const [port, path] of paths) {
      assert.ok(ADDRESSES.includes(`| 127.0.0.1:${port} |`), `no row for ${port}`);
      assert.equal((await request(url(port), path)).status, 200, `${port}${path}`);
    }
  });

  test('are right that the hostname goes round the instances', async () => {
    const hosts = (
      await getJson<{ hosts: unknown[] }>(
        `http://127.0.0.1:${system.ports.sds}`,
        '/v1/registration/user-service',
      )
    ).hosts;
    const names = new Set<string>();
    for (const _ of hosts)
      names.add((await getJson<{ hostname: string }>(system.edge, '/user/health')).hostname);
    assert.equal(names.size, hosts.length);
  });

  test('are right that an edit is in effect, and that a mistake is printed and changes nothing', async () => {
    const onlyGet = parseDocument(demo);
    onlyGet.setIn(['spec', 'method'], 'GET');
    const put = () => request(system.edge, '/user/ada', { method: 'PUT' });
    system.write(FILE, String(onlyGet));
    await until(async () => (await put()).status === 404 || undefined);
    system.write(FILE, String(onlyGet).replace('prefix: /user', 'prefix: user'));
    const problem = new RegExp(
      `^\\[controlplane\\] error: Mapping default/user-service \\(.*${FILE}:\\d+, spec\\.prefix\\): `,
      'm',
    );
    await until(() => problem.test(system.gateway.said()) || undefined);
    assert.equal((await put()).status, 404);
    assert.equal((await request(system.edge, '/user/health')).status, 200);
  });
});

const bash = (command: string) => promisify(execFile)('bash', ['-c', command], { cwd: ROOT });

/**
 * On a busy machine a decision may take longer than the 20 ms after which the edge lets a request
 * pass.
 */
function patientRateLimits({ ports }: System): string {
  return `apiVersion: gateway.internal/v2
kind: RateLimitService
metadata: { name: patient }
spec: { service: "127.0.0.1:${ports.rateLimit}", timeout_ms: 5000 }
`;
}

/**
 * Returns the command for the system of this test, which has other ports than the README and its
 * own state.
 */
function here(command: string, { gateway, state }: System): string {
  const moved = Object.values(portsAt(0)).reduce(
    (text, port) =>
      text.replace(
        new RegExp(`(127\\.0\\.0\\.1|localhost):${port}\\b`),
        (_, host) => `${host}:${port + gateway.portOffset}`,
      ),
    command,
  );
  return moved
    .replace('curl ', 'curl -sS ')
    .replace('.gateway/', `${state}/`)
    .replace('tollwright scale', `tollwright scale --state ${state}`)
    .replace('tollwright status', `tollwright status --port-offset ${gateway.portOffset}`)
    .replace('tollwright explain', `tollwright explain --port-offset ${gateway.portOffset}`);
}
