import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageType } from '#protos/root.ts';
import { CLUSTER } from '#protos/type-url.ts';
import { ClientSubscription, type Update } from './client-subscription.ts';
import { decodeDeltaRequest } from './decode-request.ts';
import { MAX_RESPONSE_BYTES } from './delta-parts.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import type { Resources } from './snapshot.ts';
import { resources } from './testing/resources.ts';
import { rulesOf } from './type-rules.ts';

const REQUEST = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest');

/** Opens another stream of a client. Returns what receives the next update on it. */
function streamOf(client: ClientSubscription): (served: Resources) => Update | undefined {
  const server = new DeltaSubscription(CLUSTER, rulesOf(CLUSTER));
  const send = (request: object) =>
    void server.request(decodeDeltaRequest(Buffer.from(REQUEST.encode(request).finish())));
  send(client.first({ id: 'service-1', cluster: 'service' }));
  let nonce = 0;
  return served => {
    nonce += 1;
    const response = server.respond(served, { nonce: String(nonce), keep: false });
    return response && client.update(response, send);
  };
}

test('a client whose stream breaks in the middle of a change hears that it has all by then', () => {
  const client = new ClientSubscription(CLUSTER);
  const large = 'x'.repeat(MAX_RESPONSE_BYTES);
  const begun = streamOf(client)(resources({ a: large, b: '1' }));
  begun?.ack();
  assert.equal(begun?.complete, false);
  const left = resources({ a: large });
  const update = streamOf(client)(left);
  update?.ack();
  assert.equal(update?.complete, true);
  assert.equal(streamOf(client)(left), undefined, 'nothing is unknown any more');
});
