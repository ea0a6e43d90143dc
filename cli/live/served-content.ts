import { readFileSync } from 'node:fs';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import type { UpstreamTls } from '#controlplane/upstreams/upstream.ts';
import { SERVED_SECRET } from '#protos/type-url.ts';
import type { DialTls } from './dial.ts';

/** The fields of `gateway.config.v1.ServedSecret` that connections to services use. */
type Served = {
  readonly trusted_ca?: string;
  readonly trusted_ca_file?: string;
  readonly key_pair?: { readonly certificate_chain: string; readonly private_key: string };
  readonly key_pair_files?: { readonly certificate_chain: string; readonly private_key: string };
};

/**
 * Returns the function that fills in the secrets of a connection. `sds` is what the discovery
 * service of secrets would be sent. A file that this machine does not have is left out.
 */
export function servedContent(sds: Compiled): (tls: UpstreamTls) => DialTls {
  const file = fileReader();
  const secrets = new Map(
    (sds.resources.get(SERVED_SECRET) ?? []).map(({ json, name }) => [name, json as Served]),
  );
  const authoritiesOf = (from: UpstreamTls['authorities']) => {
    if ('pem' in from) return Buffer.from(from.pem);
    return 'file' in from ? file(from.file) : trusted(secrets.get(from.secret), file);
  };
  return ({ alpn, authorities: from, certificate, sni, subjects }) => {
    const authorities = authoritiesOf(from);
    const pair = pairOf(secrets.get(certificate ?? ''), file);
    return {
      ...{ alpn, subjects },
      ...(sni === undefined ? {} : { sni }),
      ...(authorities === undefined ? {} : { authorities }),
      ...(pair === undefined ? {} : { pair }),
    };
  };
}

function trusted(
  { trusted_ca, trusted_ca_file }: Served | undefined = {},
  file: ReadFile,
): Buffer | undefined {
  return trusted_ca === undefined ? file(trusted_ca_file) : bytes(trusted_ca);
}

function pairOf(
  { key_pair, key_pair_files }: Served | undefined = {},
  file: ReadFile,
): DialTls['pair'] {
  if (key_pair !== undefined)
    return { cert: bytes(key_pair.certificate_chain), key: bytes(key_pair.private_key) };
  const cert = file(key_pair_files?.certificate_chain);
  const key = file(key_pair_files?.private_key);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

function bytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

type ReadFile = (path: string | undefined) => Buffer | undefined;

/** Reads each file once, since thousands of services may share the authorities of one. */
function fileReader(): ReadFile {
  const known = new Map<string, Buffer | undefined>();
  return path => {
    if (path === undefined) return undefined;
    if (!known.has(path)) known.set(path, tryRead(path));
    return known.get(path);
  };
}

function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
