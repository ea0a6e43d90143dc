import { isMap, isScalar } from 'yaml';
import { caution, type Finding } from '#resources/finding.ts';
import { pairsOf } from '#resources/yaml/yaml-merge.ts';
import type { Resolve } from '#resources/yaml/yaml-node.ts';

/** Booleans of YAML 1.1 (yaml.org/type/bool), which are strings in YAML 1.2. */
const WORD = /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/;

/** Where a Mapping takes a string for one value, and true for any. */
const FIELDS: readonly string[] = ['headers', 'query_parameters'];

/**
 * Warns of words in a Mapping that kubectl, which reads YAML 1.1, sends as booleans. `on` is one
 * value in a file, and any value in a cluster.
 */
export function truthWords(node: unknown, resolve: Resolve): readonly Finding[] {
  return below(node, resolve)
    .filter(({ key }) => key === 'spec')
    .flatMap(({ value: spec }) =>
      below(spec, resolve)
        .filter(({ key }) => FIELDS.includes(key.toLowerCase()))
        .flatMap(({ key: field, value }) =>
          below(value, resolve)
            .filter(pair => isWord(pair.value))
            .map(({ key }) => caution(['spec', field, key], messageOf(key))),
        ),
    );
}

function below(node: unknown, resolve: Resolve): ReturnType<typeof pairsOf> {
  const map = resolve(node);
  return isMap(map) ? pairsOf(map, resolve) : [];
}

function isWord(node: unknown): boolean {
  return isScalar(node) && node.type === 'PLAIN' && WORD.test(String(node.value));
}

function messageOf(key: string): string {
  return `the value of \`${key}\` is a text here and a boolean for kubectl, with which true means any value. Quote it`;
}
