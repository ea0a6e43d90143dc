/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: operators write these forms */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { writeWhole } from '#files/testing/write-whole.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { handshake } from './https-request.ts';
import { getJson, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const OPEN_SESAME = 'open-sesame-of-the-environment';
const URL = 'http://login.example.com/';

const SECRETS = `apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: { name: shop }
stringData:
  tls.crt: \${file:keys/tls.crt}
  tls.key: \${file:keys/tls.key}
---
apiVersion: v1
kind: Secret
metadata: { name: login }
stringData: { oauth2-client-secret: "\${env:LOGIN_SECRET}" }
---
apiVersion: v1
kind: Secret
metadata: { name: other }
stringData:
  oauth2-client-secret: \${env:OTHER_SECRET}
`;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

/** A Filter whose provider is never asked, for the requests to it end at the login. */
const login = (name: string) =>
  document(
    'Filter',
    name,
    `OAuth2: {authorizationURL: 'http://127.0.0.1:1', clientID: a, secretName: ${name}, protectedOrigins: [{origin: 'http://${name}.example.com'}]}`,
  );

describe('Secrets whose values are elsewhere, in a whole system', () => {
  let system: System;
  let upstream: Upstream;
  let keys: string;
  let renew: () => Promise<void>;
  const pairs: string[] = [];
  const own = () => ['--port-offset', String(system.gateway.portOffset)];

  before(async () => {
    upstream = await startUpstream('upstream');
    const authority = await testAuthority();
    const resources = [
      SECRETS,
      document('Mapping', 'all', `prefix: /, service: '127.0.0.1:${upstream.port}'`),
      document('Host', 'shop', 'hostname: shop.example.com, tlsSecret: shop'),
      document('Host', 'login', 'hostname: login.example.com'),
      document('Host', 'other', 'hostname: other.example.com'),
      login('login'),
      login('other'),
      document(
        'FilterPolicy',
        'all',
        'rules: [{host: login.example.com, filters: [{name: login}]}, {host: other.example.com, filters: [{name: other}]}]',
      ),
    ].join('');
    system = await startSystem({
      resources: { 'all.yaml': resources },
      environment: { LOGIN_SECRET: OPEN_SESAME },
    });
    keys = join(system.resources, 'keys');
    mkdirSync(keys);
    renew = async () => {
      const { certificate, key } = await authority.issue('shop.example.com');
      pairs.push(key, certificate);
      writeWhole(join(keys, 'tls.crt'), certificate);
      writeWhole(join(keys, 'tls.key'), key);
    };
  });
  after(async () => {
    await system?.stop();
    await upstream?.close();
  });

  const serial = async () => {
    const shown = await handshake({ port: system.ports.edgeTls, sni: 'shop.example.com' }).catch(
      () => undefined,
    );
    return shown?.serial;
  };
  const statusOf = async (name: string) =>
    (await request(system.edge, '/', { headers: { host: `${name}.example.com` } })).status;

  test('a value that is missing is a Problem with its name and line, and closes what needs it', async () => {
    const { problems } = await system.status();
    const told = problems.map(({ field, file, kind, line, message, name }) =>
      [kind, name, file.split('/').at(-1), line, field, message].join(' | '),
    );
    assert.ok(
      told.includes(
        'Secret | other | all.yaml | 18 | stringData.oauth2-client-secret | the variable OTHER_SECRET is not set in the environment of the control plane',
      ),
      told.join('\n'),
    );
    assert.ok(
      told.some(line => /Secret \| shop \| all.yaml \| 6 .* keys\/tls.crt cannot/.test(line)),
    );
    assert.equal(await statusOf('other'), 500);
  });

  test('a value of the environment is used', async () => {
    // With a secret the Filter is in force. Its provider cannot be reached.
    await until(async () => ((await statusOf('login')) === 502 ? true : undefined));
  });

  test('files that come and change are served a moment later, without a restart', async () => {
    await renew();
    const first = await until(serial);
    await renew();
    await until(async () => {
      const now = await serial();
      return now !== undefined && now !== first ? true : undefined;
    });
  });

  test('a file that goes is a Problem, and what was in force stays', async () => {
    const known = await serial();
    rmSync(join(keys, 'tls.key'));
    await system.statusWhen(({ problems }) =>
      problems.some(({ message }) => /keys\/tls.key cannot be read/.test(message)),
    );
    assert.equal(await serial(), known);
  });

  test('a change of other resources tells nothing of a Secret that is written as before', async () => {
    const text = readFileSync(join(system.resources, 'all.yaml'), 'utf8');
    const { said } = await system.command('diff', system.resources, ...own());
    assert.doesNotMatch(said, /Secret default\/login/);
    system.write('all.yaml', text.replace('${env:LOGIN_SECRET}', '${env:LOGINS_SECRET}'));
    await system.statusWhen(({ problems }) =>
      problems.some(({ message }) => /LOGINS_SECRET is not set/.test(message)),
    );
    // The last good version stays.
    assert.equal(await statusOf('login'), 502);
  });

  test('no value is in a log, the status, a difference or the state', async () => {
    const { said } = await system.command('diff', system.resources, '--envoy', ...own());
    const explained = await system.command('explain', 'GET', URL, ...own());
    const status = JSON.stringify(
      await getJson(`http://127.0.0.1:${system.ports.http}`, '/status'),
    );
    const state = globSync('**/*', { cwd: system.state, withFileTypes: true })
      .filter(entry => entry.isFile() && !/\.db/.test(entry.name))
      .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const [key = ''] = pairs;
    const secrets = [OPEN_SESAME, key.split('\n')[2] ?? 'none'];
    const log = system.gateway.said();
    for (const text of [log, said, explained.said, status, ...state])
      for (const secret of secrets) assert.ok(!text.includes(secret));
  });
});
