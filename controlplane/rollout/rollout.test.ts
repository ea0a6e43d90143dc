import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Resource, ResourcesById } from '#resources/resource.ts';
import { documentOf, parseText } from '#resources/testing/problem-lines.ts';
import {
  accept,
  effective,
  opened,
  proven,
  type Rollout,
  refuse,
  startRollout,
  tryAgain,
  want,
} from './rollout.ts';

const resource = (id: string, hash: string) => ({ id, hash, document: {} }) as unknown as Resource;
const set = (versions: Record<string, string>): ResourcesById =>
  new Map(Object.entries(versions).map(([id, hash]) => [id, resource(id, hash)]));
const served = (rollout: Rollout) =>
  Object.fromEntries([...effective(rollout)].map(([id, { hash }]) => [id, hash]));

/**
 * Answers as proxies that reject any set in which `bad` holds, until the rollout rests. Returns the
 * rollout and the number of trials.
 */
function settle(
  rollout: Rollout,
  bad: (resources: ResourcesById) => boolean,
): { rollout: Rollout; trials: number } {
  let trials = 0;
  while (rollout.trial !== undefined && trials < 1000) {
    if (rollout.trial.stage === 'unproven' && bad(effective(rollout))) break;
    rollout = bad(effective(rollout)) ? refuse(rollout, 'no') : accept(rollout);
    trials += 1;
  }
  return { rollout, trials };
}

describe('a rollout', () => {
  test('serves what is wanted at once, and accepts it when the proxies do', () => {
    const trying = want(startRollout(new Map()), set({ a: '1', b: '1' }));
    assert.deepEqual(served(trying), { a: '1', b: '1' });
    assert.equal(trying.accepted.size, 0);
    assert.equal(accept(trying).accepted.size, 2);
    assert.equal(accept(trying).trial, undefined);
  });

  test('a newer edit replaces the trial', () => {
    const first = want(startRollout(set({ a: '1' })), set({ a: '2' }));
    assert.deepEqual(served(want(first, set({ a: '3' }))), { a: '3' });
    assert.equal(want(first, set({ a: '1' })).trial, undefined);
  });

  test('quarantines the one guilty resource, keeps its last good version, and lets the innocent go on', () => {
    const names = Array.from({ length: 100 }, (_, i) => `m${i}`);
    const base = set(Object.fromEntries(names.map(name => [name, '1'])));
    const wanted = set(Object.fromEntries(names.map(name => [name, '2'])));
    const { rollout, trials } = settle(
      want(startRollout(base), wanted),
      r => r.get('m42')?.hash === '2',
    );
    assert.deepEqual([...rollout.quarantined.keys()], ['m42']);
    assert.equal(rollout.accepted.get('m42')?.hash, '1');
    assert.ok(names.every(name => name === 'm42' || rollout.accepted.get(name)?.hash === '2'));
    assert.ok(trials < 20, `${trials} trials`);
  });

  test('finds several guilty resources, also two that only together are rejected', () => {
    const bad = (r: ResourcesById) =>
      r.get('c')?.hash === '2' || (r.get('a')?.hash === '2' && r.get('f')?.hash === '2');
    const all = (hash: string) => set(Object.fromEntries([...'abcdefg'].map(id => [id, hash])));
    const { rollout } = settle(want(startRollout(all('1')), all('2')), bad);
    assert.deepEqual([...rollout.quarantined.keys()].sort(), ['c', 'f']);
    assert.deepEqual(served(rollout), { a: '2', b: '2', c: '1', d: '2', e: '2', f: '1', g: '2' });
  });

  test('edits in a row are taken, and do not have the search begin again', () => {
    const names = Array.from({ length: 16 }, (_, i) => `m${i}`);
    const versions = (hash: string) => Object.fromEntries(names.map(name => [name, hash]));
    const isBad = (resources: ResourcesById) => resources.get('m5')?.hash === '2';
    let rollout = want(startRollout(set(versions('1'))), set(versions('2')));
    let edits = {};
    for (let answers = 0; answers < 60; answers += 1) {
      rollout = isBad(effective(rollout)) ? refuse(rollout, 'no') : accept(rollout);
      if (answers % 2 === 0) continue;
      edits = { ...edits, [`e${answers}`]: '1' };
      rollout = want(rollout, new Map([...rollout.wanted, ...set(edits)]));
    }
    assert.deepEqual([...rollout.quarantined.keys()], ['m5']);
    const { rollout: resting } = settle(rollout, isBad);
    assert.deepEqual(served(resting), { ...versions('2'), m5: '1', ...edits });
  });

  test('a searched change that is taken back or corrected meanwhile is not tried', () => {
    const isBad = (resources: ResourcesById) => resources.get('b')?.hash === '2';
    const base = set({ a: '1', b: '1' });
    const control = refuse(want(startRollout(base), set({ a: '2', b: '2' })), 'no');
    const searching = refuse(accept(control), 'no');
    assert.equal(searching.trial?.stage, 'search');
    for (const rollout of [control, searching]) {
      assert.equal(want(rollout, base).trial, undefined);
      for (const b of ['1', '3']) {
        const { rollout: resting } = settle(want(rollout, set({ a: '2', b })), isBad);
        assert.deepEqual([served(resting), resting.quarantined.size], [{ a: '2', b }, 0]);
      }
    }
  });

  test('a removal that is rejected is undone', () => {
    const { rollout } = settle(
      want(startRollout(set({ a: '1', b: '1' })), set({ b: '2' })),
      r => !r.has('a'),
    );
    assert.deepEqual(served(rollout), { a: '1', b: '2' });
  });

  test('when the base itself is rejected, nothing is blamed and all that is wanted is served', () => {
    const { rollout } = settle(
      want(startRollout(set({ a: '1' })), set({ a: '2', b: '1' })),
      () => true,
    );
    assert.equal(rollout.quarantined.size, 0);
    assert.equal(rollout.trial?.stage, 'unproven');
    assert.deepEqual(served(rollout), { a: '2', b: '1' });
    assert.deepEqual(refuse(rollout, 'again').trial, rollout.trial);
  });

  test('while the base is rejected as it was, the next edit takes nothing away', () => {
    const unproven = settle(
      want(startRollout(set({ a: '1' })), set({ a: '1', b: '1' })),
      () => true,
    );
    const edited = want(unproven.rollout, set({ a: '1', b: '1', c: '1' }));
    const same = refuse(edited, 'no');
    assert.deepEqual([same.trial?.stage, served(same)], ['unproven', { a: '1', b: '1', c: '1' }]);
    const again = want(want(same, set({ a: '1', b: '2', c: '1' })), set({ a: '1', b: '2' }));
    assert.deepEqual(served(refuse(again, 'no')), { a: '1', b: '2' });
    const isBad = (resources: ResourcesById) => resources.get('b')?.hash === '2';
    const { rollout: found } = settle(refuse(again, 'no, b is wrong'), isBad);
    assert.deepEqual([...found.quarantined.keys()], ['b'], 'once there is another cause');
  });

  /** After a start, when Secrets are not known as accepted yet. */
  const restarted = () => {
    const secret = { id: 's', hash: '1' } as Resource;
    const wanted = new Map([...set({ a: '1', b: 'bad' }), ['s', secret]]);
    return want(startRollout(set({ a: '1' })), wanted);
  };

  test('what is never stored, such as Secrets, stays served while it is searched after a start', () => {
    const isBad = (resources: ResourcesById) => resources.get('b')?.hash === 'bad';
    const control = refuse(restarted(), 'no');
    assert.deepEqual(served(control), { a: '1', s: '1' });
    let rollout = control;
    while (rollout.trial !== undefined) {
      assert.ok(effective(rollout).has('s'));
      rollout = isBad(effective(rollout)) ? refuse(rollout, 'no') : accept(rollout);
    }
    assert.deepEqual([...rollout.quarantined.keys()], ['b']);
  });

  test('a Secret that is rejected is found all the same', () => {
    const { rollout } = settle(restarted(), resources => resources.has('s'));
    assert.deepEqual([...rollout.quarantined.keys()], ['s']);
    assert.deepEqual(served(rollout), { a: '1', b: 'bad' });
  });

  test('what is left out for a taken port is tried again by itself, and in quarantine until then', () => {
    const TAKEN = "cannot bind '0.0.0.0:80': Address already in use";
    const wanted = set({ a: '1', b: '1' });
    const base = startRollout(set({ a: '1' }));
    const left = refuse(accept(refuse(want(base, wanted), TAKEN)), TAKEN);
    assert.deepEqual([[...left.quarantined.keys()], left.trial], [['b'], undefined]);
    const trying = tryAgain(left);
    assert.deepEqual(served(trying), { a: '1', b: '1' });
    assert.deepEqual([...trying.quarantined.keys()], ['b']);
    assert.equal(tryAgain(trying), trying, 'one trial at a time');
    const still = refuse(trying, TAKEN);
    assert.deepEqual([[...still.quarantined.keys()], still.trial], [['b'], undefined]);
    const taken = accept(tryAgain(still));
    assert.deepEqual([taken.quarantined.size, taken.trial], [0, undefined]);
    assert.deepEqual(served(taken), { a: '1', b: '1' });
  });

  test('what has a last good version, or is rejected for itself, is not tried again by itself', () => {
    const rejected = (base: Rollout, message: string) =>
      refuse(accept(refuse(want(base, set({ a: '2' })), message)), message);
    const withGood = rejected(startRollout(set({ a: '1' })), 'Address already in use');
    const wrong = rejected(startRollout(new Map()), 'no such filter');
    for (const rollout of [withGood, wrong]) {
      assert.equal(rollout.quarantined.size, 1);
      assert.equal(tryAgain(rollout), rollout);
    }
  });

  test('a rejected document is not tried again until it is touched, be it to say the same', () => {
    const wanted = set({ a: '2' });
    const { rollout } = settle(
      want(startRollout(set({ a: '1' })), wanted),
      r => r.get('a')?.hash === '2',
    );
    assert.equal(
      want(rollout, new Map([...wanted, ...set({ b: '1' })])).trial?.changes[0]?.id,
      'b',
    );
    assert.equal(want(rollout, wanted).trial, undefined);
    assert.deepEqual(served(want(rollout, set({ a: '2' }))), { a: '2' });
    assert.deepEqual(served(want(rollout, set({ a: '3' }))), { a: '3' });
    assert.equal(want(rollout, set({ a: '3' })).quarantined.size, 0);
  });

  test('random sets, edits and guilt: what rests was taken by the proxies, and only guilty changes are left out', () => {
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % n;
    };
    for (let round = 0; round < 300; round++) {
      const ids = Array.from({ length: 1 + random(12) }, (_, i) => `r${i}`);
      const guilty = new Set(ids.filter(() => random(5) === 0).map(id => `${id}@2`));
      const bad = (r: ResourcesById) =>
        [...r.values()].some(({ id, hash }) => guilty.has(`${id}@${hash}`));
      const versions = () =>
        set(
          Object.fromEntries(
            ids.filter(() => random(4) > 0).map(id => [id, String(1 + random(2))]),
          ),
        );
      const base = new Map(
        [...versions()].filter(([id, { hash }]) => !guilty.has(`${id}@${hash}`)),
      );
      const wanted = versions();
      const { rollout } = settle(want(startRollout(base), wanted), bad);
      assert.ok(!bad(rollout.accepted));
      for (const id of ids) {
        const expected = guilty.has(`${id}@${wanted.get(id)?.hash}`)
          ? base.get(id)
          : wanted.get(id);
        assert.equal(rollout.accepted.get(id)?.hash, expected?.hash, `${id} in round ${round}`);
      }
    }
  });
});

describe('while a change is searched for what is rejected', () => {
  const read = (...documents: readonly string[]): ResourcesById =>
    new Map(parseText(documents.join('\n---\n')).resources.map(each => [each.id, each]));
  const route = (name: string, prefix: string, service = 'x') =>
    documentOf('Mapping', { prefix, service }, name);
  const policy = (name: string, ...paths: readonly string[]) =>
    documentOf(
      'FilterPolicy',
      { rules: paths.map(path => ({ path: `${path}*`, filters: [{ name: 'f' }] })) },
      name,
    );
  const prefixes = (resources: ResourcesById) =>
    [...resources.values()].flatMap(each => (each.kind === 'Mapping' ? [each.spec.prefix] : []));
  const started = (...documents: readonly string[]) => startRollout(read(...documents));
  const isMoved = (resources: ResourcesById) => prefixes(resources).includes('/b/');

  test('a rejected Mapping does not stay without its rule, nor after the next edit', () => {
    const before = started(route('m', '/a/'), policy('p', '/a/'));
    const wanted = read(route('m', '/b/'), policy('p', '/b/'), policy('q', '/c/'));
    const { rollout } = settle(want(before, wanted), isMoved);
    assert.deepEqual([...rollout.quarantined.keys()], ['Mapping/default/m']);
    assert.deepEqual(prefixes(effective(rollout)), []);
    assert.deepEqual(
      opened(rollout).map(({ rule: { restricts } }) => 'rule' in restricts && restricts.rule.path),
      ['/a/*'],
    );
    assert.deepEqual(prefixes(proven(rollout)), []);
    const more = new Map([...wanted, ...read(route('other', '/o/'))]);
    assert.deepEqual(prefixes(effective(settle(want(rollout, more), isMoved).rollout)), ['/o/']);
  });

  test('a rejected Mapping stays when its rule does, or when a whole edit takes the rule away', () => {
    const before = started(route('m', '/a/'), policy('p', '/a/'));
    const kept = read(route('m', '/b/'), policy('p', '/a/', '/b/'));
    const { rollout } = settle(want(before, kept), isMoved);
    assert.deepEqual(prefixes(effective(rollout)), ['/a/']);
    const open = read(route('m', '/a/'), policy('p', '/c/'));
    assert.deepEqual(prefixes(effective(want(before, open))), ['/a/']);
  });

  test('a Host is not served without the client certificates that two TLSContexts hand over', () => {
    const host = (more: object) => documentOf('Host', { hostname: 'a.test', ...more }, 'h');
    const context = (name: string, more: object = {}) =>
      documentOf(
        'TLSContext',
        { secret: 's', ca_secret: 'ca', cert_required: true, ...more },
        name,
      );
    const before = started(host({}), context('old', { hosts: ['a.test'] }));
    const wanted = read(host({ tlsContext: 'new' }), context('new'), route('m', '/b/'));
    const isNew = (resources: ResourcesById) =>
      resources.get('Host/default/h')?.hash === wanted.get('Host/default/h')?.hash;
    const { rollout } = settle(want(before, wanted), isNew);
    assert.deepEqual([...rollout.quarantined.keys()], ['Host/default/h']);
    assert.deepEqual(
      [...effective(rollout).keys()],
      ['Mapping/default/m', 'TLSContext/default/new'],
    );
  });

  const attached = (parent: object, hostname: string, name: string) =>
    JSON.stringify({
      ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'r' } },
      spec: {
        parentRefs: [parent],
        hostnames: [hostname],
        rules: [{ name, backendRefs: [{ name: 'x', port: 80 }] }],
      },
    });
  const FILTERS = { filters: [{ name: 'f' }] };
  const targeting = (target: object) =>
    documentOf('FilterPolicy', { targetRefs: [target], ...FILTERS }, 'p');
  const ofHost = (host: string) =>
    documentOf('FilterPolicy', { rules: [{ host, ...FILTERS }] }, 'p');
  const rule = (sectionName: string) => ({ kind: 'HTTPRoute', name: 'r', sectionName });
  const gateway = (name: string) => ({ kind: 'Gateway', name });
  const set = { kind: 'ListenerSet', name: 'l' };

  type Site = readonly [httpRoute: string, policy: string];
  const MOVED: readonly (readonly [what: string, before: Site, after: Site])[] = [
    [
      'rule',
      [attached(gateway('g'), 'a.test', 'one'), targeting(rule('one'))],
      [attached(gateway('g'), 'a.test', 'two'), targeting(rule('two'))],
    ],
    [
      'Gateway',
      [attached(gateway('g'), 'a.test', 'one'), targeting(gateway('g'))],
      [attached(gateway('h'), 'a.test', 'one'), targeting(gateway('h'))],
    ],
    [
      'ListenerSet, perhaps of the Gateway',
      [attached(set, 'a.test', 'one'), targeting(gateway('g'))],
      [attached(gateway('h'), 'a.test', 'one'), targeting(gateway('h'))],
    ],
    [
      'host',
      [attached(gateway('g'), 'a.test', 'one'), ofHost('a.test')],
      [attached(gateway('g'), 'b.test', 'one'), ofHost('b.test')],
    ],
  ];
  for (const [what, before, [httpRoute, policy]] of MOVED)
    test(`a rejected route stays with the policy for its ${what}, and not without`, () => {
      const isServed = (...wanted: readonly string[]) => {
        const moved = [...read(httpRoute).values()].map(({ hash }) => hash);
        const isBad = (resources: ResourcesById) =>
          [...resources.values()].some(({ hash }) => moved.includes(hash));
        const { rollout } = settle(want(started(...before), read(...wanted)), isBad);
        return effective(rollout).has('HTTPRoute/default/r');
      };
      assert.deepEqual(
        [isServed(httpRoute, before[1]), isServed(httpRoute, policy)],
        [true, false],
      );
    });

  const listener = (name: string, port: number) =>
    documentOf('ProxyConfig', { node_group: 'edge', listener: { address: '::1', port } }, name);
  const site = () => read(route('m', '/a/'), listener('usual', 80), listener('taken', 81));
  const answered = (rollout: Rollout, guilty: string) =>
    effective(rollout).has(guilty)
      ? refuse(rollout, "cannot bind '[::1]:81': Address already in use")
      : accept(rollout);

  test('all but what asks for the port that is taken stays served, though nothing is stored', () => {
    const taken = 'ProxyConfig/default/taken';
    let rollout = want(startRollout(new Map()), site());
    for (; rollout.trial !== undefined; rollout = answered(rollout, taken))
      assert.deepEqual(
        [...effective(rollout).keys()].filter(id => id !== taken),
        ['Mapping/default/m', 'ProxyConfig/default/usual'],
      );
    assert.deepEqual([...rollout.quarantined.keys()], [taken]);
  });

  test('what is rejected although its port is another one is found all the same', () => {
    const usual = 'ProxyConfig/default/usual';
    let rollout = want(startRollout(new Map()), site());
    while (rollout.trial !== undefined) rollout = answered(rollout, usual);
    assert.deepEqual([...rollout.quarantined.keys()], [usual]);
  });

  test('an edit that comes meanwhile opens nothing either', () => {
    const before = started(route('m', '/a/'), policy('p', '/a/'));
    const wanted = read(route('m', '/b/'), policy('p', '/b/'), policy('q', '/c/'));
    let rollout = want(before, wanted);
    while (!rollout.accepted.has('FilterPolicy/default/q'))
      rollout = isMoved(effective(rollout)) ? refuse(rollout, 'no') : accept(rollout);
    const more = new Map([...wanted, ...read(route('other', '/o/'))]);
    assert.deepEqual(prefixes(effective(settle(want(rollout, more), isMoved).rollout)), ['/o/']);
  });

  test('no part of a random change is more open than what was and what is written', () => {
    let seed = 11;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return (seed >> 8) % n;
    };
    const PATHS = ['/a/', '/b/', '/c/'];
    const some = () => PATHS.filter(() => random(3) > 0);
    const world = () =>
      read(
        ...[0, 1, 2].flatMap(n =>
          random(4) > 0 ? [route(`m${n}`, PATHS[random(3)] ?? '', `s${random(2)}`)] : [],
        ),
        ...[0, 1].flatMap(n => (random(4) > 0 ? [policy(`p${n}`, ...some())] : [])),
      );
    const rulesOf = (resources: ResourcesById) =>
      [...resources.values()].flatMap(each =>
        each.kind === 'FilterPolicy' ? each.spec.rules.map(({ path }) => path) : [],
      );
    const openIn = (resources: ResourcesById) => {
      const rules = new Set(rulesOf(resources));
      return [...resources.values()].flatMap(each =>
        each.kind === 'Mapping' && !rules.has(`${each.spec.prefix}*`)
          ? [`${each.id} ${each.hash}`]
          : [],
      );
    };
    let held = 0;
    for (let round = 0; round < 400; round++) {
      const versions = [world(), world()];
      const [before = new Map(), wanted = new Map()] = versions;
      const guilty = new Set([...wanted.values()].filter(() => random(4) === 0).map(r => r.hash));
      const bad = (r: ResourcesById) =>
        [...r.values()].some(({ id, hash }) => guilty.has(hash) && before.get(id)?.hash !== hash);
      const allowed = new Set(versions.flatMap(openIn));
      const { rollout } = settle(want(startRollout(before), wanted), resources => {
        for (const each of openIn(resources)) assert.ok(allowed.has(each), `${each} in ${round}`);
        return bad(resources);
      });
      for (const each of openIn(effective(rollout))) assert.ok(allowed.has(each));
      for (const each of openIn(proven(rollout))) assert.ok(allowed.has(each));
      if (opened(rollout).length > 0) held += 1;
      if (guilty.size === 0) assert.deepEqual(effective(rollout), wanted);
    }
    assert.ok(held > 10, `${held} rounds`);
  });
});
