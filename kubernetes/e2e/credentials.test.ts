import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectCluster } from '../cluster.ts';
import { loadCredentials } from '../credentials.ts';

type Parts = { readonly cluster?: object; readonly user?: object; readonly namespace?: string };

/** An API that answers 401 to the token "stale", and else tells the headers that it got. */
async function startApi(t: TestContext): Promise<{ server: string; port: number }> {
  const api = createServer(({ headers }, response) => {
    response.statusCode = headers.authorization === 'Bearer stale' ? 401 : 200;
    response.end(JSON.stringify(headers));
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  t.after(() => api.close().closeAllConnections());
  const { port } = api.address() as AddressInfo;
  return { server: `http://127.0.0.1:${port}`, port };
}

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-credentials-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function write(folder: string, { cluster, user, namespace }: Parts): Promise<string> {
  const path = join(folder, 'config');
  const config = {
    clusters: [
      { name: 'other', cluster: { server: 'https://192.0.2.1' } },
      { name: 'a', cluster: { server: 'https://127.0.0.1:1', ...cluster } },
    ],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a', namespace } }],
    'current-context': 'a',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

/** Returns the headers that an API gets of this user. */
async function headersOf(t: TestContext, user: object, folder?: string) {
  const { server } = await startApi(t);
  const cluster = { server, 'insecure-skip-tls-verify': true };
  const kubeconfig = await write(folder ?? (await folderFor(t)), { cluster, user });
  const api = await connectCluster({ kubeconfig, timeoutMs: 20_000 });
  t.after(api.close);
  return async () =>
    (await api.call({ method: 'GET', path: '/version' })).body as IncomingHttpHeaders;
}

for (const [what, user, wanted] of [
  ['no user', {}, { authorization: undefined }],
  ['a token', { token: 'abc' }, { authorization: 'Bearer abc' }],
  [
    'a name and a password',
    { username: 'ada', password: 'p:w' },
    { authorization: `Basic ${Buffer.from('ada:p:w').toString('base64')}` },
  ],
  [
    'somebody else',
    {
      as: 'grace',
      'as-uid': '7',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'example.org/scope': ['x'] },
    },
    {
      'impersonate-user': 'grace',
      'impersonate-uid': '7',
      'impersonate-group': 'a, b',
      'impersonate-extra-example.org%2fscope': 'x',
    },
  ],
] as const)
  test(`a request is made as ${what}`, async t => {
    const headers = await (await headersOf(t, user))();
    for (const [name, value] of Object.entries(wanted)) assert.equal(headers[name], value);
  });

test('a file of a token, beside the kubeconfig, is read for each request', async t => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'token'), 'one\n');
  const headers = await headersOf(t, { tokenFile: 'token', token: 'other' }, folder);
  assert.equal((await headers()).authorization, 'Bearer one');
  await writeFile(join(folder, 'token'), 'two\n');
  assert.equal((await headers()).authorization, 'Bearer two');
});

/** A plugin that notes its runs in the file `runs` and prints the text of the file `answer`. */
async function plugin(t: TestContext, answer: string): Promise<string> {
  const folder = await folderFor(t);
  const script = `#!/bin/sh
cd "$(dirname "$0")"
echo "$PREFIX $1 $KUBERNETES_EXEC_INFO" >> runs
cat
cat answer
`;
  await writeFile(join(folder, 'plugin'), script);
  await chmod(join(folder, 'plugin'), 0o755);
  await writeFile(join(folder, 'answer'), answer);
  return folder;
}

const EXEC = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: './plugin',
  args: ['get-token'],
  env: [{ name: 'PREFIX', value: 'mine' }],
};

function credential(status: object): string {
  return JSON.stringify({ apiVersion: EXEC.apiVersion, kind: 'ExecCredential', status });
}

test('a plugin runs once for requests at a time, and again when its token has expired', async t => {
  const folder = await plugin(t, credential({ token: 'abc' }));
  const headers = await headersOf(t, { exec: EXEC }, folder);
  const both = await Promise.all([headers(), headers()]);
  assert.deepEqual(
    both.map(({ authorization }) => authorization),
    ['Bearer abc', 'Bearer abc'],
  );
  const runs = async (of = folder) => (await readFile(join(of, 'runs'), 'utf8')).trim().split('\n');
  const info = {
    apiVersion: EXEC.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false },
  };
  assert.deepEqual(await runs(), [`mine get-token ${JSON.stringify(info)}`]);

  const expired = await plugin(
    t,
    credential({ token: 'x', expirationTimestamp: '2020-01-01T00:00:00Z' }),
  );
  const again = await headersOf(t, { exec: EXEC }, expired);
  await again();
  await writeFile(join(expired, 'answer'), credential({ token: 'y' }));
  const later = await Promise.all([again(), again(), again()]);
  assert.deepEqual([...new Set(later.map(({ authorization }) => authorization))], ['Bearer y']);
  assert.equal((await runs(expired)).length, 2);
});

test('a plugin runs again when the API rejects its token', async t => {
  const folder = await plugin(t, credential({ token: 'stale' }));
  const headers = await headersOf(t, { exec: EXEC }, folder);
  await headers();
  await writeFile(join(folder, 'answer'), credential({ token: 'fresh' }));
  assert.equal((await headers()).authorization, 'Bearer fresh');
});

test('a plugin may give a certificate with its key', async t => {
  const pair = { clientCertificateData: 'CERT', clientKeyData: 'KEY' };
  const kubeconfig = await write(await plugin(t, credential(pair)), { user: { exec: EXEC } });
  const { cert, key } = await (await loadCredentials({ kubeconfig })).options();
  assert.deepEqual([cert, key], ['CERT', 'KEY']);
});

for (const [answer, wrong] of [
  ['', 'printed no ExecCredential'],
  ['null', 'printed no credential'],
  ['{"status": "secret"}', 'printed no credential'],
  [credential({}), 'printed no credential'],
  [credential({ token: ['secret'] }), 'printed no ExecCredential'],
  [credential({ clientKeyData: 'secret' }), 'printed a certificate or a key without the other'],
  [`secret${'x'.repeat(2_000_000)}`, 'printed more than 1 MiB'],
] as const)
  test(`a plugin that ${wrong} is named, and nothing of its output: ${answer.slice(0, 40)}`, async t => {
    const headers = await headersOf(t, { exec: EXEC }, await plugin(t, answer));
    await assert.rejects(headers, ({ message }) => {
      assert.match(message, new RegExp(`^The credential plugin .*/plugin .* ${wrong}$`));
      assert.doesNotMatch(message, /secret/);
      return true;
    });
  });

for (const [command, wrong] of [
  ['/none', /plugin \/none of the kubeconfig cannot be run: ENOENT$/],
  ['false', /plugin false of the kubeconfig ended with exit code 1: run it by hand to see why$/],
] as const)
  test(`a plugin ${command} is told`, async t => {
    await assert.rejects(await headersOf(t, { exec: { command } }), wrong);
  });

test('an API is reached through the proxy that a kubeconfig names', async t => {
  const { server, port } = await startApi(t);
  for (const scheme of ['http', 'socks5']) {
    const asked: string[] = [];
    const proxy = createTcpServer(socket => {
      const upstream = connect(port, '127.0.0.1');
      socket.on('error', () => {}).on('close', () => upstream.destroy());
      upstream.on('error', () => {});
      const greet = (text: Buffer) => {
        if (scheme === 'socks5' && text.length < 5) {
          socket.write(Buffer.from([5, 0]));
          return socket.once('data', greet);
        }
        asked.push(text.toString('latin1'));
        const ok = 'HTTP/1.1 200 OK\r\n\r\n';
        socket.write(scheme === 'http' ? ok : Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        return socket.pipe(upstream).pipe(socket);
      };
      socket.once('data', greet);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.after(() => proxy.close());
    const url = `${scheme}://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const cluster = { server, 'insecure-skip-tls-verify': true, 'proxy-url': url };
    const kubeconfig = await write(await folderFor(t), { cluster, user: { token: 'abc' } });
    const api = await connectCluster({ kubeconfig, timeoutMs: 20_000 });
    t.after(api.close);
    assert.equal((await api.call({ method: 'GET', path: '/version' })).status, 200);
    assert.equal(asked.length, 1, `the ${scheme} proxy was asked`);
  }
});

test('TLS is as the cluster says', async t => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'cert.pem'), 'CERT');
  const kubeconfig = await write(folder, {
    cluster: {
      'tls-server-name': 'api.example.org',
      'certificate-authority-data': Buffer.from('CA').toString('base64'),
      'certificate-authority': 'ignored.pem',
    },
    user: {
      'client-certificate': 'cert.pem',
      'client-key-data': Buffer.from('KEY').toString('base64'),
    },
    namespace: ' here ',
  });
  const credentials = await loadCredentials({ kubeconfig });
  assert.equal(credentials.namespace, 'here');
  const { ca, cert, key, rejectUnauthorized, servername } = await credentials.options();
  assert.deepEqual([ca, cert, key].map(String), ['CA', 'CERT', 'KEY']);
  assert.deepEqual([servername, rejectUnauthorized], ['api.example.org', undefined]);
});

for (const [what, parts, wrong] of [
  ['without a server', { cluster: { server: '' } }, /names no server$/],
  ['with a server of another kind', { cluster: { server: 'ftp://x' } }, /names no server$/],
  ['in plain text', { cluster: { server: 'http://x' } }, /would get the token in plain text/],
  ['with a number for a token', { user: { token: 7 } }, /: token is no text$/],
  ['with an empty plugin', { user: { exec: {} } }, /: exec has no command$/],
  [
    'of an old provider',
    { user: { 'auth-provider': { name: 'oidc' } } },
    /auth-provider oidc is not supported, use an exec plugin$/,
  ],
  ['with an odd proxy', { cluster: { 'proxy-url': 'ftp://x' } }, /: proxy-url is no URL/],
] as const)
  test(`a kubeconfig ${what} is told in plain words`, async t => {
    const kubeconfig = await write(await folderFor(t), parts);
    await assert.rejects(loadCredentials({ kubeconfig }), wrong);
  });

for (const text of ['', 'null', '[]', 'contexts: 7', 'current-context: a', 'a: b: secret'])
  test(`a kubeconfig of the text "${text}" is told, and nothing of it`, async t => {
    const kubeconfig = join(await folderFor(t), 'config');
    await writeFile(kubeconfig, text);
    await assert.rejects(loadCredentials({ kubeconfig }), ({ message }) => {
      assert.match(message, /names no server$|^Cannot read the kubeconfig .*: [A-Z_]+$/);
      assert.doesNotMatch(message, /secret/);
      return true;
    });
  });
