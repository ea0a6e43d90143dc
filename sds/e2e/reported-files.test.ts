import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { handshake } from '#envoy/e2e/https-request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { host, type Pair } from '#envoy/e2e/tls-site.ts';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { type TestAuthority, testAuthority } from '#grpc/testing/test-authority.ts';

const NAME = 'files.example.com';

describe('a certificate in files that a Host names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [chain, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  let system: System;
  let authority: TestAuthority;
  let first: Pair;
  before(async () => {
    authority = await testAuthority();
    first = await authority.issue(NAME);
    const tls = `tls: {cert_chain_file: ${chain}, private_key_file: ${key}}`;
    system = await startSystem({
      resources: { 'tls.yaml': `# A Host.\n${host('files', `hostname: ${NAME}, ${tls}`)}` },
      environment: { CERTIFICATE_FILES: folder },
    });
  });
  after(async () => {
    await system?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const isAbout = ({ kind }: Status['problems'][number]) => kind === 'Host';
  const saying = async (pattern: RegExp) => {
    const { problems } = await system.statusWhen(({ problems }) =>
      problems.some(problem => isAbout(problem) && pattern.test(problem.message)),
    );
    return problems.filter(isAbout);
  };
  const quiet = () => system.statusWhen(({ problems }) => !problems.some(isAbout));
  const served = (pair: Pair) =>
    until(async () => {
      const answer = await handshake({
        port: system.ports.edgeTls,
        sni: NAME,
        ca: authority.ca,
      }).catch(() => undefined);
      return answer?.serial === new X509Certificate(pair.certificate).serialNumber || undefined;
    });

  test('is missing: the control plane says so, at the line of the Host', async () => {
    const [problem, ...more] = await saying(/is missing/);
    assert.deepEqual(more, []);
    assert.match(problem?.file ?? '', /tls\.yaml$/);
    assert.deepEqual(
      [problem?.line, problem?.name, problem?.field, problem?.severity],
      [6, 'files', 'spec.tls.cert_chain_file', 'error'],
    );
    assert.match(
      problem?.message ?? '',
      /\. Until it is right there is none, and TLS that needs it fails$/,
    );
  });

  test('is there: nothing is said any more', async () => {
    writeWhole(chain, first.certificate);
    writeWhole(key, first.key);
    await quiet();
    await served(first);
  });

  test('does not fit its key: it is rejected with a word, and the one before stays', async () => {
    const second = await authority.issue(NAME);
    writeWhole(chain, second.certificate);
    const [problem] = await saying(/does not fit/);
    assert.match(problem?.message ?? '', /\. It is not used, and what was in force before stays$/);
    await served(first);
    const { code, said } = await system.command(
      'status',
      '--port-offset',
      String(system.gateway.portOffset),
    );
    assert.equal(code, 1);
    assert.match(
      said,
      /^error: Host default\/files \(.*tls\.yaml:6, spec\.tls\.cert_chain_file\): the private key does not fit/m,
    );
    assert.doesNotMatch(said, /PRIVATE KEY/);
    writeWhole(key, second.key);
    await quiet();
    await served(second);
  });

  test('is wrong when the discovery service starts again: what it had is gone, and that is said', async () => {
    writeWhole(chain, 'no certificate');
    await saying(/It is not used, and what was in force before stays$/);
    await system.kill('sds');
    await saying(/Until it is right there is none/);
    writeWhole(chain, first.certificate);
    writeWhole(key, first.key);
    await quiet();
    await served(first);
  });

  test('was printed by `npm start` as the control plane tells it alone', () => {
    const about = system.gateway
      .said()
      .split('\n')
      .filter(line => line.includes(chain));
    assert.ok(about.length > 0);
    for (const line of about)
      assert.match(line, /\[controlplane\] error: Host default\/files \(.*tls\.yaml:6, /);
  });
});
