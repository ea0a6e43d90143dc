import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { curlLine, parseRoutes } from './routes-to-try.ts';

describe('the routes that one can try', () => {
  test('are those of the edge by prefix or path, each once, with their hosts, but for those of the gateway itself', () => {
    const virtual_hosts = [
      {
        domains: ['*'],
        routes: [
          { match: { path: '/.gateway/oauth2/logout' } },
          { match: { prefix: '/user' } },
          { match: { prefix: '/user' } },
          { match: { safe_regex: { regex: '/a+' } } },
        ],
      },
      { domains: ['shop.example.com', 'shop'], routes: [{ match: { path: '/cart' } }] },
      { domains: ['empty.example.com'] },
    ];
    const routes = parseRoutes({ configs: [{}, { route_config: { virtual_hosts } }] });
    assert.deepEqual(
      routes.map(route => curlLine('127.0.0.1:8080', route)),
      ['curl http://127.0.0.1:8080/user', "curl -H 'Host: shop.example.com' http://127.0.0.1:8080/cart"],
    );
  });

  test('of a host with a wildcard have a host that fits', () => {
    assert.equal(
      curlLine('edge', { domain: '*.example.com', path: '/' }),
      "curl -H 'Host: www.example.com' http://edge/",
    );
  });
});
