import protobuf from 'protobufjs';
import { API_PATH, type Api, readApi } from './envoy-api/api-file.ts';
import { messageTypes } from './message-types.ts';
import { OWN_PACKAGES, ownFiles } from './own-files.ts';

type Nested = Api[string]['nested'];

const api: Api = readApi() ?? fail();

/**
 * The types of Envoy's API and of ours that were asked for, as protobufjs reflection. Field names
 * keep their snake_case, so that one word finds them in code, golden files and Envoy's pages.
 */
const root = new protobuf.Root();

/** Files and packages that `root` has. */
const loaded = new Set<string>();

/** The file of each declaration by full name. Ours are added when their package is loaded. */
const declaredIn = new Map<string, string>(
  Object.entries(api).flatMap(([file, declared]) =>
    namesOf(declared.nested, declared.package).map(name => [name, file]),
  ),
);

function namesOf(nested: Nested, scope: string): string[] {
  return Object.entries(nested).flatMap(([name, declared]) => [
    `${scope}.${name}`,
    ...('nested' in declared ? namesOf(declared.nested ?? {}, `${scope}.${name}`) : []),
  ]);
}

function fail(): never {
  throw new Error(
    `Cannot read ${API_PATH}: run "npx node launcher/make-envoy-api.ts", which makes it from Envoy`,
  );
}

/**
 * Returns the message type of that full name, such as `envoy.config.route.v3.Route`, if there is
 * one.
 */
export function findType(fullName: string): protobuf.Type | undefined {
  const found = find(fullName);
  return found instanceof protobuf.Type ? found : undefined;
}

/** Returns the message type of a name that must exist. Throws when it does not. */
export function messageType(fullName: string): protobuf.Type {
  const type = findType(fullName);
  if (type === undefined) throw new Error(`no message type ${fullName}`);
  return type;
}

/** Returns the service of a name that must exist. Throws when it does not. */
export function findService(fullName: string): protobuf.Service {
  const found = find(fullName);
  if (!(found instanceof protobuf.Service)) throw new Error(`no service ${fullName}`);
  return found;
}

/** Returns every message type there is. Most processes need few of them. */
export function everyType(): readonly protobuf.Type[] {
  for (const file of Object.keys(api)) load(file);
  OWN_PACKAGES.forEach(loadOwn);
  return messageTypes(root.resolveAll());
}

/** Names that were found. Names that a stranger makes up are not cached. */
const found = new Map<string, protobuf.ReflectionObject>();

function find(fullName: string): protobuf.ReflectionObject | undefined {
  const known = found.get(fullName);
  if (known !== undefined) return known;
  const own = OWN_PACKAGES.find(name => fullName.startsWith(`${name}.`));
  if (own !== undefined) loadOwn(own);
  const file = declaredIn.get(fullName);
  if (file === undefined) return undefined;
  load(file);
  const declared = root.resolveAll().lookup(`.${fullName}`);
  if (declared !== null) found.set(fullName, declared);
  return declared ?? undefined;
}

function load(file: string): void {
  const declared = api[file];
  if (declared === undefined || loaded.has(file)) return;
  loaded.add(file);
  root.define(declared.package).addJSON(declared.nested);
  declared.uses.forEach(load);
}

function loadOwn(ofPackage: string): void {
  if (loaded.has(ofPackage)) return;
  loaded.add(ofPackage);
  for (const { text } of ownFiles(ofPackage)) {
    const { imports = [] } = protobuf.parse(text, root, { keepCase: true });
    imports.forEach(load);
  }
  const { nested = {} } = root.define(ofPackage).toJSON();
  for (const name of namesOf(nested, ofPackage)) declaredIn.set(name, ofPackage);
}
