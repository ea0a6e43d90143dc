import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Snapshot, XdsResource } from '#xds/snapshot.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import type { Written } from './candidates.ts';
import { Controller, type ControllerParts } from './controller.ts';
import type { ClientAck } from './rollout-verdict.ts';

const mapping = (name: string, hash: string) =>
  ({
    kind: 'Mapping',
    id: `Mapping/default/${name}`,
    namespace: 'default',
    name,
    hash,
    source: { file: 'a.yaml', line: 1 },
    spec: {},
    document: {},
  }) as Resource;
const policy = (hash: string, ...paths: readonly string[]) =>
  ({
    ...mapping('p', hash),
    kind: 'FilterPolicy',
    id: 'FilterPolicy/default/p',
    spec: { rules: paths.map(path => ({ host: '*', path, filters: [{ name: 'f' }] })) },
  }) as unknown as Resource;
const written = (
  resources: Resource[],
  rejected: string[] = [],
  unreadable: string[] = [],
): Written => ({
  resources: new Map(resources.map(resource => [resource.id, resource])),
  rejected: new Map(
    rejected.map(id => [id, { id, source: { file: 'a.yaml', line: 1 } } as Rejected]),
  ),
  unreadable: new Set(unreadable),
  anonymous: new Set(),
});

/** Returns a snapshot with one resource whose version spells its content. */
function snapshotFor(resources: ResourceSet): Snapshot {
  const version = [
    ...[...resources.filterPolicies, ...resources.mappings].map(
      ({ name, hash }) => `${name}@${hash}`,
    ),
    ...resources.closed.map(({ id, rules = [] }) =>
      [`!${id}`, ...rules.map(({ path }) => path)].join(' '),
    ),
  ].join();
  const resource: XdsResource = {
    name: 'edge',
    version,
    any: { type_url: 't', value: new Uint8Array() },
  };
  return new Map([['t', new Map([['edge', resource]])]]);
}

const versionOf = (snapshot: Snapshot) => snapshot.get('t')?.get('edge')?.version ?? '';

/** Starts a controller with proxies of group edge that reject what `bad` matches. */
function system(
  bad: (content: string) => boolean,
  proxies = 1,
  lastGood: Resource[] = [],
  fails: (content: string) => boolean = () => false,
  refusal = 'no good',
) {
  const kept: string[][] = [];
  let served = '';
  let state: ClientAck['state'] = 'settled';
  const timers: (() => void)[] = [];
  const controller: Controller = new Controller(
    new Map(lastGood.map(resource => [resource.id, resource])),
    {
      groups: () => ['edge'],
      services: new Set(),
      changedOver: () => {},
      compile: resources => {
        const snapshot = snapshotFor(resources);
        return fails(versionOf(snapshot))
          ? { error: 'does not encode' }
          : { snapshot, problems: [] };
      },
      publish: (_group, snapshot) => {
        served = versionOf(snapshot);
        state = 'waiting';
      },
      again: () => {
        state = 'waiting';
      },
      proxies: () =>
        Array.from({ length: proxies }, (_, index) => ({
          id: `${index}`,
          group: 'edge',
          state,
          refusal,
        })),
      keep: accepted =>
        kept.push([...accepted.values()].map(({ name, hash }) => `${name}@${hash}`)),
      after: (_ms, callback) => {
        timers.push(callback);
        return () => {};
      },
    },
  );
  const answer = () => {
    while (state === 'waiting') {
      state = bad(served) ? 'rejected' : 'settled';
      controller.proxiesChanged();
    }
  };
  return { controller, answer, kept, served: () => served, timers };
}

describe('the controller', () => {
  test('is not ready, and says why, while no configuration can be made for proxies without any', () => {
    let broken = true;
    const it = system(
      () => false,
      1,
      [mapping('a', '1')],
      content => broken && content !== '',
    );
    it.controller.written(written([mapping('a', '1')]));
    assert.equal(it.served(), '');
    const told = /^no configuration can be made for node group edge: does not encode/;
    assert.match(it.controller.readiness() ?? '', told);
    assert.match(
      it.controller
        .problems()
        .map(({ message }) => message)
        .join(),
      told,
    );
    broken = false;
    it.controller.written(written([mapping('a', '1')]));
    assert.equal(it.served(), 'a@1');
    assert.deepEqual([it.controller.readiness(), it.controller.problems()], [undefined, []]);
  });

  test('stays ready with what proxies have while nothing newer can be made, and says why', () => {
    let broken = false;
    const it = system(
      () => false,
      1,
      [mapping('a', '1')],
      () => broken,
    );
    it.controller.written(written([mapping('a', '1')]));
    it.answer();
    broken = true;
    it.controller.written(written([mapping('a', '2')]));
    assert.deepEqual([it.served(), it.controller.readiness()], ['a@1', undefined]);
    assert.match(
      it.controller
        .problems()
        .map(({ message }) => message)
        .join(),
      /no configuration can be made for node group edge: does not encode/,
    );
  });

  test('publishes what is written, and keeps it once the proxies took it', () => {
    const it = system(() => false);
    assert.equal(it.controller.readiness(), 'the resources are not read yet');
    it.controller.written(written([mapping('a', '1')]));
    assert.equal(it.served(), 'a@1');
    assert.deepEqual(it.kept, []);
    it.answer();
    assert.deepEqual(it.kept, [['a@1']]);
    assert.equal(it.controller.readiness(), undefined);
  });

  test('without any proxy nothing is kept, but all is served', () => {
    const it = system(() => false, 0);
    it.controller.written(written([mapping('a', '1')]));
    assert.equal(it.served(), 'a@1');
    assert.deepEqual(it.kept, []);
  });

  test('a resource that proxies refuse is a Problem on it; the others go on and its last good version stays', () => {
    const it = system(content => content.includes('bad@2'));
    it.controller.written(written([mapping('a', '1'), mapping('bad', '1')]));
    it.answer();
    it.controller.written(written([mapping('a', '2'), mapping('bad', '2'), mapping('c', '2')]));
    it.answer();
    assert.equal(it.served(), 'a@2,bad@1,c@2');
    const [problem] = it.controller.problems();
    assert.equal(problem?.name, 'bad');
    assert.match(
      problem?.message ?? '',
      /Envoy rejects it: no good\. Its last good version stays in force/,
    );
  });

  test('a rejected resource without a last good version is closed', () => {
    const it = system(content => /(^|,)bad@/.test(content));
    it.controller.written(written([mapping('a', '1'), mapping('bad', '1')]));
    it.answer();
    assert.equal(it.served(), 'a@1,!Mapping/default/bad');
  });

  test('what cannot be compiled is blamed on its resource like a refusal, and never published', () => {
    const it = system(
      () => false,
      1,
      [],
      content => content.includes('bad@1'),
    );
    it.controller.written(written([mapping('a', '1'), mapping('bad', '1'), mapping('c', '1')]));
    it.answer();
    assert.equal(it.served(), 'a@1,c@1,!Mapping/default/bad');
    assert.deepEqual(
      it.controller.problems().map(({ name }) => name),
      ['bad'],
    );
  });

  test('what a rejected FilterPolicy covers beyond its last good version is closed', () => {
    const it = system(content => content.includes('p@2'));
    it.controller.written(written([policy('1', '/a/*')]));
    it.answer();
    it.controller.written(written([policy('2', '/a/*', '/b/*'), mapping('b', '1')]));
    it.answer();
    assert.equal(it.served(), 'p@1,b@1,!FilterPolicy/default/p /b/*');
  });

  test('when proxies refuse even the base, nothing is blamed and all stays served', () => {
    const it = system(() => true);
    it.controller.written(written([mapping('a', '1'), mapping('b', '1')]));
    it.answer();
    assert.equal(it.served(), 'a@1,b@1');
    assert.deepEqual(it.controller.problems(), []);
  });

  const TAKEN = "cannot bind '0.0.0.0:80': Address already in use";

  for (const [what, isTaken] of [
    ['of a resource', (content: string) => /b@/.test(content)],
    ['of the base', () => true],
  ] as const)
    test(`a taken port ${what} is tried again by itself until proxies take it`, () => {
      let taken = true;
      const isBad = (content: string) => taken && isTaken(content);
      const it = system(isBad, 1, [], () => false, TAKEN);
      const again = () => {
        for (const go of it.timers.splice(0)) go();
        it.answer();
      };
      it.controller.written(written([mapping('a', '1')]));
      it.answer();
      it.controller.written(written([mapping('a', '1'), mapping('b', '1')]));
      it.answer();
      const before = it.controller.problems();
      again();
      assert.deepEqual(it.controller.problems(), before);
      taken = false;
      again();
      assert.equal(it.served(), 'a@1,b@1');
      assert.deepEqual(it.kept.at(-1), ['a@1', 'b@1']);
      assert.deepEqual(it.controller.problems(), []);
    });

  test('a file that cannot be read keeps a starting gateway from serving, not a running one', () => {
    const it = system(() => false);
    it.controller.written(written([mapping('a', '1')], [], ['broken.yaml']));
    assert.equal(it.served(), '');
    assert.match(it.controller.readiness() ?? '', /^broken.yaml cannot be read/);
    it.controller.written(written([mapping('a', '1')]));
    assert.equal(it.served(), 'a@1');
    it.controller.written(written([mapping('a', '2')], [], ['broken.yaml']));
    assert.equal(it.served(), 'a@2');
  });

  test('what was kept is in force at once after a restart, also when the file is broken by then', () => {
    const it = system(() => false, 1, [mapping('a', '1')]);
    it.controller.written(written([], [], ['a.yaml']));
    assert.equal(it.served(), 'a@1');
    assert.deepEqual([...it.controller.kept], ['Mapping/default/a']);
  });
});

describe('services and proxies', () => {
  /** Starts a controller with one service and one proxy, each answering when told to. */
  function pair(options: Partial<ControllerParts> = {}) {
    const served: Record<string, string> = {};
    const states: Record<string, ClientAck['state']> = { limits: 'settled', edge: 'settled' };
    const kept: string[] = [];
    const over: string[] = [];
    const timers: (() => void)[] = [];
    let connected = ['limits', 'edge'];
    const controller: Controller = new Controller(new Map(), {
      groups: () => ['edge', 'limits'],
      again: () => {},
      changedOver: () => over.push(served.edge ?? ''),
      services: new Set(['limits']),
      compile: resources => ({ snapshot: snapshotFor(resources), problems: [] }),
      publish: (group, snapshot) => {
        served[group] = versionOf(snapshot);
        states[group] = 'waiting';
      },
      proxies: () =>
        connected.map(group => ({
          id: group,
          group,
          state: states[group] ?? 'waiting',
          refusal: 'no',
        })),
      keep: accepted => kept.push([...accepted.keys()].join()),
      after: (_ms, callback) => {
        timers.push(callback);
        return () => timers.includes(callback) && timers.splice(timers.indexOf(callback), 1);
      },
      ...options,
    });
    const say = (group: string, state: ClientAck['state']) => {
      states[group] = state;
      controller.proxiesChanged();
    };
    const connect = (...groups: string[]) => {
      connected = groups;
      controller.proxiesChanged();
    };
    return { controller, served, say, connect, kept, over, timers };
  }

  test('a change is in force at the services before the proxies get theirs', () => {
    const { controller, served, say, kept } = pair();
    controller.written(written([mapping('a', '1')]));
    assert.deepEqual(served, { limits: 'a@1' });
    say('limits', 'settled');
    assert.deepEqual(served, { limits: 'a@1', edge: 'a@1' });
    assert.deepEqual(kept, []);
    say('edge', 'settled');
    assert.deepEqual(kept, ['Mapping/default/a']);
  });

  test('a newer change replaces one that proxies still wait for', () => {
    const { controller, served, say } = pair();
    controller.written(written([mapping('a', '1')]));
    controller.written(written([mapping('a', '2')]));
    assert.deepEqual(served, { limits: 'a@2' });
    say('limits', 'settled');
    assert.deepEqual(served, { limits: 'a@2', edge: 'a@2' });
  });

  test('what a service refuses never reaches the proxies', () => {
    const { controller, served, say } = pair();
    controller.written(written([mapping('a', '1')]));
    say('limits', 'settled');
    say('edge', 'settled');
    controller.written(written([mapping('a', '2')]));
    const seen = new Set<string | undefined>();
    while (controller.rollout.trial !== undefined) {
      say('limits', served.limits === 'a@2' ? 'rejected' : 'settled');
      seen.add(served.edge);
    }
    assert.deepEqual([...seen], ['a@1']);
    assert.deepEqual(served, { limits: 'a@1', edge: 'a@1' });
    assert.deepEqual([...controller.rollout.quarantined.keys()], ['Mapping/default/a']);
  });

  test('a service that does not answer holds the proxies for a while only', () => {
    const { controller, served, timers } = pair();
    controller.written(written([mapping('a', '1')]));
    timers[0]?.();
    assert.equal(served.edge, 'a@1');
  });

  test('one whose connection breaks again and again holds them no longer', () => {
    const timers = new HandTimers();
    const edge: ClientAck = { id: 'edge', group: 'edge', state: 'settled' };
    let connected = [edge];
    const { controller, served } = pair({ after: timers.after, proxies: () => connected });
    const connect = (...clients: ClientAck[]) => {
      connected = clients;
      controller.proxiesChanged();
    };
    controller.written(written([mapping('a', '1')]));
    connect(edge, { id: '1', group: 'limits', state: 'waiting' });
    const sinceFirst = Math.max(...timers.delays);
    connect(edge);
    // With one client more the wait for this stream is longer.
    connect(edge, { ...edge, id: 'other' }, { id: '2', group: 'limits', state: 'waiting' });
    assert.ok(Math.max(...timers.delays) > sinceFirst);
    timers.run(sinceFirst);
    timers.run(500);
    assert.equal(served.edge, 'a@1');
  });

  test('edits in a row do not prolong that while', () => {
    const { controller, served, timers } = pair();
    controller.written(written([mapping('a', '1')]));
    const begun = [...timers];
    for (const version of ['2', '3']) controller.written(written([mapping('a', version)]));
    assert.deepEqual(timers, begun);
    begun[0]?.();
    assert.equal(served.edge, 'a@3');
  });

  test('a service that was late holds nobody until it has answered', () => {
    const { controller, served, say, timers } = pair();
    controller.written(written([mapping('a', '1')]));
    timers[0]?.();
    controller.written(written([mapping('a', '2')]));
    assert.equal(served.edge, 'a@2');
    say('limits', 'settled');
    controller.written(written([mapping('a', '3')]));
    assert.equal(served.edge, 'a@2');
  });

  test('beside a service that is late another one is waited for', () => {
    const { controller, served, say, connect, timers } = pair({
      services: new Set(['limits', 'logins']),
      groups: () => ['edge', 'limits', 'logins'],
    });
    connect('limits', 'logins', 'edge');
    for (const timer of timers.splice(0)) timer();
    controller.written(written([mapping('a', '1')]));
    say('logins', 'settled');
    for (const timer of timers.splice(0)) timer();
    controller.written(written([mapping('a', '2')]));
    assert.deepEqual([served.logins, served.edge], ['a@2', 'a@1']);
    say('logins', 'settled');
    assert.equal(served.edge, 'a@2');
  });

  test('edits in a row do not put off what a proxy that never answers holds up', () => {
    const { controller, say, connect, kept, over, timers } = pair({
      groups: () => ['edge', 'stuck'],
    });
    connect('edge', 'stuck');
    for (const version of ['1', '2', '3']) {
      controller.written(written([mapping('a', version)]));
      say('edge', 'settled');
    }
    assert.deepEqual([kept, over], [[], []]);
    for (const timer of timers.splice(0)) timer();
    assert.deepEqual([kept, over], [['Mapping/default/a'], ['a@3']]);
    controller.written(written([mapping('a', '4')]));
    say('edge', 'settled');
    assert.deepEqual(over, ['a@3', 'a@4']);
  });

  test('a service that comes back after a start has a change before the proxies, and so has another process of it', () => {
    const timers = new HandTimers();
    const { controller, served, say, connect } = pair({ after: timers.after });
    connect('edge');
    controller.written(written([mapping('a', '1')]));
    timers.run(500);
    connect('edge', 'limits');
    say('limits', 'settled');
    assert.equal(served.edge, undefined);
    timers.run(500);
    assert.equal(served.edge, 'a@1');
  });

  test('one that stays away holds the proxies like one that does not answer', () => {
    const timers = new HandTimers();
    const { controller, served, connect } = pair({ after: timers.after });
    connect('edge');
    controller.written(written([mapping('a', '1')]));
    timers.run(500);
    assert.equal(served.edge, undefined);
    timers.run();
    assert.equal(served.edge, 'a@1');
  });

  test('one that is late may be at another control plane, and has the time to have a change from there', () => {
    const timers = new HandTimers();
    const { controller, served, connect } = pair({ after: timers.after });
    connect('edge');
    controller.written(written([mapping('a', '1')]));
    timers.run();
    controller.written(written([mapping('a', '2')]));
    assert.equal(served.edge, 'a@1');
    timers.run(500);
    assert.equal(served.edge, 'a@2');
  });

  test('one that has nothing to decide by holds nobody', () => {
    const { controller, served, connect } = pair({
      compile: (resources, group) => ({
        snapshot: group === 'limits' ? new Map() : snapshotFor(resources),
        problems: [],
      }),
    });
    connect('edge');
    controller.written(written([mapping('a', '1')]));
    assert.equal(served.edge, 'a@1');
  });

  test('services are told when the proxies go by a change, and not before', () => {
    const { controller, say, over } = pair();
    controller.written(written([mapping('a', '1')]));
    say('limits', 'settled');
    assert.deepEqual(over, []);
    say('edge', 'settled');
    assert.deepEqual(over, ['a@1']);
    say('edge', 'settled');
    assert.deepEqual(over, ['a@1']);
  });

  test('while a proxy refuses a change, it does not go by it', () => {
    const { controller, say, over } = pair();
    controller.written(written([mapping('a', '1')]));
    say('limits', 'settled');
    say('edge', 'rejected');
    assert.deepEqual(over, []);
  });

  test('services alone prove nothing', () => {
    const { controller, say, connect, kept } = pair();
    connect('limits');
    controller.written(written([mapping('a', '1')]));
    say('limits', 'settled');
    assert.deepEqual(kept, []);
    connect('limits', 'edge');
    say('edge', 'settled');
    assert.deepEqual(kept, ['Mapping/default/a']);
  });

  test('services do not stand for proxies that are all late', () => {
    const { controller, say, kept, timers } = pair();
    controller.written(written([mapping('a', '1')]));
    say('limits', 'settled');
    for (const timer of timers.splice(0)) timer();
    assert.deepEqual(kept, []);
    say('edge', 'settled');
    assert.deepEqual(kept, ['Mapping/default/a']);
  });

  test('a proxy that has rejected the base for long has answered, and is waited for at the next change', () => {
    const groups = ['limits', 'edge', 'other'];
    const { controller, say, connect, kept, timers } = pair({ groups: () => groups });
    connect(...groups);
    controller.written(written([mapping('a', '1')]));
    for (const _trial of ['first', 'control', 'unproven'])
      for (const group of groups) say(group, group === 'other' ? 'rejected' : 'settled');
    assert.equal(controller.rollout.trial?.stage, 'unproven');
    for (const timer of timers.splice(0)) timer();
    controller.written(written([mapping('a', '2')]));
    say('limits', 'settled');
    say('edge', 'settled');
    assert.deepEqual(kept, []);
    say('other', 'settled');
    assert.deepEqual(kept, ['Mapping/default/a']);
  });

  describe('of which one decides by FilterPolicies', () => {
    /** It has the rule for /a/, and has answered. */
    function authorized() {
      const it = pair({ authorizer: 'limits' });
      it.controller.written(written([policy('1', '/a/*')]));
      it.say('limits', 'settled');
      it.say('edge', 'settled');
      return it;
    }
    const late = ({ timers }: ReturnType<typeof pair>) => {
      for (const timer of timers.splice(0)) timer();
    };
    const edited = () => written([policy('2', '/a/*', '/b/*'), mapping('b', '1')]);

    for (const [what, connected] of [
      ['does not answer', ['limits', 'edge']],
      ['is away', ['edge']],
    ] as const) {
      test(`what new rules cover is closed while it ${what}, and served once it has them`, () => {
        const it = authorized();
        it.connect(...connected);
        it.controller.written(edited());
        late(it);
        assert.equal(it.served.edge, 'p@1,b@1,!FilterPolicy/default/p /b/*');
        const [closed] = it.controller.inForce.closed;
        assert.match(closed?.reason ?? '', /^ext-authz does not have this version/);
        it.say('edge', 'settled');
        it.connect('limits', 'edge');
        it.say('limits', 'settled');
        late(it);
        assert.equal(it.served.edge, 'p@2,b@1');
        assert.deepEqual(it.controller.inForce.closed, []);
      });
    }

    test('what proxies reject of a change is found once it has the rules', () => {
      const it = authorized();
      it.controller.written(edited());
      late(it);
      it.say('edge', 'settled');
      assert.deepEqual(it.kept, ['FilterPolicy/default/p']);
      it.say('limits', 'settled');
      while (it.controller.rollout.trial !== undefined) {
        it.say('limits', 'settled');
        it.say('edge', it.served.edge?.includes('b@1') ? 'rejected' : 'settled');
      }
      assert.deepEqual([...it.controller.rollout.quarantined.keys()], ['Mapping/default/b']);
    });

    test('a change without new rules goes on without it', () => {
      const it = authorized();
      it.connect('edge');
      it.controller.written(written([policy('1', '/a/*'), mapping('b', '1')]));
      late(it);
      assert.equal(it.served.edge, 'p@1,b@1');
      it.controller.written(written([mapping('b', '1')]));
      late(it);
      assert.equal(it.served.edge, 'b@1');
    });

    test('nothing is closed before it was seen, since another control plane may have it', () => {
      const it = pair({ authorizer: 'limits' });
      it.connect('edge');
      it.controller.written(written([policy('1', '/a/*')]));
      late(it);
      assert.equal(it.served.edge, 'p@1');
    });
  });
});

describe('proxies that are not there', () => {
  /**
   * Starts a controller of the groups edge and side after a restart, with `a` as last good. The
   * edge rejects a@2.
   */
  function restarted() {
    const served: Record<string, string> = {};
    const settledWith: Record<string, string | undefined> = {};
    const kept: string[] = [];
    const timers: (() => void)[] = [];
    let connected: readonly string[] = [];
    let configured: readonly string[] = ['edge', 'side'];
    const refuses = (group: string) => group === 'edge' && (served[group] ?? '').includes('a@2');
    const stateOf = (group: string): ClientAck['state'] => {
      if (settledWith[group] !== served[group]) return 'waiting';
      return refuses(group) ? 'rejected' : 'settled';
    };
    const lastGood = mapping('a', '1');
    const controller: Controller = new Controller(new Map([[lastGood.id, lastGood]]), {
      groups: () => configured,
      services: new Set(),
      again: () => {},
      changedOver: () => {},
      compile: resources => ({ snapshot: snapshotFor(resources), problems: [] }),
      publish: (group, snapshot) => {
        served[group] = versionOf(snapshot);
      },
      proxies: () =>
        connected.map(group => ({ id: group, group, state: stateOf(group), refusal: 'no good' })),
      keep: accepted =>
        kept.push([...accepted.values()].map(({ name, hash }) => `${name}@${hash}`).join()),
      after: (_ms, callback) => {
        timers.push(callback);
        return () => timers.includes(callback) && timers.splice(timers.indexOf(callback), 1);
      },
    });
    /** Connects proxies of these groups, which answer for as long as there is something new. */
    const connect = (...groups: string[]) => {
      connected = groups;
      controller.proxiesChanged();
      while (groups.some(group => stateOf(group) === 'waiting')) {
        for (const group of groups) settledWith[group] = served[group];
        controller.proxiesChanged();
      }
    };
    const configure = (...groups: string[]) => {
      configured = groups;
    };
    return { configure, controller, connect, kept, served, timers };
  }

  test('are waited for after a restart: what the last of them refuses does not replace the last good', () => {
    const { controller, connect, kept, served } = restarted();
    controller.written(written([mapping('a', '2')]));
    connect('side');
    assert.deepEqual(kept, []);
    connect('side', 'edge');
    assert.equal(served.edge, 'a@1');
    assert.match(
      controller.problems()[0]?.message ?? '',
      /Envoy rejects it: no good\. Its last good version stays/,
    );
    assert.deepEqual(new Set(kept), new Set(['a@1']));
  });

  test('are waited for while they restart themselves', () => {
    const { controller, connect, kept, served } = restarted();
    const other = mapping('b', '1');
    controller.written(written([mapping('a', '1'), other]));
    connect('side', 'edge');
    assert.deepEqual(kept, ['a@1,b@1']);
    connect('side');
    controller.written(written([mapping('a', '2'), other]));
    connect('side');
    assert.deepEqual(kept, ['a@1,b@1']);
    connect('side', 'edge');
    assert.equal(served.edge, 'a@1,b@1');
  });

  test('are waited for when all were gone, however long that was', () => {
    const { controller, connect, kept, served, timers } = restarted();
    const other = mapping('b', '1');
    controller.written(written([mapping('a', '1'), other]));
    connect('side', 'edge');
    connect();
    controller.written(written([mapping('a', '2'), other]));
    for (const timer of timers.splice(0)) timer();
    connect('side');
    assert.deepEqual(kept, ['a@1,b@1']);
    connect('side', 'edge');
    assert.equal(served.edge, 'a@1,b@1');
  });

  test('are not waited for when their group has no configuration any more', () => {
    const { configure, controller, connect, kept } = restarted();
    controller.written(written([mapping('a', '1'), mapping('b', '1')]));
    connect('side', 'edge');
    connect('edge');
    configure('edge');
    controller.written(written([mapping('a', '1')]));
    connect('edge');
    assert.deepEqual(kept, ['a@1,b@1', 'a@1']);
  });

  test('are not waited for any longer when the first has been there for a while, nor later on', () => {
    const { controller, connect, kept, timers } = restarted();
    controller.written(written([mapping('a', '2')]));
    for (const timer of timers.splice(0)) timer();
    connect('side');
    assert.deepEqual(kept, [], 'the time begins when a proxy comes');
    for (const timer of timers.splice(0)) timer();
    assert.deepEqual(kept, ['a@2']);
    controller.written(written([mapping('a', '3')]));
    connect('side');
    assert.deepEqual(kept, ['a@2', 'a@3']);
  });
});
