import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type {
  GatewayApiStatus,
  GatewayStatus,
  RouteStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { EMPTY_FILE } from '#resources/parse/parsed-file.ts';
import { gatewayObjectStatus } from './gateway-object-status.ts';
import type { GatewayProgress } from './gateway-programmed.ts';

const NOW = Date.parse('2026-05-05T05:05:05.555Z');
const EARLIER = '2026-01-01T00:00:00Z';
const CONTROLLER = 'example.com/ours';

const READY: GatewayProgress = {
  proxies: 'accepted',
  addresses: [{ type: 'IPAddress', value: '192.0.2.1', routability: '' }],
  missing: [],
};

function write(
  status: GatewayApiStatus,
  before: unknown,
  progress: GatewayProgress = READY,
): Record<string, unknown> | undefined {
  const object: ServedObject = {
    ...{ namespace: 'infra', name: 'g', uid: 'u', resourceVersion: '1', generation: 2 },
    ...{ deleting: false, finalizers: [], parsed: EMPTY_FILE, status: before },
    collection: { group: 'gateway.networking.k8s.io', version: 'v1', plural: 'gateways' },
  };
  const facts = { controller: CONTROLLER, progressOf: () => progress, now: NOW };
  return gatewayObjectStatus(object, status, facts) as Record<string, unknown> | undefined;
}

function condition(type: string, status: NamedCondition['status'] = 'True'): NamedCondition {
  return { type, status, reason: type, message: 'm' };
}

function written(type: string, status = 'True', more: object = {}) {
  const base = { type, status, reason: type, message: 'm', observedGeneration: 2 };
  return { ...base, lastTransitionTime: EARLIER, ...more };
}

const FOREIGN = written('example.com/Theirs', 'True', { observedGeneration: 1 });

function routeStatus(...types: readonly NamedCondition[]): RouteStatus {
  const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'g' };
  return { kind: 'Route', generation: 2, parents: [{ parentRef, conditions: types }] };
}

const OUR_PARENT = {
  parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'g' },
  controllerName: CONTROLLER,
};

/** What is said of an address that is asked for and is not had. */
function lacking(reason = 'AddressNotAssigned', index = 0) {
  return { reason, field: `spec.addresses[${index}]`, message: 'no' };
}

describe('the status of a route', () => {
  test('is not written when it is right', () => {
    const parents = [{ ...OUR_PARENT, conditions: [written('Accepted'), written('ResolvedRefs')] }];
    const status = routeStatus(condition('Accepted'), condition('ResolvedRefs'));
    assert.equal(write(status, { parents }), undefined);
  });

  test('keeps entries of other controllers where they are, and conditions of others in ours', () => {
    const theirs = {
      parentRef: { name: 'x' },
      controllerName: 'example.com/theirs',
      conditions: [],
    };
    const ours = { ...OUR_PARENT, conditions: [FOREIGN, written('Accepted')] };
    const next = write(routeStatus(condition('Accepted', 'False')), { parents: [theirs, ours] });
    const changed = written('Accepted', 'False', { lastTransitionTime: '2026-05-05T05:05:05Z' });
    assert.deepEqual(next, { parents: [theirs, { ...ours, conditions: [FOREIGN, changed] }] });
  });

  test('keeps the time of a value that stays, and follows the generation', () => {
    const old = written('Accepted', 'True', { observedGeneration: 1, reason: 'Old' });
    const next = write(routeStatus(condition('Accepted')), {
      parents: [{ ...OUR_PARENT, conditions: [old] }],
    });
    assert.deepEqual(next, { parents: [{ ...OUR_PARENT, conditions: [written('Accepted')] }] });
  });

  test('keeps what is known of a newer generation', () => {
    const newer = written('Accepted', 'False', { observedGeneration: 3 });
    const parents = [{ ...OUR_PARENT, conditions: [newer] }];
    assert.equal(write(routeStatus(condition('Accepted')), { parents }), undefined);
  });

  test('loses our conditions and entries that are over', () => {
    const partial = {
      ...OUR_PARENT,
      conditions: [written('Accepted'), written('PartiallyInvalid')],
    };
    const over = { ...OUR_PARENT, parentRef: { name: 'left' }, conditions: [] };
    const next = write(routeStatus(condition('Accepted')), { parents: [over, partial] });
    assert.deepEqual(next, { parents: [{ ...OUR_PARENT, conditions: [written('Accepted')] }] });
    const none = { kind: 'Route', generation: 2, parents: [] } as const;
    assert.deepEqual(write(none, { parents: [over] }), { parents: [] });
    assert.equal(write(none, undefined), undefined);
  });

  test('has as many entries as the API lists', () => {
    const theirs = Array.from({ length: 32 }, (_, index) => ({
      parentRef: { name: `x${index}` },
      controllerName: 'example.com/theirs',
      conditions: [],
    }));
    assert.equal(write(routeStatus(condition('Accepted')), { parents: theirs }), undefined);
  });
});

describe('the status of a Gateway', () => {
  const status = (...conditions: readonly NamedCondition[]): GatewayStatus => ({
    kind: 'Gateway',
    generation: 2,
    conditions: [condition('Accepted'), ...conditions],
    listeners: [
      { name: 'l', supportedKinds: [], attachedRoutes: 1, conditions: [condition('Accepted')] },
    ],
    attachedListenerSets: 0,
  });

  /** `Programmed` of the Gateway and of its listener. */
  function programmed(progress: GatewayProgress, before: unknown = {}, wanted = status()) {
    const next = write(wanted, before, progress) as {
      conditions: readonly NamedCondition[];
      listeners: readonly { conditions: readonly NamedCondition[] }[];
    };
    const lists = [next.conditions, next.listeners[0]?.conditions ?? []];
    return lists.map(list => {
      const { status: value, reason } = list.find(({ type }) => type === 'Programmed') ?? {};
      return `${value}:${reason}`;
    });
  }

  const CASES: readonly [
    what: string,
    progress: Partial<GatewayProgress>,
    told: readonly string[],
  ][] = [
    ['the proxies have it and its addresses are known', {}, ['True:Programmed', 'True:Programmed']],
    [
      'the proxies have not answered',
      { proxies: undefined },
      ['Unknown:Pending', 'Unknown:Pending'],
    ],
    ['a proxy rejects it', { proxies: { rejected: 'no' } }, ['False:Invalid', 'False:Invalid']],
    ['no address is known', { addresses: [] }, ['False:AddressNotAssigned', 'True:Programmed']],
    [
      'nothing is known of addresses',
      { addresses: undefined },
      ['Unknown:Pending', 'True:Programmed'],
    ],
    [
      'an address cannot be had',
      { missing: [lacking('AddressNotUsable')] },
      ['False:AddressNotUsable', 'True:Programmed'],
    ],
    [
      'none of several has a ClusterIP yet',
      { addresses: [], missing: [lacking()] },
      ['False:AddressNotAssigned', 'True:Programmed'],
    ],
    [
      'some of its addresses are there',
      { missing: [lacking()] },
      ['True:Programmed', 'True:Programmed'],
    ],
    [
      'its proxies cannot be made',
      { trouble: 'no quota' },
      ['False:NoResources', 'True:Programmed'],
    ],
  ];
  for (const [what, progress, told] of CASES) {
    test(`tells that ${what}`, () => {
      assert.deepEqual(programmed({ ...READY, ...progress }), told);
    });
  }

  /** Returns the condition about addresses, as it is after this progress. */
  function assigned(progress: Partial<GatewayProgress>, before: unknown = {}, wanted = status()) {
    const next = write(wanted, before, { ...READY, ...progress }) as {
      conditions: readonly (NamedCondition & { readonly observedGeneration: number })[];
    };
    const found = next.conditions.find(({ type }) => type === 'AddressesAssigned');
    return found && `${found.observedGeneration} ${found.status}:${found.reason} ${found.message}`;
  }

  test('tells whether it has the addresses that it asks for, and which ones it lacks', () => {
    const two = [lacking(), lacking('AddressNotAssigned', 3)];
    const told = 'spec.addresses[0]: no. spec.addresses[3]: no';
    assert.equal(assigned({}), '2 True:AddressesAssigned It has all addresses');
    assert.equal(assigned({ missing: two }), `2 False:PartiallyAssigned ${told}`);
    assert.equal(assigned({ addresses: [], missing: two }), `2 False:NotAssigned ${told}`);
    assert.equal(assigned({ addresses: [] }), '2 False:NotAssigned No address is assigned yet');
  });

  test('enumerates all of the sixteen addresses that it may lack', () => {
    const missing = Array.from({ length: 16 }, (_, index) => lacking('AddressNotAssigned', index));
    assert.match(assigned({ addresses: [], missing }) ?? '', /addresses\[15\]: no$/);
  });

  test('says nothing of addresses where it is not accepted', () => {
    const rejected = { ...status(), conditions: [condition('Accepted', 'False')] };
    const before = { conditions: [written('AddressesAssigned')] };
    assert.equal(assigned({ missing: [lacking()] }, before, rejected), undefined);
  });

  test('keeps what was told of addresses while nothing is known of them', () => {
    const addresses = [{ type: 'IPAddress', value: '192.0.2.2', routability: '' }];
    const before = { addresses, conditions: [written('AddressesAssigned')] };
    const next = write(status(), before, { ...READY, addresses: undefined });
    assert.ok(next !== undefined && !('addresses' in next));
    assert.equal(assigned({ addresses: undefined }, before), '2 True:AddressesAssigned m');
  });

  test('stays programmed for a generation that the proxies have accepted', () => {
    const before = (generation: number) => ({
      conditions: [written('Programmed', 'True', { observedGeneration: generation })],
      listeners: [
        {
          name: 'l',
          conditions: [written('Programmed', 'True', { observedGeneration: generation })],
        },
      ],
    });
    const waiting = { ...READY, proxies: undefined };
    assert.deepEqual(programmed(waiting, before(2)), ['True:Programmed', 'True:Programmed']);
    assert.deepEqual(programmed(waiting, before(1)), ['Unknown:Pending', 'Unknown:Pending']);
  });

  test('tells of listeners that are of an older version with its generation', () => {
    const older = {
      ...status({ ...condition('Programmed', 'False'), reason: 'Invalid' }),
      listenersGeneration: 1,
    };
    const next = write(older, {}) as {
      conditions: readonly Record<string, unknown>[];
      listeners: readonly { conditions: readonly Record<string, unknown>[] }[];
    };
    const generations = (list: readonly Record<string, unknown>[] = []) =>
      list.map(({ type, observedGeneration }) => `${type} ${observedGeneration}`);
    assert.deepEqual(generations(next.conditions), [
      ...['Accepted 2', 'Programmed 2', 'AddressesAssigned 2'],
    ]);
    assert.deepEqual(generations(next.listeners[0]?.conditions), ['Accepted 1', 'Programmed 1']);
  });

  test('is not programmed where the reason is known without the proxies', () => {
    const rejected = status({ ...condition('Programmed', 'False'), reason: 'Invalid' });
    assert.equal(programmed(READY, {}, rejected)[0], 'False:Invalid');
  });

  test('keeps conditions of others on it and on its listeners, and drops listeners that are gone', () => {
    const before = {
      conditions: [FOREIGN],
      listeners: [
        { name: 'gone', conditions: [] },
        { name: 'l', conditions: [FOREIGN] },
      ],
    };
    const next = write(status(), before) as {
      conditions: readonly object[];
      listeners: readonly { name: string; conditions: readonly object[] }[];
      addresses: readonly object[];
    };
    assert.deepEqual(
      [
        next.conditions[0],
        next.listeners.map(({ name }) => name),
        next.listeners[0]?.conditions[0],
      ],
      [FOREIGN, ['l'], FOREIGN],
    );
    assert.deepEqual(next.addresses, READY.addresses);
    assert.equal(write(status(), next), undefined, 'what was written is right');
  });
});
