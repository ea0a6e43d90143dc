import assert from 'node:assert/strict';
import { test } from 'node:test';
import type protobuf from 'protobufjs';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import type { JsonObject } from './json.ts';
import { findType } from './root.ts';
import { seededRandom } from './testing/random.ts';
import { randomMessage } from './testing/random-message.ts';

for (const name of [
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.bootstrap.v3.Bootstrap',
  'envoy.service.auth.v3.CheckRequest',
  'envoy.service.auth.v3.CheckResponse',
  'envoy.service.discovery.v3.DeltaDiscoveryResponse',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
]) {
  test(`what is encoded as ${name} decodes to the same JSON`, () => {
    for (let seed = 0; seed < 100; seed++) {
      const json = randomMessage(findType(name) as protobuf.Type, seededRandom(seed)) as JsonObject;
      assert.deepEqual(decode(name, encode(name, json)), json, `seed ${seed}`);
    }
  });
}
