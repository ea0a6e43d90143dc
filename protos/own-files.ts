import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#files/places.ts';

/** The .proto files of ours, by package. */
const FILES: ReadonlyMap<string, readonly string[]> = new Map([
  ['gateway.config.v1', ['filter', 'order', 'rate_limit', 'report', 'served_secret']],
  ['gateway.service.v1', ['knowledge']],
  ['grpc.reflection.v1', ['reflection']],
  ['grpc.reflection.v1alpha', ['reflection']],
]);

/** The packages of our own .proto files. */
export const OWN_PACKAGES: readonly string[] = [...FILES.keys()];

export type OwnFile = { readonly name: string; readonly text: string };

/** Reads the .proto files of one of our own packages. */
export function ownFiles(ofPackage: string): readonly OwnFile[] {
  const folder = ofPackage.replaceAll('.', '/');
  return (FILES.get(ofPackage) ?? []).map(file => {
    const name = `${folder}/${file}.proto`;
    return { name, text: readFileSync(join(ROOT, 'protos', name), 'utf8') };
  });
}
