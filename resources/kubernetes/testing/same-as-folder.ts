import { parseAllDocuments } from 'yaml';
import type { Cluster } from '#kubernetes/cluster.ts';
import { isKubernetesObject, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { resourcePath } from '#kubernetes/resource.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Resource } from '#resources/resource.ts';
import { objectParser } from '../object-parser.ts';
import { collectionOf, type Document } from './objects.ts';

/** The object as the server would keep it, or why it would not: nothing is stored. */
export async function wouldKeep(
  cluster: Cluster,
  document: Document,
): Promise<KubernetesObject | string> {
  const path = resourcePath(collectionOf(document));
  const { body } = await cluster.call({
    method: 'POST',
    path,
    query: { dryRun: 'All' },
    body: document,
  });
  if (isKubernetesObject(body)) return body;
  return (body as { message: string }).message;
}

/** The same document as it is read from a file, and from the API. */
export function parseBoth(
  document: Document,
  kept: KubernetesObject,
): { file: ParsedFile; api: ParsedFile } {
  return {
    file: parseFile('a.yaml', JSON.stringify(document), DEFAULT_PARSE_OPTIONS),
    api: objectParser('a.yaml', new Parser(DEFAULT_PARSE_OPTIONS)).parse(kept),
  };
}

/** What is the same of both, whatever the place. */
export function substance({ resources, rejected, problems }: ParsedFile): object {
  return {
    resources: resources.map(resource => ({ id: resource.id, means: meaningOf(resource) })),
    rejected: rejected.map(({ source: _, ...item }) => item),
    // In one order, since the server sorts the keys of maps.
    problems: Object.fromEntries(
      problems.map(({ file: _, line: __, ...problem }) => [JSON.stringify(problem), problem]),
    ),
  };
}

/** The server keeps what stands in `stringData` as `data`. */
function meaningOf(resource: Resource): unknown {
  if (resource.kind !== 'Secret') return resource.hash;
  const { type, data, stringData } = resource.spec;
  const values = Object.entries({ ...data, ...stringData });
  return [
    type,
    ...values.map(([key, value]) => [key, Buffer.from(value.reveal()).toString('hex')]).sort(),
  ];
}

/**
 * The documents of a YAML text that the API can hold: keys that stand twice are spelt out as the
 * parser does.
 */
export function documentsOf(text: string): readonly Document[] {
  const spelt = parseFile('a', text, DEFAULT_PARSE_OPTIONS).resources;
  return parseAllDocuments(text, { uniqueKeys: false, merge: true, logLevel: 'silent' }).flatMap(
    yaml => {
      if (yaml.errors.length > 0) return [];
      const document = yaml.toJS() as Document | null;
      const { name, namespace = 'default' } = document?.metadata ?? {};
      const id = `${document?.kind}/${namespace}/${name}`;
      return document === null
        ? []
        : [(spelt.find(resource => resource.id === id)?.document as Document) ?? document];
    },
  );
}
