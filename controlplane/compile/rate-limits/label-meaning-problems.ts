import { keyOf, type LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';
import { isHost, isPath, isTarget } from './label-keys.ts';
import type { Labelling } from './labelling.ts';
import { type LabelSources, writtenLabels } from './written-labels.ts';

type Meaning = 'path' | 'host' | 'header' | 'fixed';

type First = { readonly resource: Resource; readonly meaning: Meaning };

const WORDS: Readonly<Record<Meaning, string>> = {
  path: 'the path',
  host: 'the host',
  header: 'a header',
  fixed: 'a fixed text',
};

/**
 * Returns a warning for each key of a domain that stands for something else than at an earlier
 * resource, at the first resource where it does. Two headers are no such case, since both may hold
 * the name of a user. Nor is an address that one of them has from a header.
 */
export function labelMeaningProblems(
  resources: LabelSources,
  labelling: Labelling,
): readonly Problem[] {
  const { domain } = labelling;
  if (!resources.rateLimits.some(({ spec }) => spec.domain === domain)) return [];
  const known = new Map<string, First>();
  const told = new Set<string>();
  return writtenLabels(resources, labelling).flatMap(({ group, before, ...place }) =>
    group.slice(before).flatMap((specifier, at) => {
      const meaning = meaningOf(specifier);
      if (meaning === undefined) return [];
      const slot = slotOf(group, before + at);
      const first = known.get(slot);
      if (first === undefined) known.set(slot, { resource: place.resource, meaning });
      const id = `${meaning} ${slot}`;
      if (first === undefined || first.meaning === meaning || told.has(id)) return [];
      told.add(id);
      const message = messageOf(keyOf(specifier), meaning, first, domain);
      return [problemOf(place.resource, 'warning', place.field, message)];
    }),
  );
}

/**
 * Returns what is equal for labels that must not be mistaken for each other. A key has one form in
 * a domain. A fixed text is met by a label of its key alone, with the same labels around it.
 */
function slotOf(group: readonly LabelSpecifier[], at: number): string {
  const [label] = group.slice(at);
  const key = label === undefined ? '' : keyOf(label);
  if (key !== 'generic_key') return key;
  const around = group.map((each, place) => [
    keyOf(each),
    place !== at && each.type === 'generic_key' ? each.value : null,
  ]);
  return JSON.stringify([at, around]);
}

/** @returns undefined when nothing else is mistaken for it */
function meaningOf(specifier: LabelSpecifier): Meaning | undefined {
  if (specifier.type === 'generic_key') return 'fixed';
  if (isPath(specifier) || isTarget(specifier)) return 'path';
  if (isHost(specifier)) return 'host';
  return specifier.type === 'request_header' ? 'header' : undefined;
}

function messageOf(key: string, meaning: Meaning, first: First, domain: string): string {
  const { kind, namespace, name } = first.resource;
  const label = `the label "${key}" of domain ${JSON.stringify(domain)}`;
  const there = `${WORDS[first.meaning]} in ${kind} ${namespace}/${name}`;
  const effect = effectOf([meaning, first.meaning]);
  return `${label} is ${WORDS[meaning]} here and ${there}: ${effect}`;
}

function effectOf(meanings: readonly Meaning[]): string {
  if (meanings.includes('fixed'))
    return 'clients that send the fixed text use up its limits. Give the other label another key';
  const form = meanings.includes('path') ? 'path' : 'host';
  return `values of both are compared as a ${form}, and equal ones have one counter. Give one of them another key`;
}
