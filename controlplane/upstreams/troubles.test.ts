import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  SampledRequest,
  UpstreamCounts,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { describeFailure } from './failure.ts';
import type { Evidence, Known } from './known.ts';
import { define, lasting, look } from './troubles.ts';
import type { Upstream } from './upstream.ts';

const UPSTREAM: Upstream = {
  ...{ group: 'edge', cluster: 'shop', statName: 'shop', origins: ['Mapping/default/m'] },
  ...{ hosts: [{ host: 'shop', port: 80 }], family: 'any' },
};
const SECURE: Upstream = {
  ...UPSTREAM,
  tls: { subjects: ['shop'], sni: 'shop', alpn: [], authorities: { file: '/ca' } },
};
const DISCOVERED: Upstream = { ...UPSTREAM, hosts: [], discovered: 'shop' };
const RARELY_CHECKED: Upstream = { ...UPSTREAM, checkMs: 300_000 };
const DECIDER: Upstream = { ...UPSTREAM, cluster: 'ext-authz', origins: [] };
const COLLECTOR: Upstream = { ...UPSTREAM, cluster: 'log-service' };
const EDITED: Upstream = { ...UPSTREAM, hosts: [{ host: 'shop', port: 81 }] };

const NONE: UpstreamCounts = {
  ...{ requests: 0, serverErrors: 0, connectFailures: 0, connectTimeouts: 0, tlsFailures: 0 },
  ...{ noHealthy: 0, updateFailures: 0, updatesEmpty: 0, updates: 0, checks: 0, checkFailures: 0 },
  ...{ ejections: 0, answers: 0, late: 0, timeouts: 0, failedCalls: 0 },
};

/** What happens at a second: the cluster is edited, or the figures change. */
type Step = {
  readonly at: number;
  readonly edit?: Upstream;
  readonly counts?: Partial<UpstreamCounts>;
  /** Those of the last minute. Default: the same. */
  readonly minute?: Partial<UpstreamCounts>;
  readonly members?: readonly [members: number, healthy: number];
  /** A sampled request that failed, and its flag. Default: it found no connection. */
  readonly failed?: string;
  readonly flag?: string;
  /** Sampled requests by route: how many were late, and how many were not. */
  readonly sampled?: Readonly<Record<string, readonly [late: number, inTime: number]>>;
  readonly missing?: string;
  /** A route that is in force no more. */
  readonly gone?: string;
  /** The kind of the trouble that is told after it, if any. */
  readonly told?: string;
  /** What the words of the trouble have in them. */
  readonly words?: string;
};

/** Looks every two seconds, as the shell does. */
function play(upstream: Upstream, steps: readonly Step[]): void {
  let known = define([], [upstream], 0);
  let state: Omit<Step, 'at'> = {};
  const requests: SampledRequest[] = [];
  let lastFailure: UpstreamFigures['lastFailure'];
  const last = steps.at(-1)?.at ?? 0;
  for (let second = 0; second <= last; second += 2) {
    const step = steps.find(({ at }) => at === second);
    const now = second * 1000;
    if (step?.edit !== undefined) known = define(known, [step.edit], now);
    if (step?.failed !== undefined) lastFailure = failureOf(step.failed, step.flag ?? 'UF', now);
    requests.push(...samplesOf(step?.sampled, now));
    state = { ...state, ...step };
    known = known.map(each =>
      look(
        each,
        {
          figures: figuresOf(state, lastFailure),
          requests,
          isInForce: route => route !== state.gone,
          missing: state.missing || undefined,
        },
        now,
      ),
    );
    if (step !== undefined && 'told' in step)
      assert.deepEqual(kinds(known, now), step.told === '' ? [] : [step.told], `at ${second} s`);
    const [trouble] = lasting(known, now);
    if (step?.words !== undefined)
      assert.ok(trouble && describeFailure(trouble.failure).includes(step.words), `at ${second} s`);
  }
}

function failureOf(text: string, flag: string, at: number): UpstreamFigures['lastFailure'] {
  return { at, text, flags: [flag], upstream: 'a:1', mapping: 'm' };
}

function samplesOf(sampled: Step['sampled'], at: number): readonly SampledRequest[] {
  return Object.entries(sampled ?? {}).flatMap(([route, [late, inTime]]) =>
    Array.from({ length: late + inTime }, (_, index) => ({
      ...SAMPLE,
      ...(index < late ? { status: 504, flags: ['UT'], upstream: '' } : {}),
      ...{ at, route },
    })),
  );
}

const SAMPLE: SampledRequest = {
  ...{ id: 1, at: 0, node: 'edge-1', group: 'edge', weight: 1, method: 'GET', scheme: 'http' },
  ...{ host: 'a.test', path: '/', protocol: 'HTTP/1.1', status: 200, flags: [], details: '' },
  ...{ client: '192.0.2.1', userAgent: '', requestId: '', durationMs: 1, attempts: 1 },
  ...{ bytesReceived: 0, bytesSent: 0, route: 'm', cluster: 'shop', upstream: 'a:1', failure: '' },
};

function kinds(known: readonly Known[], now: number): readonly string[] {
  return lasting(known, now).map(({ failure }) => failure.kind);
}

function figuresOf(
  { counts = {}, members: [members, healthy] = [1, 1], minute = counts }: Omit<Step, 'at'>,
  lastFailure: UpstreamFigures['lastFailure'],
): UpstreamFigures {
  const last15Minutes = { ...NONE, ...counts };
  const lastMinute = { ...NONE, ...minute };
  return {
    ...{ group: 'edge', cluster: 'shop', origins: [], proxies: 1, members, healthy },
    ...{ lastMinute, last15Minutes, lastFailure },
  };
}

const REFUSED = 'delayed connect error: Connection refused';

const RESET = 'upstream_reset_before_response_started{connection_termination}';

const STORIES: readonly [story: string, upstream: Upstream, steps: readonly Step[]][] = [
  [
    'a service that refuses connections is told after some seconds, until it serves again',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 1 }, failed: REFUSED, told: '' },
      { at: 8, told: 'connect' },
      { at: 600, told: 'connect' },
      { at: 602, counts: { connectFailures: 1, requests: 1 }, told: '' },
    ],
  ],
  [
    'one failure in a deploy is not told',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 9 } },
      { at: 10, counts: { requests: 9, connectFailures: 1 }, failed: REFUSED },
      { at: 12, counts: { requests: 12, connectFailures: 1 }, told: '' },
      { at: 20, counts: { requests: 20, connectFailures: 1 }, told: '' },
      { at: 60, counts: { requests: 30, connectFailures: 1 }, told: '' },
    ],
  ],
  [
    'one instance of several that refuses connections is told later',
    UPSTREAM,
    Array.from({ length: 20 }, (_, at) => ({
      at: 2 * at,
      counts: { requests: 5 * at, connectFailures: at },
      told: at < 11 ? '' : 'some connect',
    })),
  ],
  [
    'an instance that is taken out and tried again is told until it serves',
    UPSTREAM,
    [
      ...[2, 8, 18, 34, 64, 96].map((at, count) => ({
        at,
        counts: { requests: at, connectFailures: 3 * (count + 1) },
        told: at < 34 ? '' : 'some connect',
      })),
      { at: 130, counts: { requests: 200, connectFailures: 18 }, told: 'some connect' },
      { at: 138, counts: { requests: 201, connectFailures: 18 }, told: '' },
    ],
  ],
  [
    'a failure without a sampled request is told too',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 3 } },
      { at: 8, told: 'connect' },
    ],
  ],
  [
    'the reason of a failure that was only counted is told when it is known, and stays',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 3 } },
      { at: 8, told: 'connect', words: '(as the proxies count)' },
      { at: 20, failed: REFUSED, told: 'connect', words: `(${REFUSED})` },
      { at: 30, counts: { connectFailures: 9 }, told: 'connect', words: `(${REFUSED})` },
      { at: 40, failed: 'delayed connect error: timeout', words: `(${REFUSED})` },
    ],
  ],
  [
    'a counted failure of connections turns out to be one of TLS at once',
    SECURE,
    [
      { at: 2, counts: { connectFailures: 3 } },
      { at: 8, told: 'connect' },
      { at: 20, failed: 'TLS_error: WRONG_VERSION_NUMBER', told: 'tls', words: 'speaks no TLS' },
    ],
  ],
  [
    'a failure that nothing repeats is forgotten after a quarter of an hour',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 1 }, failed: REFUSED },
      { at: 10, counts: {}, told: 'connect' },
      { at: 910, told: '' },
    ],
  ],
  [
    'an edit ends a failure, and late counts do not bring it back',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 1 }, failed: REFUSED },
      { at: 8, told: 'connect' },
      { at: 10, edit: EDITED, told: '' },
      { at: 14, counts: { connectFailures: 4 } },
      { at: 30, told: '' },
    ],
  ],
  [
    'an edit to another wrong port is told from its own first request',
    UPSTREAM,
    [
      { at: 2, counts: { connectFailures: 1 }, failed: REFUSED },
      { at: 10, edit: EDITED },
      { at: 12, counts: { connectFailures: 2 }, failed: REFUSED, told: '' },
      { at: 18, told: 'connect' },
    ],
  ],
  [
    'a handshake that fails is told as such',
    SECURE,
    [
      { at: 2, counts: { connectFailures: 1, tlsFailures: 1 }, failed: 'TLS_error:|1:WRONG' },
      { at: 8, told: 'tls' },
    ],
  ],
  [
    'a TLS service that refuses connections has no failed handshake',
    SECURE,
    [
      { at: 2, counts: { connectFailures: 1, tlsFailures: 1 }, failed: REFUSED },
      { at: 8, told: 'connect' },
    ],
  ],
  [
    'a name without an address is told without any request',
    UPSTREAM,
    [
      { at: 2, members: [0, 0], told: '' },
      { at: 8, told: 'dns' },
      { at: 10, members: [1, 1], told: '' },
    ],
  ],
  [
    'a service that starts within some seconds is not told',
    DISCOVERED,
    [
      { at: 2, members: [0, 0], told: '' },
      { at: 10, told: '' },
      { at: 12, members: [1, 1], told: '' },
      { at: 40, told: '' },
    ],
  ],
  [
    'a service without instances is told',
    DISCOVERED,
    [
      { at: 2, members: [0, 0] },
      { at: 14, told: 'empty' },
    ],
  ],
  [
    'a name that discovery does not know is told by its own words',
    DISCOVERED,
    [
      { at: 2, members: [0, 0], missing: 'no "shop"', told: '' },
      { at: 6, told: 'unknown' },
    ],
  ],
  [
    'a name that one source has nothing of, and another has, is not told',
    DISCOVERED,
    [{ at: 20, missing: 'DNS has no address for "a"', members: [1, 1], told: '' }],
  ],
  [
    'a name that DNS has is none of the discovery service',
    UPSTREAM,
    [{ at: 20, missing: 'x', told: '' }],
  ],
  [
    'instances that fail their checks are told',
    UPSTREAM,
    [
      { at: 2, members: [3, 2], counts: { checks: 9, checkFailures: 3 }, told: '' },
      { at: 14, told: 'some unhealthy' },
      { at: 16, members: [3, 0], told: 'some unhealthy' },
      { at: 22, told: 'unhealthy' },
      { at: 24, members: [3, 3], told: '' },
    ],
  ],
  [
    'an instance that fails rare checks is told until it passes one, also while none is made',
    RARELY_CHECKED,
    [
      { at: 2, members: [3, 2], counts: { checks: 3, checkFailures: 1 }, told: '' },
      { at: 14, told: 'some unhealthy' },
      { at: 82, minute: {}, told: 'some unhealthy' },
      { at: 1000, counts: {}, told: 'some unhealthy' },
      { at: 1002, members: [3, 3], told: '' },
    ],
  ],
  [
    'a failure of rare checks is told as such where the check itself was not seen',
    RARELY_CHECKED,
    [
      { at: 2, members: [3, 0] },
      { at: 8, told: 'unhealthy', words: 'no instance passes its health checks' },
    ],
  ],
  [
    'instances with rare checks that requests have taken out are told so',
    RARELY_CHECKED,
    [
      { at: 2, members: [3, 0], counts: { requests: 9, serverErrors: 9, ejections: 3 } },
      { at: 8, told: 'unhealthy', words: 'each failed several requests in a row' },
    ],
  ],
  [
    'one instance that is taken out for a while is not told, all of them are until one serves',
    UPSTREAM,
    [
      { at: 2, members: [3, 2] },
      { at: 30, told: '' },
      { at: 32, members: [3, 0], counts: { requests: 9, serverErrors: 9 } },
      { at: 38, told: 'unhealthy' },
      { at: 44, members: [3, 3], told: 'unhealthy' },
      { at: 50, members: [3, 0], counts: { requests: 19, serverErrors: 19 }, told: 'unhealthy' },
      { at: 60, members: [3, 1], counts: { requests: 29, serverErrors: 19 }, told: '' },
    ],
  ],
  [
    'all instances that are taken out and serve all the same are not told',
    UPSTREAM,
    Array.from({ length: 10 }, (_, at) => ({
      ...{ at: 2 * at, members: [1, 0] as const, told: '' },
      counts: { requests: 5 * at, serverErrors: 3 },
    })),
  ],
  [
    'a service that is late to answer is told, until it answers in time',
    UPSTREAM,
    [
      { at: 2, sampled: { m: [20, 0] }, told: '' },
      { at: 8, told: 'late', words: 'Until then they get 504' },
      { at: 12, sampled: { m: [20, 0] }, told: 'late' },
      { at: 600, told: 'late' },
      { at: 602, sampled: { m: [0, 10] }, told: '' },
    ],
  ],
  [
    'a service that is late again and again is forgotten a quarter of an hour after the last time',
    UPSTREAM,
    [
      { at: 2, sampled: { m: [1, 0] } },
      { at: 402, sampled: { m: [1, 0] }, told: '' },
      { at: 802, sampled: { m: [1, 0] } },
      { at: 808, told: 'late' },
      { at: 1760, told: 'late' },
      { at: 1764, told: '' },
    ],
  ],
  [
    'late requests among many in time are not told, and two are not',
    UPSTREAM,
    [
      { at: 2, sampled: { m: [2, 0] } },
      { at: 20, told: '' },
      { at: 22, sampled: { m: [80, 20] } },
      { at: 40, told: '' },
      { at: 42, counts: { requests: 300, serverErrors: 290 }, sampled: { m: [90, 200] } },
      { at: 60, told: '' },
    ],
  ],
  [
    'an edit ends lateness, and requests from before do not bring it back',
    UPSTREAM,
    [
      { at: 2, sampled: { m: [20, 0] } },
      { at: 8, told: 'late' },
      { at: 10, edit: EDITED, told: '' },
      { at: 30, told: '' },
    ],
  ],
  [
    'a route that is removed while it is late is told no more, nor is what it was late with',
    UPSTREAM,
    [
      { at: 2, sampled: { m: [20, 0], quick: [0, 20] } },
      { at: 8, told: 'late' },
      { at: 10, gone: 'm', told: '' },
      { at: 30, told: '' },
    ],
  ],
  [
    'instances that are taken out because they are late are told as late',
    UPSTREAM,
    [
      { at: 2, members: [3, 0], sampled: { m: [9, 0] } },
      { at: 8, told: 'late' },
    ],
  ],
  [
    'a service that closes each connection is told, until it answers',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 2, serverErrors: 1 }, failed: RESET, flag: 'UC', told: '' },
      { at: 10, counts: { requests: 4, serverErrors: 2 }, failed: RESET, flag: 'UC' },
      { at: 12, told: 'broken', words: `(${RESET}). Does it speak https? Then write` },
      { at: 600, told: 'broken' },
      { at: 602, counts: { requests: 6, serverErrors: 2, answers: 1 }, told: '' },
    ],
  ],
  [
    'a service over TLS that answers garbage is not told to speak https',
    SECURE,
    [2, 6, 10].map(at => ({
      ...{ at, counts: { requests: at, serverErrors: at }, failed: 'upstream_protocol_error' },
      ...(at < 10 ? {} : { told: 'broken', words: 'Look at the log of the service' }),
      flag: 'UPE',
    })),
  ],
  [
    'a connection that is closed once is not told, whatever is answered after it',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 1, serverErrors: 1 }, failed: RESET, flag: 'UC' },
      { at: 6, counts: { requests: 9, serverErrors: 9 }, told: '' },
      { at: 12, counts: { requests: 20, serverErrors: 20 }, told: '' },
      { at: 40, told: '' },
    ],
  ],
  [
    'a service that closes some connections and answers on others is not told',
    UPSTREAM,
    Array.from({ length: 20 }, (_, at) => ({
      ...{ at: 2 * at, failed: RESET, flag: 'UC', told: '' },
      counts: { requests: 3 * at, answers: 2 * at, serverErrors: at },
    })),
  ],
  [
    'most instances that refuse connections are counted, while ejections come and go',
    UPSTREAM,
    Array.from({ length: 30 }, (_, at) => ({
      ...{ at: 2 * at, counts: { requests: 5 * at, connectFailures: at } },
      members: at % 3 === 0 ? ([4, 4] as const) : ([4, at > 20 ? 1 : 2] as const),
      ...(at === 20 ? { words: 'Look at this instance. Others serve its requests' } : {}),
      ...(at === 29 ? { told: 'some connect' } : {}),
    })),
  ],
  [
    'once fewer than half are healthy it says so, and until they all are again',
    UPSTREAM,
    [
      ...Array.from({ length: 40 }, (_, at) => ({
        ...{ at: 2 * at, counts: { requests: 5 * at, connectFailures: at } },
        members: at % 3 === 0 ? ([4, 4] as const) : ([4, 1] as const),
      })),
      { at: 80, words: '3 of 4 instances fail. Look at each. Until then all instances get' },
      { at: 140, members: [4, 4], counts: { requests: 400, connectFailures: 39 }, told: '' },
    ],
  ],
  [
    'most instances that fail their checks are counted',
    UPSTREAM,
    [
      { at: 2, members: [3, 1], counts: { checks: 9, checkFailures: 6 } },
      { at: 8, told: 'unhealthy', words: '2 of 3 instances fail their health checks' },
      { at: 10, members: [3, 0] },
      { at: 16, told: 'unhealthy', words: 'no instance passes its health checks' },
      { at: 18, members: [3, 2] },
      { at: 30, told: 'some unhealthy', words: 'The others serve' },
    ],
  ],
  [
    'most instances that are taken out are counted, until requests succeed',
    UPSTREAM,
    [
      { at: 2, members: [4, 1], counts: { requests: 9, serverErrors: 9 } },
      { at: 8, told: 'unhealthy', words: '3 of 4 instances failed several requests in a row' },
      { at: 10, members: [4, 4], counts: { requests: 19, serverErrors: 14 }, told: 'unhealthy' },
      { at: 60, told: 'unhealthy', words: '3 of 4 instances failed' },
      { at: 62, counts: { requests: 29, serverErrors: 14 }, told: '' },
    ],
  ],
  [
    'a service that leaves calls without an answer is told, until it answers',
    DECIDER,
    [
      { at: 2, counts: { requests: 9, answers: 9, timeouts: 1 }, told: '' },
      { at: 4, counts: { requests: 19, answers: 9, timeouts: 11 }, told: '' },
      { at: 10, counts: { requests: 29, answers: 9, timeouts: 21 }, told: 'silent' },
      { at: 600, told: 'silent', words: 'restart it if it hangs' },
      { at: 602, counts: { requests: 39, answers: 19, timeouts: 21 }, told: '' },
    ],
  ],
  [
    'a collector that answers all calls with errors is told, until one succeeds',
    COLLECTOR,
    [
      { at: 2, counts: { requests: 9, answers: 9, failedCalls: 1 }, told: '' },
      { at: 4, counts: { requests: 19, answers: 19, failedCalls: 11 }, told: '' },
      { at: 10, counts: { requests: 29, answers: 29, failedCalls: 21 }, told: 'refused' },
      { at: 600, told: 'refused', words: 'whether it accepts what the `driver` sends' },
      { at: 602, counts: { requests: 39, answers: 39, failedCalls: 21 }, told: '' },
    ],
  ],
  [
    'runs of errors of a service with outlier detection are not told so',
    UPSTREAM,
    Array.from({ length: 30 }, (_, at) => ({
      ...{ at: 2 * at, told: '' },
      counts: { requests: at, answers: at, failedCalls: at },
    })),
  ],
  [
    'a service that is late now and then is not told',
    DECIDER,
    Array.from({ length: 30 }, (_, at) => ({
      ...{ at: 2 * at, told: '' },
      counts: { requests: 9 * at, answers: 7 * at, timeouts: 2 * at },
    })),
  ],
  [
    'a service whose requests wait for long is told by their routes alone',
    UPSTREAM,
    Array.from({ length: 30 }, (_, at) => ({ at: 2 * at, counts: { timeouts: at }, told: '' })),
  ],
  [
    'an instance that is taken out again and again is told, until it is not for a while',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 9 }, told: '' },
      { at: 10, counts: { requests: 19, ejections: 1 }, members: [2, 1], told: '' },
      { at: 20, counts: { requests: 29, ejections: 2 }, members: [2, 2], told: '' },
      { at: 34, counts: { requests: 39, ejections: 3 }, members: [2, 1], told: 'some failing' },
      { at: 64, counts: { requests: 99, ejections: 3 }, members: [2, 2] },
      { at: 74, told: 'some failing' },
      { at: 76, told: '' },
    ],
  ],
  [
    'an instance that is taken out for minutes is told meanwhile, and not after the first time',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 9, ejections: 1 }, members: [2, 1] },
      { at: 60, counts: { requests: 99, ejections: 1 }, told: '' },
      { at: 62, members: [2, 2] },
      { at: 64, counts: { requests: 109, ejections: 2 }, members: [2, 1], told: 'some failing' },
      { at: 180, counts: { requests: 300, ejections: 2 }, told: 'some failing' },
      { at: 182, members: [2, 2], told: 'some failing' },
      { at: 200, told: '' },
    ],
  ],
  [
    'an instance that refuses connections is told while it is taken out for minutes',
    UPSTREAM,
    [
      { at: 2, counts: { requests: 9 } },
      { at: 4, counts: { requests: 19, connectFailures: 5 }, members: [2, 1] },
      { at: 60, counts: { requests: 99, connectFailures: 5 }, told: '' },
      { at: 62, members: [2, 2] },
      { at: 64, counts: { requests: 109, connectFailures: 9 }, members: [2, 1] },
      { at: 66, told: 'some connect' },
      { at: 180, counts: { requests: 300, connectFailures: 9 }, told: 'some connect' },
      { at: 182, members: [2, 2], told: 'some connect' },
      { at: 200, told: '' },
    ],
  ],
  [
    'another failure is told when it has lasted',
    DISCOVERED,
    [
      { at: 2, missing: 'no "shop"', members: [0, 0] },
      { at: 6, told: 'unknown' },
      { at: 8, missing: '', told: 'unknown' },
      { at: 16, told: 'unknown' },
      { at: 18, told: 'empty' },
    ],
  ],
];

for (const [story, upstream, steps] of STORIES) test(story, () => play(upstream, steps));

const NOTHING: Evidence = {
  ...{ figures: undefined, requests: [], missing: undefined },
  isInForce: () => true,
};

test('the words and the beginning of a trouble stay while its kind stays', () => {
  let [known] = define([], [UPSTREAM], 0);
  const texts = ['first', 'second', 'third'];
  texts.forEach((text, index) => {
    const at = 1000 * (index + 1);
    const lastFailure = { at, text, flags: ['UF'], upstream: `a:${index}`, mapping: undefined };
    const counts = { connectFailures: index + 1 };
    assert.ok(known !== undefined);
    known = look(known, { ...NOTHING, figures: figuresOf({ counts }, lastFailure) }, at);
  });
  assert.equal(known?.trouble?.since, 1000);
  assert.deepEqual(known?.trouble?.failure, { kind: 'connect', address: 'a:0', reason: 'first' });
});

test('a proxy that no longer speaks says nothing', () => {
  const [known] = define([], [UPSTREAM], 0);
  assert.ok(known !== undefined);
  const gone = { ...figuresOf({ members: [0, 0] }, undefined), proxies: 0 };
  assert.equal(look(known, { ...NOTHING, figures: gone }, 1).trouble, undefined);
  assert.equal(look(known, NOTHING, 1).trouble, undefined);
});

test('a trouble is that of the resources of now, also while another failure may follow on it', () => {
  const renamed: Upstream = { ...DISCOVERED, origins: ['Mapping/default/renamed'] };
  const empty = { figures: figuresOf({ members: [0, 0] }, undefined) };
  const looks = [
    [2, DISCOVERED, { missing: 'no "shop"' }],
    [6, DISCOVERED, { missing: 'no "shop"' }],
    [8, renamed, empty],
  ] as const;
  let known: readonly Known[] = [];
  for (const [second, upstream, seen] of looks)
    known = define(known, [upstream], 1000 * second).map(each =>
      look(each, { ...NOTHING, ...seen }, 1000 * second),
    );
  const [trouble] = lasting(known, 8_000);
  assert.equal(trouble?.failure.kind, 'unknown');
  assert.deepEqual(trouble?.upstream.origins, renamed.origins);
});
