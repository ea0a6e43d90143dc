import * as z from 'zod';
import { KINDS } from '#resources/kinds/kinds.ts';
import { VERSION } from '#resources/parse/envelope.ts';
import { RESTRICTIONS } from '#resources/schema/restrictions.ts';
import { itemOf, metaOf, shapeOf, unwrap } from '#resources/schema/schema-walk.ts';
import type { Manifest } from './crd.ts';
import { kindNames, SERVED_KINDS, type ServedKind } from './served-kinds.ts';

/**
 * Returns policies by which the API server refuses objects of this group with unknown fields, and
 * their bindings. The definitions keep such fields, because one that the server drops may be a
 * misspelt restriction. A stored object stays as it is until its spec changes. See kubernetes.io,
 * "Validating Admission Policy".
 */
export function fieldPolicies(group: string): readonly Manifest[] {
  return [...SERVED_KINDS].sort().flatMap(kind => policyOf(kind, group));
}

function policyOf(kind: ServedKind, group: string): readonly Manifest[] {
  const { plural } = kindNames(kind);
  const name = `${plural}.fields.${group}`;
  const resourceRule = {
    ...{ apiGroups: [group], apiVersions: [VERSION], resources: [plural] },
    operations: ['CREATE', 'UPDATE'],
  };
  const rules = placesOfKind(kind).map(ruleOf);
  const policy = {
    // The parser finds the same, and its Problem becomes the status.
    failurePolicy: 'Ignore',
    matchConstraints: { resourceRules: [resourceRule] },
    matchConditions: [{ name: 'changed', expression: CHANGED }],
    variables: rules.flatMap(({ variable = [] }) => variable),
    validations: rules.map(({ validation }) => validation),
  };
  const binding = { policyName: name, validationActions: ['Deny'] };
  return [
    { ...admission('ValidatingAdmissionPolicy', name), spec: policy },
    { ...admission('ValidatingAdmissionPolicyBinding', name), spec: binding },
  ];
}

function admission(kind: string, name: string): Manifest {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name } };
}

const CHANGED =
  'oldObject == null || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec';

/** Where objects stand in a document. */
type At = {
  /** For people, such as `spec.limits[]`. */
  readonly path: string;
  /** The object in CEL. */
  readonly value: string;
  /** Surrounds a condition on the value by what leads to it. */
  within(condition: string): string;
};

/** Objects in a document, and the names that their fields may have. */
type Place = At & { readonly fields: readonly string[] };

const DOCUMENT = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

function placesOfKind(kind: ServedKind): readonly Place[] {
  const root = { path: '', value: 'object', within: (condition: string) => condition };
  const unserved = RESTRICTIONS.flatMap(row =>
    row.kind === kind && row.field !== undefined ? [`spec.${row.field}`] : [],
  );
  const places = placesIn(KINDS[kind].schema, inField(root, 'spec')).map(place => {
    const more = unserved.filter(field => field.slice(0, field.lastIndexOf('.')) === place.path);
    const names = more.map(field => field.slice(field.lastIndexOf('.') + 1));
    return { ...place, fields: [...place.fields, ...names] };
  });
  return [{ ...root, fields: DOCUMENT }, ...places];
}

/** What the parser leaves out by itself when it is wrong is not looked at. */
function placesIn(schema: z.core.$ZodType, at: At): readonly Place[] {
  const { droppable = false, lenient = false } = metaOf(schema);
  if (droppable || lenient) return [];
  const shape = shapeOf(schema);
  if (shape !== undefined) {
    const fields = Object.entries(shape);
    return [
      { ...at, fields: fields.flatMap(namesOf) },
      ...fields.flatMap(([name, field]) => placesIn(field, inField(at, name))),
    ];
  }
  const item = itemOf(schema);
  if (item === undefined) return [];
  return placesIn(item, inItems(at, unwrap(schema) instanceof z.core.$ZodArray));
}

function namesOf([name, field]: readonly [string, z.core.$ZodType]): readonly string[] {
  const { aliases = [], deprecatedNames = [] } = metaOf(field);
  return [name, ...aliases, ...deprecatedNames];
}

function inField({ path, value, within }: At, name: string): At {
  return {
    path: path === '' ? name : `${path}.${name}`,
    value: `${value}['${name}']`,
    within: condition =>
      within(`(type(${value}) != map || !('${name}' in ${value}) || ${condition})`),
  };
}

function inItems({ path, value, within }: At, isList: boolean): At {
  const item = `i${path.split('[').length}`;
  return {
    path: `${path}[]`,
    value: isList ? item : `${value}[${item}]`,
    within: condition =>
      within(
        `(type(${value}) != ${isList ? 'list' : 'map'} || ${value}.all(${item}, ${condition}))`,
      ),
  };
}

type Rule = {
  readonly variable?: { readonly name: string; readonly expression: string };
  readonly validation: Readonly<Record<string, string>>;
};

/** The parser takes names in any letter case, with a warning. */
function ruleOf({ fields, path, value, within }: Place, index: number): Rule {
  const names = [...new Set(fields.map(field => field.toLowerCase()))].sort();
  const isKnown = `k.lowerAscii() in [${names.map(field => `'${field}'`).join(', ')}]`;
  const place = path === '' ? 'the object' : path;
  const message = `${place} has an unknown field. It knows ${fields.join(', ')}`;
  if (path.includes('['))
    return {
      validation: {
        expression: within(`(type(${value}) != map || ${value}.all(k, ${isKnown}))`),
        message,
      },
    };
  const name = `unknown${index}`;
  const found = within(`(type(${value}) != map || ${value}.all(k, ${isKnown}))`);
  const listed = `${value}.filter(k, !(${isKnown})).join(', ')`;
  return {
    variable: { name, expression: `${found} ? '' : ${listed}` },
    validation: {
      expression: `variables.${name} == ''`,
      message,
      messageExpression: `'${place} has an unknown field: ' + variables.${name}`,
    },
  };
}
