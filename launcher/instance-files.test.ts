import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { holdsMore, instancesFile, proxyConfig } from './instance-files.ts';

describe('what is written for instances', () => {
  test('tells the discovery service how to reach the proxies beside those that serve', () => {
    assert.deepEqual(parse(instancesFile(100, [1, 3])), {
      services: {
        'user-service': [
          { address: '127.0.0.1', port: 5201, hostname: 'user-service-1' },
          { address: '127.0.0.1', port: 5205, hostname: 'user-service-3' },
        ],
      },
    });
  });

  test('is a file also when none serves', () => {
    assert.deepEqual(parse(instancesFile(0, [])), { services: { 'user-service': [] } });
  });

  test('says in the file itself that it is written again, and where services of your own go', () => {
    assert.match(
      instancesFile(0, [1]),
      /^# Written by the gateway, again and again\..* --services <file>\n/,
    );
    assert.equal(holdsMore(instancesFile(0, [1])), false);
  });

  test('routes all that reaches the proxy of an instance to that instance', () => {
    const { kind, spec } = parse(proxyConfig(0, 2));
    assert.equal(kind, 'ProxyConfig');
    assert.equal(spec.node_group, 'user-service-2');
    assert.deepEqual(spec.listener, { address: '127.0.0.1', port: 5103 });
    assert.deepEqual(spec.clusters[0].hosts, [{ url: 'tcp://127.0.0.1:5104' }]);
  });
});
