import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { awaitsAnswer, withAnswer } from './awaited-answer.ts';
import type { GatewayProgress } from './gateway-programmed.ts';

const programmed = (status: string, observedGeneration = 2) => ({
  type: 'Programmed',
  status,
  reason: 'Any',
  message: '',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const OTHERS = { type: 'example.com/Theirs', status: 'Unknown', observedGeneration: 2 };

/** Returns a Gateway of generation 2 whose status has these values of `Programmed`. */
function gateway(own: object, listener: object, plural = 'gateways'): ServedObject {
  const status = {
    addresses: [{ value: '192.0.2.1' }],
    conditions: [OTHERS, own],
    listeners: [{ name: 'http', attachedRoutes: 1, conditions: [listener] }],
  };
  const collection = { group: 'gateway.networking.k8s.io', version: 'v1', plural };
  return { collection, generation: 2, status } as unknown as ServedObject;
}

const REACHED = [{ type: 'IPAddress', value: '192.0.2.1' }];
const ACCEPTED: GatewayProgress = { proxies: 'accepted', addresses: REACHED, missing: [] };
const AWAITING = gateway(programmed('Unknown'), programmed('Unknown'));

const lineOf = (status: unknown) =>
  JSON.stringify(status)
    .match(/"status":"\w+"/g)
    ?.join(' ');

test('what awaits an answer of proxies gets that of ours, and nothing else is changed', () => {
  assert.equal(awaitsAnswer(AWAITING), true);
  const next = withAnswer(AWAITING, ACCEPTED, 0);
  assert.equal(lineOf(next), '"status":"Unknown" "status":"True" "status":"True"');
  assert.match(JSON.stringify(next), /"name":"http","attachedRoutes":1/);
  assert.ok(!('addresses' in (next ?? {})));
});

test('what is answered, or of another generation, awaits none', () => {
  const [yes, no, old] = [programmed('True'), programmed('False'), programmed('Unknown', 1)];
  for (const [own, listener] of [
    [yes, no],
    [no, yes],
    [old, old],
  ] as const)
    assert.equal(awaitsAnswer(gateway(own, listener)), false);
  assert.equal(awaitsAnswer({ ...AWAITING, status: undefined }), false);
  assert.equal(awaitsAnswer(gateway(OTHERS, programmed('Unknown'), 'httproutes')), false);
});

test('proxies that have not answered answer nothing', () => {
  assert.equal(withAnswer(AWAITING, { ...ACCEPTED, proxies: undefined }, 0), undefined);
});

test('proxies that reject it say why, until some accept it', () => {
  const proxies = { rejected: 'the port is taken' };
  const told = withAnswer(AWAITING, { ...ACCEPTED, proxies }, 0);
  assert.equal(lineOf(told), '"status":"Unknown" "status":"False" "status":"False"');
  assert.match(JSON.stringify(told), /of another control plane rejects it: the port is taken/);
  const rejected = { ...AWAITING, status: { ...Object(AWAITING.status), ...told } };
  assert.equal(awaitsAnswer(rejected), true);
  const other = { rejected: 'another port is taken' };
  assert.equal(withAnswer(rejected, { ...ACCEPTED, proxies: other }, 0), undefined);
  assert.equal(withAnswer(rejected, { ...ACCEPTED, proxies: undefined }, 0), undefined);
  assert.equal(
    lineOf(withAnswer(rejected, ACCEPTED, 0)),
    '"status":"Unknown" "status":"True" "status":"True"',
  );
});

test('what the control plane that leads knows of its own proxies awaits no answer', () => {
  const own = { ...programmed('False'), message: 'A proxy rejects it: the port is taken' };
  assert.equal(awaitsAnswer(gateway(own, own)), false);
});

test('a Gateway without an address gets no answer for itself, and a ListenerSet needs none', () => {
  const nowhere = { ...ACCEPTED, addresses: undefined };
  const one = gateway(programmed('Unknown'), programmed('True'));
  assert.equal(withAnswer(one, nowhere, 0), undefined);
  const set = gateway(programmed('Unknown'), programmed('Unknown'), 'listenersets');
  assert.equal(
    lineOf(withAnswer(set, nowhere, 0)),
    '"status":"Unknown" "status":"True" "status":"True"',
  );
});
