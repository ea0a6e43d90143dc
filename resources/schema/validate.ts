import * as z from 'zod';
import type { FieldPath, Finding } from '#resources/finding.ts';
import { distinct } from '#resources/words/distinct.ts';
import { explainIssue } from './explain.ts';
import type { KindDefinition } from './kind.ts';
import { normalise, toWrittenPath } from './normalise.ts';
import { childOf, metaOf, unwrap } from './schema-walk.ts';

/**
 * `spec` is there when the resource can be served. Findings have the paths of what was written,
 * from the fields' root.
 */
export type Validated<Spec> = {
  readonly spec?: Spec;
  readonly findings: readonly Finding[];
  /**
   * The input in the schema's spelling. It is what is left to read of a resource that cannot be
   * served.
   */
  readonly normalised: unknown;
};

/** Checks the fields of one resource against the definition of its kind. */
export function validate<Schema extends z.ZodObject>(
  definition: KindDefinition<Schema>,
  input: unknown,
): Validated<z.output<Schema>> {
  const { value, findings: spelling, renamed } = normalise(definition.schema, input, definition);
  const parsed = parseLeniently(definition.schema, value);
  const rules = (definition.check?.(parsed.wellFormed) ?? []).map(finding => ({
    ...finding,
    path: beforeDropping(finding.path, parsed.dropped),
  }));
  const written = [...parsed.findings, ...rules].map(finding => ({
    ...finding,
    path: toWrittenPath(finding.path, renamed),
  }));
  const findings = [...spelling, ...written];
  const rejected =
    parsed.spec === undefined ||
    [...spelling, ...rules].some(({ severity }) => severity === 'error');
  return rejected
    ? { findings, normalised: value }
    : { spec: parsed.spec, findings, normalised: value };
}

type Parsed<Spec> = {
  readonly spec?: Spec;
  /** The fields that are right by themselves. */
  readonly wellFormed: Partial<Spec>;
  readonly findings: readonly Finding[];
  /** What was left out. */
  readonly dropped: readonly FieldPath[];
};

/**
 * Parses the fields. When all errors lie in items of lenient lists or maps, or in droppable fields,
 * it parses again without these.
 */
function parseLeniently<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return accepted(parsed.data, [], []);
  // A number may be both no safe integer and too large, with the same message.
  const findings = distinct(parsed.error.issues.map(issue => explainIssue(schema, input, issue)));
  const rejected = {
    findings,
    wellFormed: parseWellFormed(schema, input, parsed.error.issues),
    dropped: [],
  };
  const items = parsed.error.issues.map(issue => lenientItem(schema, issue.path.map(toKey)));
  const droppable = items.filter(item => item !== undefined);
  if (droppable.length < items.length) return rejected;
  const again = schema.safeParse(without(input, droppable));
  return again.success ? accepted(again.data, findings, droppable) : rejected;
}

function accepted<Spec extends object>(
  spec: Spec,
  findings: readonly Finding[],
  dropped: readonly FieldPath[],
): Parsed<Spec> {
  return { spec, wellFormed: spec, findings, dropped };
}

/** Returns where something was written. Its index changed when items before it were left out. */
function beforeDropping(path: FieldPath, dropped: readonly FieldPath[]): FieldPath {
  const written: (string | number)[] = [];
  for (const key of path) {
    const gone = dropped
      .filter(other => samePath(other.slice(0, -1), written))
      .map(other => other.at(-1));
    let at = key;
    if (typeof at === 'number')
      for (const index of new Set(gone.toSorted(byNumber))) if (Number(index) <= at) at += 1;
    written.push(at);
  }
  return written;
}

function byNumber(a: unknown, b: unknown): number {
  return Number(a) - Number(b);
}

/**
 * Returns the fields without issues, with their defaults. Compiling takes milliseconds, which a
 * schema for one use is not worth.
 */
function parseWellFormed<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  issues: readonly z.core.$ZodIssue[],
): Partial<z.output<Schema>> {
  const parsed = wellFormedSchema(
    schema,
    issues.map(({ path }) => path),
  ).safeParse(input, { jitless: true });
  return parsed.success ? (parsed.data as Partial<z.output<Schema>>) : {};
}

/**
 * Returns the schema without its rules and without the fields at which these paths end. Of partial
 * objects only the wrong parts are left out.
 */
function wellFormedSchema(
  schema: z.core.$ZodObject,
  broken: readonly (readonly PropertyKey[])[],
): z.ZodObject {
  const fields = Object.entries(schema._zod.def.shape).flatMap(([name, field]) => {
    const below = broken.filter(([first]) => first === name).map(path => path.slice(1));
    if (below.length === 0) return [[name, field]];
    const inner = metaOf(field).partial === true ? unwrap(field) : undefined;
    const readable = inner instanceof z.core.$ZodObject && below.every(path => path.length > 0);
    return readable ? [[name, wellFormedSchema(inner, below)]] : [];
  });
  return z.object(Object.fromEntries(fields));
}

function toKey(key: PropertyKey): string | number {
  return typeof key === 'number' ? key : String(key);
}

/**
 * Returns the path of the item or field to leave out, when `path` lies in a lenient list or map, or
 * in a droppable field.
 */
function lenientItem(schema: z.core.$ZodType, path: FieldPath): FieldPath | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const [depth, key] of path.entries()) {
    if (at === undefined) return undefined;
    if (metaOf(at).lenient === true) return path.slice(0, depth + 1);
    at = childOf(at, key);
    const { droppable, lenient } = at === undefined ? {} : metaOf(at);
    const isBelow = depth < path.length - 1;
    if (droppable === true && !(lenient === true && isBelow)) return path.slice(0, depth + 1);
  }
  return undefined;
}

function without(input: unknown, paths: readonly FieldPath[], at: FieldPath = []): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const kept = (key: string | number) => !paths.some(path => samePath(path, [...at, key]));
  if (Array.isArray(input)) {
    return input.flatMap((value, index) =>
      kept(index) ? [without(value, paths, [...at, index])] : [],
    );
  }
  const entries = Object.entries(input).filter(([key]) => kept(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, without(value, paths, [...at, key])]),
  );
}

function samePath(a: FieldPath, b: FieldPath): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}
