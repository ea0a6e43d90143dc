import protobuf from 'protobufjs';
import { ANY, hasOwnForm, isEmptyAny, openAny } from './any.ts';
import { EncodeError } from './encode-error.ts';
import type { Json, JsonObject } from './json.ts';
import { type Check, fieldCheck, isRequired, isRequiredOneof, isSkipped } from './rules.ts';

/**
 * Checks one message that could be encoded. Throws EncodeError with the path of what Envoy would
 * reject.
 */
type MessageCheck = (json: Json, path: string) => void;

type FieldRules = {
  readonly name: string;
  readonly check: Check | undefined;
  readonly checkMessages: MessageCheck | undefined;
  /** The error when the field is absent. */
  readonly absent: string | undefined;
};

/**
 * Checked messages of this type are cached. There are many routes, and most do not change from one
 * compilation to the next.
 */
const MEMOISED = '.envoy.config.route.v3.Route';
const passed = new WeakSet<JsonObject>();

const messageChecks = new WeakMap<protobuf.Type, MessageCheck>();

/**
 * Checks a message that could be encoded by the rules that its .proto files state
 * (`validate.rules`). It checks the Anys inside of it too, because Envoy would reject the whole
 * response otherwise. Throws EncodeError with the path of the first breach.
 */
export function checkRules(type: protobuf.Type, json: Json, path: string): void {
  messageCheck(type)(json, path);
}

function messageCheck(type: protobuf.Type): MessageCheck {
  const known = messageChecks.get(type);
  if (known !== undefined) return known;
  const check = type.fullName === ANY ? checkAny : fieldsCheck(type);
  messageChecks.set(type, check);
  return check;
}

function checkAny(json: Json, path: string): void {
  if (isEmptyAny(json as JsonObject, path)) return;
  const { type, content } = openAny(json as JsonObject, path);
  checkRules(type, content, path);
}

function fieldsCheck(type: protobuf.Type): MessageCheck {
  if (hasOwnForm(type)) return () => undefined;
  const fields = type.fieldsArray.map(planField);
  const byName = new Map(fields.map(field => [field.name, field]));
  const required = fields.filter(({ absent }) => absent !== undefined);
  const oneofs = type.oneofsArray.filter(isRequiredOneof).map(({ oneof }) => oneof);
  const check = (json: JsonObject, path: string) => {
    for (const { name, absent } of required)
      if (isAbsent(json[name])) throw new EncodeError(`${path}.${name}`, `${absent}`);
    for (const names of oneofs) {
      if (names.every(name => isAbsent(json[name])))
        throw new EncodeError(path, `one of ${names.join(', ')} must be set`);
    }
    for (const key of Object.keys(json)) checkField(byName.get(key), json[key], path);
  };
  return type.fullName === MEMOISED ? memoised(check) : (check as MessageCheck);
}

function memoised(check: (json: JsonObject, path: string) => void): MessageCheck {
  return (json, path) => {
    const message = json as JsonObject;
    if (passed.has(message)) return;
    check(message, path);
    passed.add(message);
  };
}

function checkField(field: FieldRules | undefined, json: Json | undefined, path: string): void {
  if (field === undefined || isAbsent(json)) return;
  const problem = field.check?.(json);
  if (problem !== undefined) throw new EncodeError(`${path}.${field.name}`, problem);
  field.checkMessages?.(json, `${path}.${field.name}`);
}

function isAbsent(json: Json | undefined): json is null | undefined {
  return json === undefined || json === null;
}

function planField(field: protobuf.Field): FieldRules {
  const check = fieldCheck(field);
  return {
    name: field.name,
    check,
    checkMessages: messagesCheck(field),
    absent: absentProblem(field, check),
  };
}

/**
 * An absent field without presence is checked by its default value. Source: protoc-gen-validate.
 */
function absentProblem(field: protobuf.Field, check: Check | undefined): string | undefined {
  if (field.partOf !== null) return undefined;
  if (isRequired(field)) return 'missing';
  if (check === undefined) return undefined;
  if (field.repeated) return check([]);
  if (field.map) return check({});
  if (field.resolvedType instanceof protobuf.Type) return undefined;
  if (field.resolvedType instanceof protobuf.Enum)
    return check(field.resolvedType.valuesById[0] ?? null);
  return check(
    field.type === 'string' || field.type === 'bytes' ? '' : field.type === 'bool' ? false : 0,
  );
}

function messagesCheck(field: protobuf.Field): MessageCheck | undefined {
  const type = field.resolvedType;
  if (!(type instanceof protobuf.Type) || isSkipped(field)) return undefined;
  if (hasOwnForm(type) && type.fullName !== ANY) return undefined;
  const check: MessageCheck = (json, path) => messageCheck(type)(json, path);
  if (field.map)
    return (json, path) => {
      for (const [key, item] of Object.entries(json as JsonObject))
        check(item as Json, `${path}.${key}`);
    };
  if (field.repeated)
    return (json, path) => {
      for (const [i, item] of (json as readonly Json[]).entries()) check(item, `${path}[${i}]`);
    };
  return check;
}
