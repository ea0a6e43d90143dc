import { Memo } from '#controlplane/compile/memo.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { type ExplainQuestion, parseQuestion } from '#controlplane/explain/explain-request.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';
import type { Change } from '#controlplane/status/change-history.ts';
import type { Status } from '#controlplane/status/status.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { explained } from './views/explained.ts';
import { overview } from './views/overview.ts';
import { type PageQuery, pageOf, parsePage } from './views/paging.ts';
import { proxyCounts, proxyRows } from './views/proxies.ts';
import { envoyConfiguration, routeView } from './views/route.ts';
import { type RouteRow, routeRows, routeText } from './views/routes.ts';

/** What the console reads of the control plane. */
export type ConsoleFacts = {
  status(): Status;
  resources(): ResourceSet;
  options(): CompileOptions;
  changes(): readonly Change[];
  explain(question: ExplainQuestion): Promise<Explanation>;
  now(): number;
};

type Query = Readonly<Record<string, unknown>>;

export type ConsoleData = {
  /** What each screen shows, by its name below `/console/api/`. */
  readonly views: Readonly<Record<string, (query: Query) => unknown>>;
  /** What answers a question that is posted, by name. Rejects with what is wrong with it. */
  readonly questions: Readonly<Record<string, (body: unknown) => Promise<unknown>>>;
  /** Forgets what was made of earlier facts. */
  changed(): void;
};

/** Makes the views of the screens. What all share is made once after each change. */
export function consoleData(facts: ConsoleFacts): ConsoleData {
  const memo = new Memo();
  let made = new Map<string, unknown>();
  const once = <T>(what: string, make: () => T): T => {
    if (!made.has(what)) made.set(what, make());
    return made.get(what) as T;
  };
  const status = () => once('status', () => facts.status());
  const resources = () => once('resources', () => facts.resources());
  const routes = (): readonly RouteRow[] =>
    once('routes', () => {
      const { problems, resources: states } = status();
      return routeRows({ resources: resources(), states, problems, memo });
    });
  return {
    views: {
      overview: () => overview(status(), facts.changes()),
      routes: query => pageOf(routes(), parsePage(query), routeText),
      route: ({ id }) =>
        routeView(String(id), {
          rows: routes(),
          resources: resources(),
          problems: status().problems,
          memo,
        }),
      configuration: ({ id }) => {
        const mapping = resources().mappings.find(each => each.id === id);
        const options = { ...facts.options(), memo };
        return mapping && { yaml: envoyConfiguration(mapping, resources(), options) };
      },
      proxies: query => proxies(status(), parsePage(query)),
    },
    questions: {
      explain: async body => {
        const question = parseQuestion(body);
        if (question === undefined) throw new Error('want a request to explain');
        return explained(await facts.explain(question));
      },
    },
    changed: () => {
      made = new Map();
    },
  };
}

function proxies({ proxies }: Status, query: PageQuery) {
  const rows = proxyRows(proxies);
  return {
    counts: proxyCounts(proxies),
    ...pageOf(rows, query, ({ address, group, node, word }) =>
      [node, group, address, word].join(' '),
    ),
  };
}
