import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirectAction } from './rule-redirect.ts';
import { pathChange } from './rule-rewrite.ts';

/** Paths of requests, and what becomes of them. Source: the table at `replacePrefixMatch`. */
const PREFIXES: readonly [path: string, prefix: string, replaced: string, result: string][] = [
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '', '/bar'],
  ['/foo/', '/foo', '', '/'],
  ['/foo', '/foo', '', '/'],
  ['/foo', '/foo', '/', '/'],
  ['/foo/bar', '/foo', '/', '/bar'],
  ['/bar', '', '/xyz', '/xyz/bar'],
  ['/', '', '/xyz/', '/xyz/'],
  ['/foo/bar', '/foo', 'xyz', '/xyz/bar'],
];

for (const [path, prefix, replacePrefixMatch, result] of PREFIXES) {
  test(`${path} with ${replacePrefixMatch || "''"} for ${prefix || '/'} becomes ${result}`, () => {
    const change = pathChange({ type: 'ReplacePrefixMatch', replacePrefixMatch }, prefix);
    assert.equal(rewritten(path, prefix, change), result);
  });
}

for (const [replaceFullPath, path] of [
  ['/a', '/a'],
  ['a', '/a'],
  ['', '/'],
] as const) {
  test(`a redirect to the whole path "${replaceFullPath}" leads to ${path}`, () => {
    const change = pathChange({ type: 'ReplaceFullPath', replaceFullPath }, '', 'path_redirect');
    assert.deepEqual(change, { path_redirect: path });
  });
}

/** Envoy replaces the prefix that the route matched, or what the expression finds. */
function rewritten(path: string, prefix: string, change: object): string {
  const { prefix_rewrite, regex_rewrite } = change as {
    readonly prefix_rewrite?: string;
    readonly regex_rewrite?: { readonly pattern: { regex: string }; readonly substitution: string };
  };
  if (prefix_rewrite !== undefined) return prefix_rewrite + path.slice(prefix.length);
  assert.ok(regex_rewrite !== undefined);
  return path.replace(new RegExp(regex_rewrite.pattern.regex), regex_rewrite.substitution);
}

const HTTP = { port: 80, scheme: 'http' } as const;
const REDIRECTS: readonly [redirect: object, asked: typeof HTTP | object, action: object][] = [
  [{}, HTTP, {}],
  [{ scheme: 'https' }, HTTP, { scheme_redirect: 'https' }],
  [{ scheme: 'https', port: 8443 }, HTTP, { scheme_redirect: 'https', port_redirect: 8443 }],
  [{ port: 80 }, HTTP, {}],
  [{ port: 8080 }, HTTP, { port_redirect: 8080 }],
  [{}, { port: 8080, scheme: 'http' }, { port_redirect: 8080 }],
  [
    { scheme: 'https' },
    { port: 8080, scheme: 'http' },
    { scheme_redirect: 'https', port_redirect: 443 },
  ],
  [{ port: 80 }, { port: 8080, scheme: 'http' }, { port_redirect: 80 }],
  [{ hostname: 'a.test' }, { port: 443, scheme: 'https' }, { host_redirect: 'a.test' }],
  [
    { scheme: 'https', hostname: 'a.test' },
    { port: 8080, scheme: 'http' },
    { scheme_redirect: 'https', host_redirect: 'a.test' },
  ],
  [
    { hostname: 'a.test' },
    { port: 8080, scheme: 'http' },
    { host_redirect: 'a.test', port_redirect: 8080 },
  ],
];

for (const [redirect, asked, action] of REDIRECTS) {
  test(`a redirect ${JSON.stringify(redirect)} at ${JSON.stringify(asked)} is ${JSON.stringify(action)}`, () => {
    const found = redirectAction({ statusCode: 302, ...redirect }, '', asked as typeof HTTP);
    assert.deepEqual(found, { ...action, response_code: 'FOUND' });
  });
}
