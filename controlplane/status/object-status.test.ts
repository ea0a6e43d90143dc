import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Written } from '#controlplane/rollout/candidates.ts';
import { startRollout, want } from '#controlplane/rollout/rollout.ts';
import { objectParser } from '#resources/kubernetes/object-parser.ts';
import { type ServedObject, toServedObject } from '#resources/kubernetes/served-object.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Severity } from '#resources/problem.ts';
import type { Condition } from './conditions.ts';
import { type ObjectFacts, objectStates } from './object-state.ts';
import { objectStatus, statusOnceLeft, takesBack } from './object-status.ts';

const PLACE = 'Kubernetes mappings.gateway.internal';
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const COLLECTION = { group: 'gateway.internal', version: 'v2', plural: 'mappings' };

function objectOf(spec: object, status?: unknown, generation = 1, kind = 'Mapping'): ServedObject {
  const metadata = { name: 'one', namespace: 'shop', uid: 'u', resourceVersion: '5', generation };
  const object = { apiVersion: 'gateway.internal/v2', kind, metadata, spec, status };
  return toServedObject(
    object,
    COLLECTION,
    objectParser(PLACE, new Parser(DEFAULT_PARSE_OPTIONS)).parse,
  );
}

const GOOD = { prefix: '/a/', service: 'a' };

function writtenOf({ parsed }: ServedObject): Written {
  return {
    resources: new Map(parsed.resources.map(resource => [resource.id, resource])),
    rejected: new Map(parsed.rejected.map(rejected => [rejected.id, rejected])),
    unreadable: new Set(),
    anonymous: new Set(),
  };
}

/** Returns facts of an object that is served, without any answer of a proxy. */
function factsOf(object: ServedObject, more: Partial<ObjectFacts> = {}): ObjectFacts {
  const written = writtenOf(object);
  const rollout = want(startRollout(new Map()), written.resources);
  const { problems } = object.parsed;
  const found = { problems, compiled: [], outOfService: new Set<string>() };
  return { written, rollout, ...found, proxies: true, ...more };
}

const accepted = (object: ServedObject) => ({ rollout: startRollout(writtenOf(object).resources) });

function statusOf(object: ServedObject, facts = factsOf(object), now = NOW) {
  const state = objectStates(facts)(object);
  assert.ok(state !== undefined);
  return objectStatus(object, state, now);
}

const conditionsOf = (status: ReturnType<typeof statusOf>) =>
  (status?.conditions ?? []) as readonly Condition[];

const textsOf = (status: ReturnType<typeof statusOf>) =>
  conditionsOf(status).map(({ type, status, reason }) => `${type}=${status}:${reason}`);

/** Without those that follow from Accepted and Programmed. */
const inShort = (status: ReturnType<typeof statusOf>) =>
  textsOf(status).filter(text => !/^(Ready|Stalled)=/.test(text));

/** What programs that know nothing of this gateway read: kstatus, `kubectl wait`, Argo CD. */
const forPrograms = (status: ReturnType<typeof statusOf>) => [
  status?.observedGeneration,
  ...textsOf(status).filter(text => /^(Ready|Stalled)=/.test(text)),
];

describe('the status of an object', () => {
  test('is unknown until proxies have answered', () => {
    const object = objectOf(GOOD);
    assert.deepEqual(inShort(statusOf(object)), [
      'Accepted=True:Accepted',
      'Programmed=Unknown:Pending',
    ]);
  });

  test('is ready once the proxies have taken all of it', () => {
    const object = objectOf(GOOD, undefined, 7);
    assert.deepEqual(forPrograms(statusOf(object)), [7, 'Ready=Unknown:Pending']);
    const taken = statusOf(object, factsOf(object, accepted(object)));
    assert.deepEqual(forPrograms(taken), [7, 'Ready=True:Programmed']);
    const same = objectOf(GOOD, { ...taken, observedGeneration: 6 }, 7);
    const kept = statusOf(same, factsOf(same, { proxies: false }));
    assert.deepEqual(forPrograms(kept), [7, 'Ready=True:Programmed'], 'another has the answer');
  });

  test('is not ready with what is wrong, and stalled when only an edit mends it', () => {
    const wrong = objectOf({ ...GOOD, prefix: 'x' });
    const former = startRollout(writtenOf(objectOf(GOOD)).resources);
    const invalid = statusOf(wrong, factsOf(wrong, { rollout: former }));
    assert.deepEqual(forPrograms(invalid), [1, 'Ready=False:Invalid', 'Stalled=True:Invalid']);
    const [said] = conditionsOf(invalid);
    for (const { type, message } of conditionsOf(invalid))
      if (type === 'Ready' || type === 'Stalled') assert.equal(message, said?.message);
    const object = objectOf(GOOD, invalid, 2);
    const place = { kind: 'Mapping', namespace: 'shop', name: 'one', file: PLACE, line: 0 };
    const problem = { ...place, severity: 'error' as const, message: 'there is no Filter' };
    const partly = factsOf(object, { ...accepted(object), problems: [problem] });
    assert.deepEqual(forPrograms(statusOf(object, partly)), [2, 'Ready=False:Problems']);
  });

  test('is of its generation, and since the time when it last changed', () => {
    const object = objectOf(GOOD, undefined, 7);
    const first = statusOf(object, factsOf(object, accepted(object)));
    assert.deepEqual(first?.conditions[1], {
      type: 'Programmed',
      status: 'True',
      reason: 'Programmed',
      message: 'The proxies have accepted it',
      observedGeneration: 7,
      lastTransitionTime: '2026-01-02T03:04:05Z',
    });
    const edited = objectOf({ ...GOOD, service: 'b' }, first, 8);
    const [kept] = conditionsOf(statusOf(edited, factsOf(edited), NOW + 60_000));
    assert.deepEqual(
      [kept?.observedGeneration, kept?.lastTransitionTime],
      [8, '2026-01-02T03:04:05Z'],
    );
  });

  test('is not written when it is so already, later too', () => {
    const object = objectOf(GOOD);
    const facts = factsOf(object, accepted(object));
    const again = objectOf(GOOD, JSON.parse(JSON.stringify(statusOf(object, facts))));
    assert.equal(statusOf(again, factsOf(again, accepted(again)), NOW + 60_000), undefined);
  });

  test('keeps what proxies of another control plane have said of this generation, and forgets it with the next', () => {
    const object = objectOf(GOOD);
    const taken = statusOf(object, factsOf(object, accepted(object)));
    const same = objectOf(GOOD, taken);
    assert.equal(statusOf(same, factsOf(same, { proxies: false })), undefined);
    const next = objectOf(GOOD, taken, 2);
    assert.deepEqual(inShort(statusOf(next)), [
      'Accepted=True:Accepted',
      'Programmed=Unknown:Pending',
    ]);
  });

  test('keeps the conditions of others', () => {
    const other = { type: 'Other', status: 'True' };
    const object = objectOf(GOOD, { conditions: [other] });
    assert.deepEqual(statusOf(object)?.conditions.at(-1), other);
  });

  test('survives a status of any form', () => {
    for (const status of [
      null,
      1,
      'x',
      [],
      { conditions: 'x', problems: {} },
      { conditions: [null, 1] },
    ])
      assert.equal(conditionsOf(statusOf(objectOf(GOOD, status))).length, 3);
  });

  test('has the problems of this object alone, and no more than can be read', () => {
    const object = objectOf({ ...GOOD, prefix: 'x' });
    const [problem] = object.parsed.problems;
    assert.ok(problem !== undefined);
    const many = Array.from({ length: 60 }, () => ({ ...problem, message: 'm'.repeat(9_000) }));
    const foreign = [
      { ...problem, name: 'two' },
      { ...problem, file: 'Kubernetes mappings.getambassador.io' },
    ];
    const status = statusOf(object, factsOf(object, { problems: [...foreign, ...many] }));
    assert.equal(status?.problems.length, 50);
    assert.ok((status?.problems[0]?.message.length ?? 0) <= 4_000);
    assert.ok(JSON.stringify(status).length < 1_000_000);
    assert.deepEqual(inShort(statusOf(object, factsOf(object, { problems: foreign }))), [
      'Accepted=False:Invalid',
      'Programmed=False:OutOfService',
    ]);
  });

  test('says that a limit which cannot be served has no effect', () => {
    const object = objectOf({ domain: 'd', limits: [{ rate: -1 }] }, undefined, 1, 'RateLimit');
    assert.deepEqual(inShort(statusOf(object)), [
      'Accepted=False:Invalid',
      'Programmed=False:OutOfService',
    ]);
  });

  test('says whether limits beside a wrong one are in force, or an older version', () => {
    const right = { pattern: [{ a: 'x' }], rate: 1, unit: 'day' };
    const limits = (...all: readonly object[]) =>
      objectOf({ domain: 'd', limits: all }, undefined, 1, 'RateLimit');
    const part = limits(right, { ...right, rate: -1 });
    const programmed = (rollout: ObjectFacts['rollout']) =>
      inShort(statusOf(part, factsOf(part, { rollout })));
    assert.deepEqual(programmed(startRollout(writtenOf(part).resources)), [
      'Accepted=False:Problems',
      'Programmed=True:Programmed',
    ]);
    assert.deepEqual(programmed(startRollout(writtenOf(limits(right, right)).resources)), [
      'Accepted=False:Problems',
      'Programmed=False:LastGood',
    ]);
  });

  test('says why limits have no effect that only a warning is about', () => {
    const limits = [{ pattern: [{ a: 'x' }], rate: 1, unit: 'day' }];
    const object = objectOf({ domain: 'd', limits }, undefined, 1, 'RateLimit');
    const place = { kind: 'RateLimit', namespace: 'shop', name: 'one', file: PLACE, line: 0 };
    const message = 'the edge does not ask about it';
    const problems = [{ ...place, severity: 'warning' as const, field: 'spec.domain', message }];
    const facts = { ...accepted(object), problems, compiled: problems };
    const status = statusOf(object, factsOf(object, facts));
    assert.deepEqual(inShort(status), ['Accepted=True:Accepted', 'Programmed=False:OutOfService']);
    assert.equal(conditionsOf(status)[1]?.message, `spec.domain: ${message}`);
  });

  test('says that its service is not reached, stays accepted, and takes it back', () => {
    const object = objectOf(GOOD);
    const place = { kind: 'Mapping', namespace: 'shop', name: 'one', file: PLACE, line: 0 };
    const failing = {
      ...place,
      severity: 'warning' as const,
      field: 'spec.service',
      message: 'a:80 accepts no connection',
      since: '2026-01-02T03:04:00.000Z',
    };
    const told = statusOf(object, factsOf(object, { ...accepted(object), problems: [failing] }));
    assert.deepEqual(inShort(told), [
      'Accepted=True:Accepted',
      'Programmed=True:Programmed',
      'Reachable=False:Unreachable',
    ]);
    assert.equal(conditionsOf(told).at(-1)?.message, 'spec.service: a:80 accepts no connection');
    const reported = { ...failing, reported: true as const };
    const kept = statusOf(object, factsOf(object, { ...accepted(object), problems: [reported] }));
    assert.deepEqual(inShort(kept), ['Accepted=True:Accepted', 'Programmed=True:Programmed']);
    const again = objectOf(GOOD, told);
    const over = statusOf(again, factsOf(again, { ...accepted(again), problems: [] }));
    assert.equal(inShort(over).at(-1), 'Reachable=True:Reachable');
    const last = objectOf(GOOD, over);
    assert.equal(statusOf(last, factsOf(last, accepted(last))), undefined);
  });

  test('of a Host has what is wrong with its Secret, which has no status', () => {
    const spec = { hostname: 'shop.example', tlsSecret: { name: 'pair', namespace: 'keys' } };
    const host = objectOf(spec, undefined, 1, 'Host');
    const place = {
      kind: 'Secret',
      namespace: 'keys',
      name: 'pair',
      file: 'Kubernetes secrets',
      line: 0,
    };
    const said = (severity: Severity, message: string) => ({ ...place, severity, message });
    const status = statusOf(
      host,
      factsOf(host, {
        problems: [
          said('error', 'the private key does not fit'),
          said('warning', 'it is not for shop.example (used by Host/shop/one)'),
          said('warning', 'it is not for other.example (used by Host/shop/other)'),
          { ...said('error', 'expired'), name: 'another' },
        ],
      }),
    );
    assert.deepEqual(inShort(status), ['Accepted=False:Problems', 'Programmed=Unknown:Pending']);
    assert.deepEqual(status?.problems, [
      { severity: 'error', message: 'Secret keys/pair: the private key does not fit' },
      {
        severity: 'warning',
        message: 'Secret keys/pair: it is not for shop.example (used by Host/shop/one)',
      },
    ]);
  });

  test('tells what a service finds wrong with what the proxies have taken, and whether anything of it works', () => {
    const object = objectOf(GOOD);
    const [resource] = object.parsed.resources;
    assert.ok(resource !== undefined);
    const { kind, namespace, name, id, source } = resource;
    const found = {
      kind,
      namespace,
      name,
      ...source,
      field: 'spec.service',
      message: 'it is not there',
    };
    const status = (severity: Severity, out: readonly string[] = []) => {
      const problems = [{ ...found, severity }];
      return statusOf(
        object,
        factsOf(object, { ...accepted(object), problems, outOfService: new Set(out) }),
      );
    };
    assert.deepEqual(inShort(status('warning')), [
      'Accepted=True:Accepted',
      'Programmed=True:Programmed',
    ]);
    assert.deepEqual(inShort(status('error')), [
      'Accepted=False:Problems',
      'Programmed=True:Programmed',
    ]);
    const out = status('error', [id]);
    assert.deepEqual(inShort(out), ['Accepted=False:Problems', 'Programmed=False:OutOfService']);
    assert.equal(conditionsOf(out)[1]?.message, 'spec.service: it is not there');
    assert.deepEqual(out?.problems, [
      { severity: 'error', field: 'spec.service', message: 'it is not there' },
    ]);
  });

  test('says that an older version is in force, that another resource is, and what a proxy refuses', () => {
    const wrong = objectOf({ ...GOOD, prefix: 'x' });
    const former = startRollout(writtenOf(objectOf(GOOD)).resources);
    assert.equal(
      inShort(statusOf(wrong, factsOf(wrong, { rollout: former })))[1],
      'Programmed=False:LastGood',
    );
    const object = objectOf(GOOD);
    const others = factsOf(object, { written: writtenOf(objectOf(GOOD)) });
    assert.deepEqual(inShort(statusOf(object, others)), [
      'Accepted=False:Conflicted',
      'Programmed=False:Conflicted',
    ]);
    const [resource] = object.parsed.resources;
    const quarantined = new Map([['Mapping/shop/one', { to: resource, message: 'no such thing' }]]);
    const rejected = statusOf(
      object,
      factsOf(object, { rollout: { ...startRollout(new Map()), quarantined } }),
    );
    assert.equal(conditionsOf(rejected)[1]?.message, 'A proxy rejects it: no such thing');
    const told = [1, 'Ready=False:RefusedByProxy', 'Stalled=True:RefusedByProxy'];
    assert.deepEqual(forPrograms(rejected), told);
  });

  test('of an object for another gateway is not ours', () => {
    const object = objectOf({ ...GOOD, gateway_id: 'other' });
    assert.equal(objectStates(factsOf(object))(object), undefined);
  });

  test('of an object that has left for another gateway is taken back, but for what others have said', () => {
    const others = { type: 'Seen', status: 'True', observedGeneration: 1 };
    const said = statusOf(objectOf(GOOD));
    const status = { ...said, conditions: [...conditionsOf(said), others] };
    const left = objectOf({ ...GOOD, gateway_id: 'other' }, status, 2);
    assert.deepEqual(statusOnceLeft(left, 'c'), { conditions: [others], problems: [] });
    const since = objectOf(
      { ...GOOD, gateway_id: 'other' },
      statusOf(objectOf(GOOD, status, 2)),
      2,
    );
    assert.equal(statusOnceLeft(since, 'c'), undefined);
  });

  test('has none of our ancestors once the object has left, but those of others and of now', () => {
    const ancestor = (controllerName: string, observedGeneration: number) => ({
      ancestorRef: { name: 'g' },
      controllerName,
      conditions: [{ type: 'Accepted', observedGeneration }],
    });
    const [ours, theirs, now] = [ancestor('c', 1), ancestor('d', 1), ancestor('c', 2)];
    const status = { conditions: [], ancestors: [ours, theirs, now] };
    const left = objectOf({ ...GOOD, gateway_id: 'other' }, status, 2);
    assert.deepEqual(statusOnceLeft(left, 'c'), { ancestors: [theirs, now] });
    assert.equal(statusOnceLeft(left, 'e'), undefined);
  });
});

describe('a new status takes something back', () => {
  const problem = { severity: 'error', field: 'spec.service', message: 'it is away' } as const;
  const other = { severity: 'warning', message: 'it is slow' } as const;
  const saying = (problems: readonly object[], observedGeneration = 1) =>
    objectOf(GOOD, {
      conditions: [{ type: 'Accepted', status: 'False', observedGeneration }],
      problems,
    });
  const next = (...problems: readonly (typeof problem | typeof other)[]) => ({
    conditions: [],
    problems,
  });

  test('when it lacks a problem of the one before', () => {
    assert.ok(takesBack(saying([problem, other]), next(problem)));
    assert.ok(takesBack(saying([problem]), next({ ...problem, message: 'it is there' } as never)));
  });

  test('not when it adds one, or nothing was wrong', () => {
    assert.ok(!takesBack(saying([problem]), next(other, problem)));
    assert.ok(!takesBack(saying([]), next()));
    assert.ok(!takesBack(objectOf(GOOD), next(problem)));
  });

  test('not when the object was edited since, or says what is no status of ours', () => {
    assert.ok(!takesBack(saying([problem], 2), next()));
    assert.ok(!takesBack(objectOf(GOOD, { problems: [problem] }), next()));
    assert.ok(!takesBack(objectOf(GOOD, { conditions: 'none', problems: 'none' }), next()));
  });
});
