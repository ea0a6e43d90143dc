import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { curlLine, parseRoutes } from './routes-to-try.ts';

describe('the routes that one can try', () => {
  test('are those of the edge by prefix or path, each once, with their hosts, but for those of the gateway itself and of some methods', () => {
    const virtual_hosts = [
      {
        domains: ['*'],
        routes: [
          { match: { path: '/.gateway/oauth2/logout' } },
          { match: { prefix: '/user' } },
          { match: { prefix: '/user' } },
          { match: { prefix: '/closed/' }, direct_response: { status: 500 } },
          { match: { safe_regex: { regex: '/a+' } } },
          { match: { prefix: '/jobs', headers: [{ name: ':method' }] } },
        ],
      },
      { domains: ['shop.example.com', 'shop'], routes: [{ match: { path: '/cart' } }] },
      { domains: ['empty.example.com'] },
    ];
    const routes = parseRoutes({ configs: [{}, { route_config: { virtual_hosts } }] });
    assert.deepEqual(
      routes.map(route => curlLine('127.0.0.1:8080', route)),
      [
        'curl http://127.0.0.1:8080/user',
        "curl -H 'Host: shop.example.com' http://127.0.0.1:8080/cart",
      ],
    );
  });

  test('of lists that are cut into parts have the domains of the lists, each once', () => {
    const virtual_hosts = ['||/o*', '||*', '|.example.com|/a*', 'shop.||/a*', 'a.test|/*'].map(
      domain => ({ domains: [domain], routes: [{ match: { prefix: '/all' } }] }),
    );
    const byValue = { domains: ['|~0|blue|'], routes: [{ match: { prefix: '/blue' } }] };
    const hosts = [...virtual_hosts, byValue];
    assert.deepEqual(
      parseRoutes({ configs: [{ route_config: { virtual_hosts: hosts } }] }).map(route =>
        curlLine('edge', route),
      ),
      [
        'curl http://edge/all',
        "curl -H 'Host: www.example.com' http://edge/all",
        "curl -H 'Host: shop.test' http://edge/all",
        "curl -H 'Host: a.test' http://edge/all",
      ],
    );
  });

  test('of a host with a wildcard have a host that fits', () => {
    assert.equal(
      curlLine('edge', { domain: '*.example.com', path: '/' }),
      "curl -H 'Host: www.example.com' http://edge/",
    );
  });
});
