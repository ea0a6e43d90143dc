import type { Fields } from '#resources/words/fields.ts';
import { ourDocument } from '../document.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import { changed, dropped, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';

import type { PolicyPart } from './security-policy.ts';
import { targetRefs, targetsOf } from './targets.ts';

type Limits = { readonly limits: readonly Fields[]; readonly remarks: readonly Remark[] };

const UNITS: Readonly<Record<string, string>> = {
  Second: 'second',
  Minute: 'minute',
  Hour: 'hour',
  Day: 'day',
};

/** Turns the limits of a BackendTrafficPolicy into a RateLimit for the same targets. */
export function rateLimits(
  policy: SourceObject,
  objects: readonly SourceObject[],
): Pick<PolicyPart, 'documents' | 'remarks'> {
  const spec = fieldsAt(policy.fields, 'spec', 'rateLimit');
  const kinds = ['global', 'local'] as const;
  const each = kinds.flatMap(kind =>
    listAt(spec, kind, 'rules').map((rule, at) => {
      const path = ['spec', 'rateLimit', kind, 'rules', at];
      const made = limitsOf(rule, path);
      const remarks = kind === 'local' && made.limits.length > 0 ? [changed(path, TOGETHER)] : [];
      return { limits: made.limits, remarks: [...made.remarks, ...remarks] };
    }),
  );
  const limits = each.flatMap(({ limits: made }) => made);
  const refs = limits.length === 0 ? [] : targetRefs(targetsOf(policy, objects));
  const others = objects.filter(
    other =>
      other !== policy &&
      other.kind === policy.kind &&
      fieldsAt(other.fields, 'spec').rateLimit !== undefined,
  );
  return {
    documents: refs.map((own, at) =>
      ourDocument('RateLimit', policy, at === 0 ? policy.name : `${policy.name}-${at + 1}`, {
        targetRefs: own,
        limits,
      }),
    ),
    remarks: [
      ...each.flatMap(({ remarks }) => remarks),
      ...(refs.length > 0 && others.length > 0 ? [changed(['spec', 'rateLimit'], ALL)] : []),
    ],
  };
}

const TOGETHER = 'the requests to all proxies are counted together, and not those to each proxy';
const ALL =
  'every limit counts, also that of the Gateway for a route that has one of its own. Remove what is too strict';

/** Each selector is a way to be counted. Without any all requests are counted together. */
function limitsOf(rule: unknown, path: readonly (string | number)[]): Limits {
  const { requests, unit } = fieldsAt(rule, 'limit');
  const ours = UNITS[String(unit)];
  if (ours === undefined || typeof requests !== 'number')
    return { limits: [], remarks: [dropped([...path, 'limit', 'unit'], NO_UNIT)] };
  const { clientSelectors: _, limit: __, ...others } = fieldsAt(rule);
  const remarks = Object.keys(others).map(field =>
    dropped([...path, field], 'the gateway has nothing like it'),
  );
  const selectors = listAt(rule, 'clientSelectors');
  const made = (selectors.length === 0 ? [{}] : selectors).map((selector, at) =>
    selected(selector, [...path, 'clientSelectors', at]),
  );
  return {
    limits: made.flatMap(({ parts }) =>
      parts === undefined ? [] : [{ ...parts, rate: requests, unit: ours }],
    ),
    remarks: [...remarks, ...made.flatMap(({ remarks: own }) => own)],
  };
}

const NO_UNIT = 'a limit is for a second, a minute, an hour or a day. Write a RateLimit';

/** In a pattern they are for any value. */
const ANY: readonly string[] = ['', '*'];

type Selected = { readonly parts: Fields | undefined; readonly remarks: readonly Remark[] };

/** Returns labels and pattern for what a selector counts, unless a part of it has no label. */
function selected(selector: unknown, path: readonly (string | number)[]): Selected {
  const { headers: _, sourceCIDR, ...others } = fieldsAt(selector);
  const [other] = Object.keys(others);
  if (other !== undefined) return lost([...path, other], NO_LABEL);
  const labels: unknown[] = [];
  const pattern: Record<string, string> = {};
  for (const [at, header] of listAt(selector, 'headers').entries()) {
    const name = textAt(header, 'name')?.toLowerCase();
    const { invert, type = 'Exact', value } = fieldsAt(header);
    const isValue = typeof value === 'string' && !ANY.includes(value);
    const isKnown = type === 'Distinct' || (type === 'Exact' && isValue);
    if (name === undefined || !isKnown || invert === true)
      return lost([...path, 'headers', at], NO_LABEL);
    labels.push({ [name]: { header: name, omit_if_not_present: true } });
    if (type === 'Exact') pattern[name] = String(value);
  }
  if (sourceCIDR !== undefined) {
    const { type, value } = fieldsAt(sourceCIDR);
    const isAll = value === '0.0.0.0/0' || value === '::/0';
    if (type !== 'Distinct' || !isAll) return lost([...path, 'sourceCIDR'], NO_LABEL);
    labels.push('remote_address');
  }
  return { parts: partsOf(labels, pattern), remarks: [] };
}

/** A pattern names all labels, with the values that it is for. */
function partsOf(labels: readonly unknown[], pattern: Readonly<Record<string, string>>): Fields {
  if (labels.length === 0) return {};
  if (Object.keys(pattern).length === 0) return { labels };
  const items = labels.map(label => {
    const key = typeof label === 'string' ? label : (Object.keys(label as object)[0] ?? '');
    return { [key]: pattern[key] ?? '' };
  });
  return { labels, pattern: items };
}

function lost(path: readonly (string | number)[], message: string): Selected {
  return { parts: undefined, remarks: [dropped(path, message)] };
}

const NO_LABEL =
  'no label is like it. Write a RateLimit with the same `targetRefs`, and `labels` for what it counts';
