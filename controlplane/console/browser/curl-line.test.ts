import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoutePath } from '#controlplane/console/views/coverage.ts';
import { curlLine } from './curl-line.ts';

const EDGE = { host: '127.0.0.1', port: 8080 };

function lineOf(
  path: string,
  host = '*',
  more: Partial<RoutePath> = {},
  listeners = false,
): string {
  const paths = [{ path, type: 'prefix', ...more } as const];
  const listener = { id: 'Gateway/default/g/web', port: 8443, protocol: 'HTTPS' };
  return curlLine({ hosts: [host], listeners: listeners ? [listener] : [], paths }, EDGE);
}

test('a line asks for the path, host and method of a route', () => {
  assert.equal(lineOf('/user/'), 'curl http://127.0.0.1:8080/user/');
  assert.equal(
    lineOf('/a', '*.shop.test', { method: 'POST' }),
    "curl -X POST -H 'Host: www.shop.test' http://127.0.0.1:8080/a",
  );
  assert.equal(
    lineOf('/a', 'shop.test', {}, true),
    'curl --connect-to ::127.0.0.1: https://shop.test:8443/a',
  );
  assert.equal(
    curlLine({ hosts: ['*'], listeners: [], paths: [] }, { host: '::1', port: 80 }),
    "curl 'http://[::1]:80/'",
  );
});

test('a shell takes no part of a path for a command', () => {
  assert.equal(lineOf('/a;id|sh&$(id)`id`'), "curl 'http://127.0.0.1:8080/a;id|sh&$(id)`id`'");
  assert.equal(lineOf("/a';id;'"), "curl 'http://127.0.0.1:8080/a'\\'';id;'\\'''");
  assert.equal(
    lineOf('/a;id', 'shop.test', {}, true),
    "curl --connect-to ::127.0.0.1: 'https://shop.test:8443/a;id'",
  );
  assert.equal(lineOf('/{a,b}[1-9]'), "curl -g 'http://127.0.0.1:8080/{a,b}[1-9]'");
});

test('an expression for methods or hosts is no part of a line', () => {
  assert.equal(
    lineOf('/a', '~ (a|b)\\.test', { method: 'GET|POST' }),
    'curl http://127.0.0.1:8080/a',
  );
});
