import { type ImportedDocument, LONGEST_NAME } from './document.ts';
import { importEnvoyGateway } from './envoy-gateway/import-envoy-gateway.ts';
import { type Imported, joinImported } from './imported.ts';
import { toGatewayApi } from './ingress/gateway-api.ts';
import { importIngresses } from './ingress/import-ingresses.ts';
import { describeRemark, type PlacedRemark } from './remark.ts';
import { type Check, makeSound } from './sound.ts';
import type { SourceObject } from './source-object.ts';

export type ImportOptions = {
  /** The class of the Ingresses that are turned into ours. */
  readonly ingressClass: string;
  /** What Ingresses become. */
  readonly to: 'mappings' | 'gateway-api';
  /** What `gateway validate` says of a file. */
  readonly check: Check;
};

/** Turns objects of others into documents that `gateway validate` accepts. */
export function importObjects(
  objects: readonly SourceObject[],
  { check, ingressClass, to }: ImportOptions,
): Imported {
  const ingresses = importIngresses(objects, ingressClass);
  const { documents, remarks } = joinImported([
    to === 'mappings' ? ingresses : toGatewayApi(ingresses),
    importEnvoyGateway(objects),
  ]);
  const sound = joinImported(
    withUniqueNames(documents).map(document => makeSound(document, check)),
  );
  return { documents: sound.documents, remarks: inFileOrder([...remarks, ...sound.remarks]) };
}

/** Tells of one thing once, in the order in which it stands in the files. */
function inFileOrder(remarks: readonly PlacedRemark[]): readonly PlacedRemark[] {
  const files = [...new Set(remarks.map(({ object }) => object.file))];
  const byText = new Map(remarks.map(remark => [describeRemark(remark), remark]));
  return [...byText.values()].toSorted(
    (a, b) =>
      files.indexOf(a.object.file) - files.indexOf(b.object.file) ||
      a.object.lineOf(a.path) - b.object.lineOf(b.path),
  );
}

/** Names of several objects may meet when numbers are put behind them. */
function withUniqueNames(documents: readonly ImportedDocument[]): readonly ImportedDocument[] {
  const taken = new Set<string>();
  return documents.map(document => {
    const { kind, metadata } = document;
    const idOf = (name: string) => `${kind}/${metadata.namespace ?? 'default'}/${name}`;
    let { name } = metadata;
    for (let end = '-x'; taken.has(idOf(name)); end += '-x')
      name = `${metadata.name.slice(0, LONGEST_NAME - end.length)}${end}`;
    taken.add(idOf(name));
    return { ...document, metadata: { ...metadata, name } };
  });
}
