import { type Document, isMap, isSeq, Pair, Scalar, type YAMLMap, type YAMLSeq } from 'yaml';

type Path = readonly (string | number)[];

/** Where the pods of a Deployment, and their first containers, are described. */
export const POD: Path = ['spec', 'template', 'spec'];
export const CONTAINER: Path = [...POD, 'containers', 0];

/** Returns the map at this path. Throws an Error when there is none. */
export function mapAt(document: Document, ...path: Path): YAMLMap {
  const node = document.getIn(path, true);
  if (!isMap(node)) throw new Error(`no map at ${path.join('.')} of ${nameOf(document)}`);
  return node;
}

/** Returns the list at this path. Throws an Error when there is none. */
export function listAt(document: Document, ...path: Path): YAMLSeq {
  const node = document.getIn(path, true);
  if (!isSeq(node)) throw new Error(`no list at ${path.join('.')} of ${nameOf(document)}`);
  return node;
}

/** Sets a key that stays on a line of its own, which a statement may surround. */
export function setLine(map: YAMLMap, key: string, value: Scalar): void {
  map.flow = false;
  map.delete(key);
  map.add(new Pair(new Scalar(key), value));
}

/** Adds an item that stays on a line of its own. */
export function addLine(list: YAMLSeq, value: Scalar): void {
  list.flow = false;
  list.add(value);
}

/** Returns kind and name of an object, `Service edge`. */
export function nameOf(document: Document): string {
  return `${document.get('kind')} ${document.getIn(['metadata', 'name'])}`;
}
