import { decodeAny } from '#protos/decode.ts';
import type { XdsResource } from '#xds/snapshot.ts';
import { type AcmeSettings, parseAcmeSettings } from '../acme/acme-settings.ts';

/** A secret that the control plane wants served: `gateway.config.v1.ServedSecret`. Holds keys. */
export type ServedSecret = {
  readonly name: string;
  /** The groups that may have it. */
  readonly groups: readonly string[];
  readonly content: ServedContent;
  /**
   * The id of the resource, and its field, for which problems with the content are reported.
   * Without it the control plane sees them itself.
   */
  readonly named?: { readonly resource: string; readonly field: string };
};

export type ServedContent =
  | { readonly kind: 'key pair'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'trusted ca'; readonly ca: string }
  | { readonly kind: 'key pair files'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'trusted ca file'; readonly ca: string }
  | { readonly kind: 'issued'; readonly hosts: readonly string[] }
  | { readonly kind: 'acme'; readonly settings: AcmeSettings };

type Json = {
  readonly name?: string;
  readonly node_groups?: readonly string[];
  readonly key_pair?: { readonly certificate_chain?: string; readonly private_key?: string };
  readonly trusted_ca?: string;
  readonly key_pair_files?: { readonly certificate_chain?: string; readonly private_key?: string };
  readonly trusted_ca_file?: string;
  readonly issued?: { readonly hosts?: readonly string[] };
  readonly acme?: Partial<AcmeSettings>;
  readonly resource?: string;
  readonly field?: string;
};

/** Parses the message. `error` says what it lacks. */
export function parseServedSecret({
  name,
  any,
}: XdsResource): ServedSecret | { readonly error: string } {
  const json = decodeAny(any) as Json;
  const content = contentOf(json);
  if (content === undefined) return { error: `${name} has no content` };
  if (json.name !== name)
    return { error: `${name} is called ${json.name ?? 'nothing'} in its message` };
  const { field = '', node_groups: groups = [], resource } = json;
  return { name, groups, content, ...(resource !== undefined && { named: { resource, field } }) };
}

function contentOf(json: Json): ServedContent | undefined {
  const { acme, key_pair, trusted_ca, key_pair_files, trusted_ca_file, issued } = json;
  if (key_pair !== undefined) {
    const { certificate_chain = '', private_key = '' } = key_pair;
    return {
      kind: 'key pair',
      certificate: fromBase64(certificate_chain),
      key: fromBase64(private_key),
    };
  }
  if (trusted_ca !== undefined) return { kind: 'trusted ca', ca: fromBase64(trusted_ca) };
  if (key_pair_files !== undefined) {
    const { certificate_chain = '', private_key = '' } = key_pair_files;
    return { kind: 'key pair files', certificate: certificate_chain, key: private_key };
  }
  if (trusted_ca_file !== undefined) return { kind: 'trusted ca file', ca: trusted_ca_file };
  const settings = acme && parseAcmeSettings(acme);
  if (settings !== undefined) return { kind: 'acme', settings };
  return issued?.hosts === undefined ? undefined : { kind: 'issued', hosts: issued.hosts };
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
