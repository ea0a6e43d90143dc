import { discoveredService } from '#controlplane/compile/clusters/mapping-cluster.ts';
import { gatewayApiOf } from '#controlplane/compile/gateways/gateway-api-of.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { isBehindEdge } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { type DiffQuestion, parseDiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import { type ExplainQuestion, parseQuestion } from '#controlplane/explain/explain-request.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';
import { coverageText } from '#controlplane/figures/coverage.ts';
import type { Figures } from '#controlplane/figures/figures.ts';
import type { Knowledge, ServiceInstances } from '#controlplane/knowledge/knowledge.ts';
import type { Change } from '#controlplane/status/change-history.ts';
import type { GatewayProgress } from '#controlplane/status/gateway-programmed.ts';
import type { Status } from '#controlplane/status/status.ts';
import type { Drained } from '#files/drained-store.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { askCertificates, type Certificates, certificatesView } from './views/certificates.ts';
import { countedBackends, discoveredBackends } from './views/gateway-routes.ts';
import { gatewayRows, gatewayText } from './views/gateways.ts';
import { instanceRows } from './views/instances.ts';
import {
  type CountersView,
  countersView,
  type Known,
  type LoginsView,
  loginsView,
  orError,
  remembered,
} from './views/knowledge.ts';
import { limitRows, limitText, withGroups } from './views/limits.ts';
import { overview } from './views/overview.ts';
import { type PageQuery, pageOf, parsePage } from './views/paging.ts';
import { problemId, problemRows, problemsOf } from './views/problems.ts';
import { proxyCounts, proxyRows } from './views/proxies.ts';
import { requestFilter } from './views/requests.ts';
import type { RouteRow } from './views/route-row.ts';
import { routeRows, routeText, sortedRoutes } from './views/routes.ts';
import { security } from './views/security.ts';
import { serviceRows } from './views/services.ts';
import { busiest, trafficOf } from './views/totals.ts';

/** What the console reads of the control plane. */
export type ConsoleFacts = {
  status(): Status;
  resources(): ResourceSet;
  readonly options: CompileOptions;
  readonly figures: Figures;
  changes(): readonly Change[];
  /** What our services know. */
  readonly knowledge: Knowledge;
  /** Instances that no proxy gets. */
  drained(): readonly Drained[];
  /** Returns what a Gateway has to be reached by, by its id. */
  edgeOf(id: string): Omit<GatewayProgress, 'proxies'>;
  explain(question: ExplainQuestion): Promise<Explanation> | undefined;
  diff(question: DiffQuestion): Promise<Difference> | undefined;
};

type Query = Readonly<Record<string, unknown>>;

type Views = Readonly<Record<string, (query: Query) => unknown>>;

export type ConsoleData = {
  /** What each screen shows, by its name below `/console/api/`. */
  readonly views: Views;
  /** What answers a question that is posted, by name. Rejects with what is wrong with it. */
  readonly questions: Readonly<Record<string, (body: unknown) => Promise<unknown>>>;
  /** Forgets what was made of earlier facts. */
  changed(): void;
};

const MOST_BUSY = 8;
const MOST_REQUESTS = 50;
const MOST_DRAWN = 24;
const TOO_MANY_WAIT = 'too many questions wait, ask again';
const MOST_DRAINED = 200;
const MOST_ABSENT = 50;

/** Makes the views of the screens. */
export function consoleData(facts: ConsoleFacts, now: () => number): ConsoleData {
  const shared = sharedFacts(facts);
  return {
    views: {
      ...routeScreens(shared),
      ...serviceScreens(shared, now),
      ...decisionScreens(shared, now),
      ...systemScreens(shared, now),
    },
    questions: {
      explain: async body => {
        const question = parseQuestion(body);
        if (question === undefined) throw new Error('want a request to explain');
        const answer = facts.explain(question);
        if (answer === undefined) throw new Error(TOO_MANY_WAIT);
        const { explained } = await import('./views/explained.ts');
        return explained(await answer);
      },
      change: async body => {
        const question = parseDiffQuestion(body);
        if (question === undefined) throw new Error('want documents to compare');
        const answer = facts.diff(question);
        if (answer === undefined) throw new Error(TOO_MANY_WAIT);
        return answer;
      },
    },
    changed: shared.changed,
  };
}

/** What several screens show. It is made once after each change. */
function sharedFacts(facts: ConsoleFacts) {
  const { figures } = facts;
  const memo = new Memo();
  let made = new Map<string, unknown>();
  const once = <T>(what: string, make: () => T): T => {
    if (!made.has(what)) made.set(what, make());
    return made.get(what) as T;
  };
  const status = () => once('status', () => facts.status());
  const resources = () => once('resources', () => facts.resources());
  const gatewayApi = () =>
    once('gateways', () => gatewayApiOf(resources(), { ...facts.options, shared: memo }));
  const rows = (): readonly RouteRow[] =>
    once('routes', () => {
      const { problems, resources: states } = status();
      const all = { resources: resources(), gatewayApi: gatewayApi() };
      return routeRows({ ...all, states, problems, memo });
    });
  const services = () => {
    const { requests, stepMs } = figures.traffic();
    const seconds = (Math.max(requests.length, 1) * stepMs) / 1000;
    const all = figures.mappings();
    const backends = once('backends', () => countedBackends(gatewayApi(), resources()));
    return serviceRows(rows(), {
      upstreams: figures.upstreams(),
      figuresOf: id => all.get(id),
      serviceOf: cluster => backends.get(cluster),
      seconds,
    });
  };
  const changed = () => {
    made = new Map();
  };
  return { ...facts, memo, status, resources, gatewayApi, rows, services, changed };
}

type Shared = ReturnType<typeof sharedFacts>;

function routeScreens({
  figures,
  gatewayApi,
  memo,
  options,
  resources,
  rows,
  status,
}: Shared): Views {
  return {
    routes: query => {
      const page = parsePage(query);
      const all = figures.mappings();
      const found = pageOf(sortedRoutes(rows(), page.sort, all), page, routeText);
      const items = found.items.map(row => ({ ...row, rates: all.get(row.id)?.last15Minutes }));
      return { ...found, items, sort: page.sort };
    },
    route: async ({ id }) => {
      const { routeView } = await import('./views/route.ts');
      const { problems } = status();
      const view = routeView(String(id), {
        ...{ rows: rows(), resources: resources(), gatewayApi: gatewayApi() },
        problems,
        memo,
      });
      const requests = figures.requests({ mapping: String(id), limit: MOST_REQUESTS });
      if (view === undefined) {
        const absent = { problems: problemsOf(String(id), problems), requests };
        return absent.problems.length + requests.length === 0 ? undefined : absent;
      }
      return {
        ...view,
        traffic: trafficOf(figures.on, figures.traffic({ mapping: view.row.id })),
        figures: figures.mappings().get(view.row.id),
        requests,
        upstreams: figures.upstreams().filter(({ origins }) => origins.includes(view.row.id)),
      };
    },
    configuration: async ({ id }) => {
      const row = rows().find(each => each.id === id);
      if (row === undefined) return undefined;
      const { envoyConfiguration } = await import('./views/route.ts');
      return { yaml: envoyConfiguration(row, resources(), { ...options, memo }) };
    },
  };
}

function serviceScreens(shared: Shared, now: () => number): Views {
  const { drained, edgeOf, figures, gatewayApi, knowledge, memo, options } = shared;
  const { resources, rows, services, status } = shared;
  const answers = remembered<Known<{ readonly known: readonly ServiceInstances[] }>>(now);
  const instancesOf = (ids: ReadonlySet<string>) => {
    const mappings = resources().mappings.filter(({ id }) => ids.has(id));
    const names = new Set([
      ...mappings.flatMap(({ spec }) => discoveredService(spec) ?? []),
      ...discoveredBackends(ids, gatewayApi(), resources()),
    ]);
    const asked = [...names].sort();
    const ask = () => orError(knowledge.instances(asked).then(known => ({ known })));
    return asked.length === 0 ? { known: [] } : answers(ask, asked.join());
  };
  return {
    gateways: query => {
      const { problems, proxies, resources: states } = status();
      const all = { problems, proxies, states, edgeOf };
      const rows = gatewayRows({ ...all, resources: resources(), api: gatewayApi() });
      const shown = new Set(rows.map(({ id }) => id));
      const others = problems.filter(
        each => each.kind === 'Gateway' && !shown.has(problemId(each)),
      );
      return {
        ...pageOf(rows, parsePage(query), gatewayText),
        absent: problemRows(others).slice(0, MOST_ABSENT),
      };
    },
    services: query => ({
      ...pageOf(services(), parsePage(query), ({ name, word }) => `${name} ${word}`),
      drained: drained().slice(0, MOST_DRAINED),
    }),
    service: async ({ name }) => {
      const row = services().find(each => each.name === name);
      if (row === undefined) return undefined;
      const routes = rows().filter(({ services }) => services.includes(row.name));
      const ids = new Set(routes.map(({ id }) => id));
      const { limitsOf } = await import('./views/route.ts');
      const sampled = figures.requests({ limit: 1_000 }).filter(({ route }) => ids.has(route));
      const asked = await instancesOf(ids);
      const known = 'error' in asked ? [] : asked.known;
      return {
        row,
        instances: instanceRows(sampled, known, drained()),
        ...('error' in asked && { undiscovered: asked.error }),
        routes: routes.slice(0, 100),
        edge: options.edge,
        limits: limitsOf(ids, resources(), memo),
        upstreams: figures.upstreams().filter(({ origins }) => origins.some(id => ids.has(id))),
        requests: sampled.slice(0, MOST_REQUESTS),
      };
    },
  };
}

function decisionScreens(
  { figures, knowledge, memo, resources, rows, status }: Shared,
  now: () => number,
): Views {
  const logins = remembered<LoginsView>(now);
  const counters = remembered<Known<CountersView>>(now);
  return {
    security: () => {
      const { problems, resources: states } = status();
      const sampled = figures.requests({ status: 4, limit: 1_000 });
      return security({
        resources: resources(),
        states,
        problems,
        rows: rows(),
        requests: sampled,
      });
    },
    logins: () => logins(() => loginsView(knowledge)),
    counters: () => counters(() => countersView(knowledge, resources())),
    limits: query => {
      const all = limitRows(resources(), status().problems);
      const page = pageOf(all, parsePage(query), limitText);
      const over = figures.requests({ status: 429, limit: MOST_REQUESTS });
      return {
        ...page,
        items: withGroups(page.items, resources(), memo),
        over,
      };
    },
  };
}

function systemScreens(
  { changes, figures, knowledge, resources, services, status }: Shared,
  now: () => number,
): Views {
  const certificates = remembered<Certificates>(now);
  return {
    overview: () => ({
      ...overview(status(), changes()),
      note: coverageText(figures.coverage()),
      traffic: trafficOf(figures.on, figures.traffic()),
      busiest: busiest(figures.mappings(), MOST_BUSY),
    }),
    traffic: query => ({
      on: figures.on,
      sources: figures.sources().length,
      note: coverageText(figures.coverage()),
      requests: figures.requests(requestFilter({ ...query, limit: '200' }, MOST_REQUESTS)),
    }),
    certificates: async () => {
      const known = await certificates(() => askCertificates(knowledge));
      return certificatesView(status().certificates, known, resources());
    },
    proxies: query => ({
      ...proxies(status(), parsePage(query)),
      services: services().slice(0, MOST_DRAWN),
    }),
  };
}

function proxies({ proxies }: Status, query: PageQuery) {
  const rows = proxyRows(proxies);
  return {
    counts: proxyCounts(proxies),
    edges: proxies.filter(({ group }) => !isBehindEdge(group)).length,
    ...pageOf(rows, query, ({ address, group, node, word }) =>
      [node, group, address, word].join(' '),
    ),
  };
}
