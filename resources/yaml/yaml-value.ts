import { type Alias, type Document, LineCounter, parseDocument, visit } from 'yaml';
import { explainYamlError } from './yaml-error.ts';
import { createResolve, type Resolve } from './yaml-node.ts';

/**
 * How often the content of an anchor may be repeated. More is taken for an attack ("billion
 * laughs").
 */
const MAX_ALIAS_COUNT = 100;

/** Where and why a text is no YAML. */
export type Broken = { readonly offset: number; readonly message: string };

/**
 * One YAML document. It has its nodes, and the value that they give or why they give none. It also
 * has its aliases, and the line of an offset, from 1.
 */
export type YamlDocument = {
  readonly document: Document;
  readonly read: { readonly value: unknown } | { readonly broken: Broken };
  readonly resolve: Resolve;
  readonly lineAt: (offset: number) => number;
};

/**
 * Reads YAML 1.2 with `<<` merging, as Kubernetes' tools know it. Keys that stand twice are left to
 * the caller.
 * @throws RangeError when nesting exhausts the stack
 */
export function readYaml(text: string): YamlDocument {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    merge: true,
    stringKeys: true,
    logLevel: 'silent',
  });
  const resolve = createResolve(document);
  return {
    document,
    read: toValue(document, resolve, text.includes('&')),
    resolve,
    lineAt: offset => Math.max(1, lineCounter.linePos(offset).line),
  };
}

function toValue(document: Document, resolve: Resolve, hasAnchors: boolean): YamlDocument['read'] {
  const [error] = document.errors;
  if (error !== undefined)
    return { broken: { offset: error.pos[0], message: explainYamlError(error) } };
  const circular = hasAnchors ? findCircular(document, resolve) : undefined;
  if (circular !== undefined) return { broken: circular };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) };
  } catch (error) {
    if (error instanceof ReferenceError) return { broken: explainAliases(document, resolve) };
    // The only other error that the library finds so late. A RangeError comes from the engine.
    if (error instanceof RangeError || !String(error).includes('Merge sources')) throw error;
    const message = 'Cannot read this YAML: what `<<` merges in must be a map';
    return { broken: findDangling(document, resolve) ?? { offset: 0, message } };
  }
}

/**
 * Finds an alias within what it stands for. Its value would hold itself, which JSON cannot, and so
 * could not be kept.
 */
function findCircular(document: Document, resolve: Resolve): Broken | undefined {
  let circular: Alias | undefined;
  visit(document, {
    Alias(_key, alias, path) {
      const target = resolve(alias);
      if (!path.some(above => above === target)) return undefined;
      circular = alias;
      return visit.BREAK;
    },
  });
  if (circular === undefined) return undefined;
  const message = 'Cannot read this YAML: an alias (`*name`) is within its own anchor (`&name`)';
  return { offset: circular.range?.[0] ?? 0, message };
}

/** Explains an alias to nothing, or aliases that expand to too much. */
function explainAliases(document: Document, resolve: Resolve): Broken {
  const message = 'Cannot read this YAML: its aliases expand to too much';
  const [first] = aliasesIn(document);
  return findDangling(document, resolve) ?? { offset: first?.range?.[0] ?? 0, message };
}

/** Finds an alias to nothing. */
function findDangling(document: Document, resolve: Resolve): Broken | undefined {
  const dangling = aliasesIn(document).find(alias => resolve(alias) === undefined);
  if (dangling === undefined) return undefined;
  const message = 'Cannot read this YAML: an alias (`*name`) needs its anchor (`&name`) before it';
  return { offset: dangling.range?.[0] ?? 0, message };
}

function aliasesIn(document: Document): readonly Alias[] {
  const aliases: Alias[] = [];
  visit(document, {
    Alias(_key, alias) {
      aliases.push(alias);
    },
  });
  return aliases;
}
