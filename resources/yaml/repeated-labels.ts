import { isMap, isScalar, isSeq } from 'yaml';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { pairsOf } from './yaml-merge.ts';
import type { Resolve } from './yaml-node.ts';

/** A RateLimit in which no map has a label twice, and the nodes in which a key may stand twice. */
export type SpeltOut = { readonly fields: Fields; readonly items: ReadonlySet<unknown> };

type Context = { readonly resolve: Resolve; readonly items: Set<unknown> };

/** From a RateLimit's root to the items of its patterns. `*` is each item of a list. */
const PATTERN_ITEM = ['spec', 'limits', '*', 'pattern', '*'];

/**
 * Returns the value of a RateLimit in the form that JSON can hold. Each pattern item that has a key
 * twice, `{a: x, a: y}`, becomes a list of maps, `[{a: x}, {a: y}]`. All else stays as it is.
 * `fields` is what `node` is in JavaScript.
 */
export function spellOutPatterns(node: unknown, fields: Fields, resolve: Resolve): SpeltOut {
  const items = new Set<unknown>();
  const speltOut = spellOut(node, fields, PATTERN_ITEM, { resolve, items });
  return { fields: isFields(speltOut) ? speltOut : fields, items };
}

function spellOut(at: unknown, value: unknown, path: readonly string[], context: Context): unknown {
  const [step, ...below] = path;
  const node = context.resolve(at);
  if (step === undefined) return spellOutItem(at, value, context);
  if (step === '*' && isSeq(node) && Array.isArray(value)) {
    return value.map((item, index) => spellOut(node.items[index], item, below, context));
  }
  if (!isMap(node) || !isFields(value)) return value;
  const nodes = new Map(pairsOf(node, context.resolve).map(pair => [pair.key, pair.value]));
  const fields = Object.entries(value).map(([key, field]) => {
    // Fields are found as normalise finds them, whatever their letter case.
    const wanted = key.toLowerCase() === step;
    return [key, wanted ? spellOut(nodes.get(key), field, below, context) : field] as const;
  });
  return Object.fromEntries(fields);
}

/** A map, or a list of maps, whose labels are alternatives. */
function spellOutItem(at: unknown, value: unknown, context: Context): unknown {
  context.items.add(at);
  const node = context.resolve(at);
  if (!isSeq(node) || !Array.isArray(value)) return alternativesOf(node, context.resolve) ?? value;
  return value.flatMap((item, index) => {
    const map = node.items[index];
    context.items.add(map);
    return alternativesOf(context.resolve(map), context.resolve) ?? [item];
  });
}

/** Returns one map for each label, when a label stands twice. */
function alternativesOf(node: unknown, resolve: Resolve): readonly Fields[] | undefined {
  if (!isMap(node)) return undefined;
  const pairs = pairsOf(node, resolve);
  if (new Set(pairs.map(({ key }) => key)).size === pairs.length) return undefined;
  return pairs.map(({ key, value }) => Object.fromEntries([[key, plainValue(value)]]));
}

/** A label's value is a scalar. Of anything else only the form is reported. */
function plainValue(node: unknown): unknown {
  if (isMap(node)) return {};
  if (isSeq(node)) return [];
  return isScalar(node) ? node.value : null;
}
