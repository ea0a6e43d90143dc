import protobuf from 'protobufjs';
import { ANY, hasOwnForm } from './any.ts';
import { camelCase } from './camel-case.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { messageType } from './root.ts';

/**
 * Renames the fields of a message as clients of other languages write it (camelCase or snake_case,
 * source: the ProtoJSON format). The result has the names of the .proto file, as encode wants it.
 * Enum values that are written as numbers are named too. Unknown fields stay as they are. Deeper
 * than `MAX_DEPTH` nothing is renamed.
 */
export function toFieldNames(typeName: string, json: JsonObject): JsonObject {
  return rename(messageType(typeName), json, fieldNames, 0);
}

/** Renames what decode returns to ProtoJSON's camelCase names, as the inverse. */
export function toJsonNames(typeName: string, json: JsonObject): JsonObject {
  return rename(messageType(typeName), json, jsonNames, 0);
}

const MAX_DEPTH = 100;

/** Returns the new names of a type's fields, by their present names. */
type Naming = (
  type: protobuf.Type,
) => ReadonlyMap<string, readonly [name: string, field: protobuf.Field]>;

const fieldNames: Naming = type =>
  new Map(
    type.fieldsArray.flatMap(field => [
      [camelCase(field.name), [field.name, field]],
      [field.name, [field.name, field]],
    ]),
  );

const jsonNames: Naming = type =>
  new Map(type.fieldsArray.map(field => [field.name, [camelCase(field.name), field]]));

function rename(type: protobuf.Type, json: JsonObject, naming: Naming, depth: number): JsonObject {
  if (hasOwnForm(type) || type.fullName === ANY || depth > MAX_DEPTH) return json;
  const names = naming(type);
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const [name, field] = names.get(key) ?? [key, undefined];
      return [
        name,
        field === undefined || value === undefined
          ? value
          : renameValue(field, value, naming, depth + 1),
      ];
    }),
  );
}

function renameValue(field: protobuf.Field, value: Json, naming: Naming, depth: number): Json {
  const type = field.resolvedType;
  if (type === null) return value;
  if (Array.isArray(value)) return value.map(item => renameOne(type, item, naming, depth));
  if (!field.map || !isJsonObject(value)) return renameOne(type, value, naming, depth);
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [
      key,
      item === undefined ? item : renameOne(type, item, naming, depth),
    ]),
  );
}

function renameOne(
  type: protobuf.Type | protobuf.Enum,
  value: Json,
  naming: Naming,
  depth: number,
): Json {
  if (type instanceof protobuf.Enum)
    return typeof value === 'number' ? (type.valuesById[value] ?? value) : value;
  return isJsonObject(value) ? rename(type, value, naming, depth) : value;
}
