import { escapeControls } from '#controlplane/rollout/problems.ts';
import type { FileContent } from '#resources/folder/file-content.ts';
import { readEnvelope } from '#resources/parse/envelope.ts';
import { DEFAULT_PARSE_OPTIONS, type ParseOptions } from '#resources/parse/parse-options.ts';
import { isLeftOut } from '#resources/parse/parse-resource.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { gatewayIdsOf } from '#resources/words/gateway-id.ts';
import { splitDocuments } from '#resources/yaml/document-text.ts';
import { readPlainYaml } from '#resources/yaml/plain-yaml.ts';
import { readYaml } from '#resources/yaml/yaml-value.ts';
import { count } from './validate-output.ts';

/** Names the gateways that a resource is for. Without one it is for the default gateway. */
const ID = /gateway_id|ambassador_?id/i;

/** A resource for other gateways than this one. */
export type LeftOut = { readonly kind: string; readonly file: string; readonly ids: string };

/** Returns the resources of these files that are for other gateways. */
export function leftOut(
  files: ReadonlyMap<string, FileContent>,
  { apiGroups, gatewayId }: ParseOptions,
): readonly LeftOut[] {
  return [...files].flatMap(([file, content]) =>
    'error' in content
      ? []
      : splitDocuments(content.text)
          .filter(({ text }) => gatewayId !== DEFAULT_PARSE_OPTIONS.gatewayId || ID.test(text))
          .flatMap(({ text }) => objectsIn(readPlainYaml(text)?.value ?? readValue(text)))
          .flatMap(fields => {
            const kind = readEnvelope(fields, apiGroups)?.kind;
            if (kind === undefined || !isLeftOut(kind, fields.spec, gatewayId)) return [];
            return [{ kind, file, ids: idsOf(fields.spec as Fields) }];
          }),
  );
}

/** Returns a line for each other gateway that has some of them. */
export function describeLeftOut(found: readonly LeftOut[], gatewayId: string): readonly string[] {
  return [...Map.groupBy(found, ({ ids }) => ids)].map(
    ([ids, { length }]) =>
      `left out: ${count(length, 'resource')} for the gateway ${ids}, while GATEWAY_ID is ${gatewayId}`,
  );
}

function objectsIn(value: unknown): readonly Fields[] {
  if (!isFields(value)) return [];
  return value.kind === 'List' && Array.isArray(value.items)
    ? value.items.flatMap(objectsIn)
    : [value];
}

/** What cannot be read has a Problem of its own. */
function readValue(document: string): unknown {
  try {
    const { read } = readYaml(document);
    return 'value' in read ? read.value : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

function idsOf(spec: Fields): string {
  return escapeControls((gatewayIdsOf(spec) ?? []).join(' or '));
}
