import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import {
  isAmbientKind,
  isGatewayApiKind,
  isKind,
  SINGLETONS,
} from '#resources/kinds/known-kinds.ts';
import type { ResourceMetadata } from '#resources/resource.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { misspeltRestrictions } from '#resources/schema/misspelt-restrictions.ts';
import { closesEverything, type Unserved, unservedOf } from '#resources/schema/restrictions.ts';
import { validate } from '#resources/schema/validate.ts';
import { isFields } from '#resources/words/fields.ts';
import { isForOtherGateway } from '#resources/words/gateway-id.ts';
import { suggest } from '#resources/words/suggest.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { illFormedTexts } from './ill-formed-text.ts';
import { checkLabels, readFacts, readMetadata } from './metadata.ts';
import type { Language } from './parse-options.ts';
import { salvage } from './salvage.ts';
import { withoutWrongLimits } from './without-wrong-limits.ts';

/**
 * What a document is and what is wrong with it, before its place is known. Paths are from its root.
 */
export type ParseOutcome = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly findings: readonly Finding[];
  /**
   * The resource is served when there is a `spec`. Otherwise it is left out, with what could be
   * read of it.
   */
  readonly spec?: unknown;
  /** Whether the spec lacks a part that has an error. */
  readonly partial?: true;
  /** Where the limits of a RateLimit stand, if some are left out. */
  readonly limitsAt?: readonly number[];
  /** What counts of its `metadata`. */
  readonly facts?: ResourceMetadata;
  readonly document: Readonly<Record<string, unknown>>;
  readonly salvaged: ReturnType<typeof salvage>;
  /** Restrictions that it asks for and that are not served. */
  readonly unserved: readonly Unserved[];
};

/** Fields of every object of Kubernetes. `status` is not written by the operator. */
const ENVELOPE_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'status'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether a resource is for other gateways than this one. What belongs to Gateway API names no
 * gateway, but a controller.
 */
export function isLeftOut(kind: string, spec: unknown, gatewayId: string): boolean {
  return !isGatewayApiKind(kind) && !isAmbientKind(kind) && isForOtherGateway(spec, gatewayId);
}

/**
 * Parses the content of one document. `ofText` is what its text alone shows, as a key that
 * stands in it twice.
 * @returns undefined when it is not of a served group, or for another gateway
 */
export function parseResource(
  fields: Fields,
  ofText: readonly Finding[],
  language: Language,
): ParseOutcome | undefined {
  const envelope = readEnvelope(fields, language.apiGroups);
  if (envelope === undefined) return undefined;
  const { kind } = envelope;
  if (isLeftOut(kind, fields.spec, language.gatewayId)) return undefined;
  const definition = isKind(kind) ? language.kinds[kind] : undefined;
  const { namespace, name, findings: metadata } = readMetadata(fields.metadata, definition?.scope);
  const rows = unservedOf(kind, name, fields.spec);
  const identity = { kind, namespace, name, document: fields };
  const named =
    isFields(fields.metadata) && typeof fields.metadata.namespace === 'string'
      ? namespace
      : undefined;
  if (definition === undefined) {
    const findings = [...envelope.findings, ...metadata];
    return { ...identity, findings, unserved: rows, salvaged: salvage(kind, fields.spec, []) };
  }
  const outer = [
    ...metadata,
    ...checkName(kind, name),
    ...checkLabels(fields.metadata, definition.metadata),
    ...checkOuterFields(definition, fields),
    ...ofText,
  ];
  const parsed = parseFields(identity, definition, fields, envelope, outer);
  const facts = readFacts(fields.metadata, definition.metadata ?? []);
  if (definition.ambient === true) {
    const findings = parsed.spec === undefined ? parsed.findings.flatMap(toUnread) : [];
    const outcome = { ...identity, ...parsed, facts, findings, unserved: [] };
    return parsed.spec === undefined ? outcome : ambientOutcome(outcome, definition);
  }
  const others = parsed.findings.filter(finding => !isTold(finding, rows));
  const unserved = [...rows, ...misspeltRestrictions(kind, definition, others, fields)];
  // A rejected resource is closed by its error, if it does not close everything.
  const isAsked = parsed.spec !== undefined || closesEverything(kind);
  const findings = isAsked ? others.filter(finding => !isTold(finding, unserved)) : parsed.findings;
  const meant = meantIn(named, parsed.spec, definition, identity);
  return { ...identity, ...parsed, ...meant, facts, findings, unserved };
}

/** It stands there for other reasons, where it may be right. */
function toUnread({ severity, path, message }: Finding): readonly Finding[] {
  return severity === 'error' ? [caution(path, `it is not read: ${message}`)] : [];
}

/** Keeps nothing of the document but what is read of it. */
function ambientOutcome(outcome: ParseOutcome, { fieldsAt }: KindDefinition): ParseOutcome {
  const { namespace, name, facts, spec, document } = outcome;
  const { apiVersion, kind } = document;
  const place = namespace === '' ? { name } : { name, namespace };
  const fields = fieldsAt === 'spec' ? { spec } : (spec as Fields);
  return {
    ...outcome,
    document: { apiVersion, kind, metadata: { ...place, ...facts }, ...fields },
  };
}

/** A spec is read in the namespace that the document names. Without one nothing is added to it. */
function meantIn(
  namespace: string | undefined,
  written: unknown,
  { inNamespace, named }: KindDefinition,
  identity: Pick<ParseOutcome, 'name' | 'namespace'>,
): Pick<ParseOutcome, 'spec'> {
  if (written === undefined) return {};
  const spec = written as Readonly<Record<string, unknown>>;
  const placed =
    namespace === undefined || inNamespace === undefined ? spec : inNamespace(spec, namespace);
  return { spec: named === undefined ? placed : named(placed, identity) };
}

function parseFields(
  { kind, name, namespace }: Pick<ParseOutcome, 'kind' | 'name' | 'namespace'>,
  definition: KindDefinition,
  fields: Fields,
  envelope: Envelope,
  around: readonly Finding[],
): Pick<ParseOutcome, 'findings' | 'limitsAt' | 'partial' | 'spec' | 'salvaged'> {
  const inSpec = definition.fieldsAt === 'spec';
  const input = inSpec ? fields.spec : withoutEnvelope(fields);
  const { spec, findings: inner, normalised } = validate(definition, input);
  const root = inSpec ? ['spec'] : [];
  const outer = [...around, ...illFormedTexts(input, root)];
  const placed = inner.map(finding => placedIn(root, finding));
  const rejected =
    envelope.findings.length > 0 || outer.some(({ severity }) => severity === 'error');
  const findings = envelope.findings.length > 0 ? envelope.findings : [...outer, ...placed];
  if (spec !== undefined && !rejected) return { findings, spec, salvaged: {} };
  const written = { definition, name, namespace, spec: normalised, findings };
  const right = kind === 'RateLimit' ? withoutWrongLimits(written) : undefined;
  if (right !== undefined) return { ...right, partial: true, salvaged: {} };
  return { findings, salvaged: salvage(kind, normalised, [...outer, ...placed]) };
}

function placedIn(root: FieldPath, { unknown, ...finding }: Finding): Finding {
  const path = [...root, ...finding.path];
  if (unknown === undefined) return { ...finding, path };
  return { ...finding, path, unknown: { ...unknown, place: [...root, ...unknown.place] } };
}

/** The effect of a restriction is reported later, where the Module's `ignore` is known. */
function isTold({ path, severity }: Finding, unserved: readonly Unserved[]): boolean {
  return severity === 'warning' && unserved.some(({ path: known }) => known.join() === path.join());
}

function withoutEnvelope(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([key]) => !ENVELOPE_FIELDS.includes(key)),
  );
}

function checkName(kind: string, name: string): readonly Finding[] {
  const names = SINGLETONS.get(kind) ?? [];
  const [own] = names;
  if (own === undefined || name === own || name === '') return [];
  const path = ['metadata', 'name'];
  if (names.includes(name))
    return [caution(path, `the name "${name}" is read as "${own}". Please write it so`)];
  return [fault(path, `the name must be "${own}", not "${name}"`)];
}

/**
 * Checks the fields beside `spec`. A Secret's own fields stand there, and its schema checks them.
 */
function checkOuterFields(definition: KindDefinition, fields: Fields): readonly Finding[] {
  if (definition.fieldsAt === 'document') return [];
  const known = [...ENVELOPE_FIELDS, 'spec'];
  return Object.keys(fields)
    .filter(key => !known.includes(key))
    .map(key => {
      const message = Object.hasOwn(definition.schema.shape, key)
        ? `\`${key}\` belongs below \`spec\``
        : `unknown field \`${key}\`${suggest(key, known)}`;
      return {
        severity: definition.unknownField,
        path: [key],
        message,
        unknown: { place: [], known },
      };
    });
}
