import { coverageText } from './coverage.ts';
import type { Figures, RequestFilter, UpstreamFigures } from './figures.ts';

/** What a reader of `/figures` may ask for. */
export type FiguresQuestion = RequestFilter;

const NUMBERS = ['status', 'after', 'limit'] as const;
const TEXTS = ['mapping', 'client', 'group'] as const;
const MAX_LIMIT = 1_000;

/**
 * Parses the query of `/figures`, which selects among the sampled requests, and the traffic of a
 * Mapping or group.
 */
export function parseFiguresQuestion(
  query: Readonly<Record<string, unknown>>,
): FiguresQuestion | { readonly error: string } {
  const question: Record<string, number | string> = {};
  for (const [name, value] of Object.entries(query)) {
    const isNumber = NUMBERS.some(known => known === name);
    if (!isNumber && !TEXTS.some(known => known === name))
      return {
        error: `the query has ${name.slice(0, 50)}: want ${[...NUMBERS, ...TEXTS].join(', ')}`,
      };
    if (typeof value !== 'string') return { error: `the query has ${name} more than once` };
    if (isNumber && !/^\d{1,15}$/.test(value)) return { error: `${name} is not a number` };
    question[name] = isNumber ? Number(value) : value;
  }
  return { ...question, limit: Math.min(Number(question.limit ?? 100), MAX_LIMIT) };
}

/**
 * Returns the content of `/figures`. Requests name clients and paths, so a reader on another
 * machine (`isLocal`) gets none.
 */
export function figuresPage(figures: Figures, question: FiguresQuestion, isLocal: boolean) {
  const { mapping, group } = question;
  const of = mapping === undefined ? (group === undefined ? undefined : { group }) : { mapping };
  return {
    on: figures.on,
    sources: figures.sources(),
    coverage: figures.coverage(),
    note: coverageText(figures.coverage()),
    traffic: figures.traffic(of),
    mappings: Object.fromEntries(figures.mappings()),
    upstreams: isLocal ? figures.upstreams() : figures.upstreams().map(withoutFailure),
    requests: isLocal ? figures.requests(question) : [],
    ...(isLocal ? {} : { hidden: HIDDEN }),
  };
}

const HIDDEN = 'only readers on the machine of the control plane get requests and failures';

function withoutFailure(upstream: UpstreamFigures): UpstreamFigures {
  return { ...upstream, lastFailure: undefined };
}
