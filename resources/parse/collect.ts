import { isAmbientKind, isGatewayApiKind, SINGLETONS } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { formatSource, type Rejected, type Resource, type Source } from '#resources/resource.ts';
import type { ParsedFile } from './parsed-file.ts';
import { uncoveredSecond } from './second-document.ts';

/** All files together. An id is in `resources` or in `rejected`, never in both. */
export type Collected = {
  readonly resources: ReadonlyMap<string, Resource>;
  /**
   * A resource without a readable name has its place as a part of its id. So has what is left of a
   * second document of one name.
   */
  readonly rejected: ReadonlyMap<string, Rejected>;
  /** Files that could not be parsed far enough to identify their resources. */
  readonly unreadable: ReadonlySet<string>;
  /** Files with a faulty document that does not say, or not for sure, which resource it is. */
  readonly anonymous: ReadonlySet<string>;
  /** Those without a byte. They are in `anonymous`, too. */
  readonly emptied: ReadonlySet<string>;
  readonly problems: readonly Problem[];
};

type Identified = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly id: string;
  readonly source: Source;
};

/**
 * Puts parsed files together, in their order. Of several documents for one resource the first
 * counts, right or wrong. Of a kind with one resource for each gateway the first right one counts.
 * The others are Problems that name both places. What a second document covers beyond the first is
 * closed. What Gateway API refers to, as a Service, is there only beside Gateway API.
 */
export function collect(files: readonly ParsedFile[]): Collected {
  const isNeeded = files.some(hasGatewayApi);
  const onlyOnes = new Map<string, Resource>();
  const problems: Problem[] = [];
  const resources = new Map<string, Resource>();
  const rejected = new Map<string, Rejected>();
  for (const file of files) {
    problems.push(...file.problems.filter(({ kind }) => isNeeded || !isAmbientKind(kind)));
    for (const item of inFileOrder(file).map(withOwnId)) {
      if (isAmbientKind(item.kind) && !isNeeded) continue;
      const onlyOne = isOnlyOne(item) ? onlyOnes.get(item.kind) : undefined;
      const owner = onlyOne ?? resources.get(item.id) ?? rejected.get(item.id);
      if (owner === undefined && 'spec' in item && isOnlyOne(item)) onlyOnes.set(item.kind, item);
      if (owner !== undefined && isAmbientKind(item.kind)) continue;
      if (owner !== undefined) {
        const rest = uncoveredSecond(item, owner);
        const own = rest && withOwnPlace(rest, owner);
        problems.push(duplicateProblem(item, owner, own !== undefined));
        if (own !== undefined) rejected.set(own.id, own);
      } else if ('spec' in item) resources.set(item.id, item);
      else rejected.set(item.id, item);
    }
  }
  const unreadable = new Set(files.filter(({ readable }) => !readable).map(({ file }) => file));
  const anonymous = new Set(files.filter(({ anonymous }) => anonymous).map(({ file }) => file));
  const emptied = new Set(files.filter(({ emptied }) => emptied).map(({ file }) => file));
  return { resources, rejected, unreadable, anonymous, emptied, problems };
}

function hasGatewayApi({ resources, rejected }: ParsedFile): boolean {
  return [...resources, ...rejected].some(({ kind }) => isGatewayApiKind(kind));
}

function inFileOrder({ resources, rejected }: ParsedFile): readonly (Resource | Rejected)[] {
  return [...resources, ...rejected].sort((a, b) => a.source.line - b.source.line);
}

function withOwnId<Item extends Resource | Rejected>(item: Item): Item {
  return item.name === '' ? { ...item, id: placed(item.id, item) } : item;
}

/** Of two with one name its Problems must not count as those of the first. */
function withOwnPlace(item: Rejected, owner: Identified): Rejected {
  const name = item.id === owner.id ? placed(item.name, item) : item.name;
  return { ...item, id: placed(item.id, item), name };
}

function placed(text: string, { source }: Resource | Rejected): string {
  return `${text}@${formatSource(source)}`;
}

/**
 * Whether it is the only one of its kind, as far as its name tells. A wrong name does not exclude
 * resources with the right name.
 */
function isOnlyOne({ kind, name }: Identified): boolean {
  const names = SINGLETONS.get(kind);
  return names !== undefined && (name === '' || names.length === 0 || names.includes(name));
}

function duplicateProblem(item: Identified, owner: Identified, closes: boolean): Problem {
  const { kind, namespace, name, source } = item;
  const where = formatSource(owner.source);
  const message =
    item.id === owner.id
      ? `${kind} ${namespace}/${name} is already at ${where}, which counts.${closes ? ' What this one covers beyond that answers 500.' : ''} Remove or rename one`
      : `there is one ${kind} for a gateway, and ${owner.namespace}/${owner.name} at ${where} counts. Remove one`;
  return { severity: 'error', kind, namespace, name, ...source, message };
}
