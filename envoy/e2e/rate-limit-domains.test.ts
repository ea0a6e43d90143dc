import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  document,
  type LimitedSystem,
  patientService,
  type Services,
  startLimited,
} from '#ratelimit-service/e2e/limited-system.ts';

const NAMES = '{{ range .RateLimitResponse.Statuses }}{{ .CurrentLimit.Name }}{{ end }}';
/** A header for each domain, so that both can be seen in one answer. */
const HEADERS = { gateway: 'x-gateway-limits', ambassador: 'x-ambassador-limits' } as const;
type Domain = keyof typeof HEADERS;

/** Other requests are not counted, such as those by which the start finds routes that answer. */
const CLIENT = { client: { header: 'X-Client', omit_if_not_present: true } };

/** The default labels stand before those of each Mapping. */
const DEFAULTS = { gateway: 'every', ambassador: 'all' };

const limitsOf = (domain: Domain, rates: Readonly<Record<string, number>>) => {
  const limits = Object.entries({ default: 1_000_000, ...rates }).map(([name, rate]) => ({
    ...{ name, rate, unit: 'day' },
    pattern: [
      { generic_key: DEFAULTS[domain] },
      ...(name === 'default' ? [] : [{ generic_key: name }, { client: '*' }]),
    ],
    injectResponseHeaders: [{ name: HEADERS[domain], value: NAMES }],
  }));
  return document('RateLimit', `of-${domain}`, { domain, limits });
};

const ambassadors = (text: string) => text.replaceAll('gateway.internal/', 'getambassador.io/');

function resources({ rateLimit, upstream }: Services): Readonly<Record<string, string>> {
  const mapping = (name: string, ...domains: readonly Domain[]) => {
    const labels = Object.fromEntries(domains.map(domain => [domain, [{ g: [name, CLIENT] }]]));
    return document('Mapping', name, { prefix: `/${name}/`, service: upstream, labels });
  };
  const defaults = Object.entries(DEFAULTS).map(([domain, label]) => [
    domain,
    { defaults: [label] },
  ]);
  return {
    'ours.yaml': [
      patientService(rateLimit),
      document('Module', 'gateway', { config: { default_labels: Object.fromEntries(defaults) } }),
      mapping('ours', 'gateway'),
      mapping('both', 'gateway', 'ambassador'),
      mapping('turned', 'gateway', 'ambassador'),
      mapping('plain'),
      limitsOf('gateway', { ours: 2, both: 3, turned: 2 }),
    ].join(''),
    'theirs.yaml': ambassadors(
      mapping('theirs', 'ambassador') + limitsOf('ambassador', { theirs: 2, both: 2, turned: 3 }),
    ),
  };
}

describe('with documents of both API groups', () => {
  let system: LimitedSystem;
  before(async () => {
    system = await startLimited(resources);
  });
  after(() => system.stop());

  /**
   * Sends requests one after the other. Returns the status, and the limits that they met in both
   * domains.
   */
  const ask = async (path: string, times: number) => {
    const answers: string[] = [];
    for (let n = 0; n < times; n++) {
      const { headers, status } = await system.ask(path, { headers: { 'x-client': 'a' } });
      answers.push([status, ...Object.values(HEADERS).map(name => headers[name] ?? '-')].join(' '));
    }
    return answers;
  };

  test('a Mapping with labels of our domain meets its limits, and the default of the other', async () => {
    assert.deepEqual(await ask('/ours/', 3), [
      '200 ours default',
      '200 ours default',
      '429 ours -',
    ]);
  });

  test("a Mapping with labels of Ambassador's domain meets its limits, and the default of ours", async () => {
    assert.deepEqual(await ask('/theirs/', 3), [
      '200 default theirs',
      '200 default theirs',
      '429 default theirs',
    ]);
    assert.match(await system.logLine('/theirs/', '"status":429'), /"limit":"theirs"/);
  });

  test('a Mapping with labels of both meets the limits of both, whichever is exceeded first', async () => {
    assert.deepEqual(await ask('/both/', 3), ['200 both both', '200 both both', '429 both both']);
    assert.deepEqual(await ask('/turned/', 3), [
      '200 turned turned',
      '200 turned turned',
      '429 turned -',
    ]);
  });

  test('a Mapping without labels has the default labels of both', async () => {
    assert.deepEqual(await ask('/plain/', 1), ['200 default default']);
  });
});
