import { crlProblem } from '#certificates/crl-problem.ts';
import { parseCertificates } from '#certificates/pem.ts';
import { parsePrivateKey } from '#certificates/private-key.ts';
import type { Memo } from '#controlplane/compile/memo.ts';
import { isElsewhere, secretValue } from '#resources/kinds/secret/secret.ts';
import type { Resource } from '#resources/resource.ts';
import type { CaSource } from './served-gateway.ts';

const MOST_CHAIN = { bytes: 128 * 1024, count: 16 };
/** An object of Kubernetes holds 1 MiB at most. */
const MOST_AUTHORITIES = { bytes: 1024 * 1024, count: 1_000 };

const NOT_THERE = 'it does not exist';

/**
 * Returns why a Secret cannot be presented as a certificate. Whether it is valid now is not looked
 * at. Holds nothing of the key.
 * @returns undefined when it can
 */
export function keyPairFault(
  secret: Resource<'Secret'> | undefined,
  memo: Memo,
): string | undefined {
  return secret === undefined
    ? NOT_THERE
    : memo.of(secret, 'key pair fault', [], () => findKeyPairFault(secret));
}

function findKeyPairFault(secret: Resource<'Secret'>): string | undefined {
  const chainPem = textOf(secret, 'tls.crt');
  const keyPem = textOf(secret, 'tls.key');
  if (chainPem === undefined) return 'it has no key `tls.crt`';
  if (keyPem === undefined) return 'it has no key `tls.key`';
  if (isElsewhere(secret.spec, 'tls.crt') || isElsewhere(secret.spec, 'tls.key')) return undefined;
  const chain = parseCertificates(chainPem, MOST_CHAIN);
  if ('error' in chain) return `its certificate chain cannot be used: ${chain.error}`;
  const key = parsePrivateKey(keyPem);
  if ('error' in key) return `its private key cannot be used: ${key.error}`;
  return chain.certificates[0]?.checkPrivateKey(key.key) === true
    ? undefined
    : 'its private key does not fit the first certificate';
}

/** Returns the authorities in an object, or why there are none. */
export function authoritiesIn(
  object: Resource<CaSource['kind']> | undefined,
  memo: Memo,
): CaSource | string {
  return object === undefined
    ? NOT_THERE
    : memo.of(object, 'authorities in it', [], () => readAuthorities(object));
}

function readAuthorities(object: Resource<CaSource['kind']>): CaSource | string {
  const { kind, namespace, name } = object;
  const pem = authoritiesText(object);
  if (pem === undefined) return 'it has no key `ca.crt`';
  if (object.kind === 'Secret' && isElsewhere(object.spec, 'ca.crt'))
    return { kind, namespace, name, pem };
  const parsed = parseCertificates(pem, MOST_AUTHORITIES);
  const wrong = 'error' in parsed ? parsed.error : crlProblem(pem);
  if (wrong !== undefined) return `its authorities cannot be used: ${wrong}`;
  return { kind, namespace, name, pem };
}

function authoritiesText(object: Resource<CaSource['kind']>): string | undefined {
  switch (object.kind) {
    case 'ClusterTrustBundle':
      return object.spec.trustBundle;
    case 'ConfigMap':
      return object.spec.data['ca.crt'];
    case 'Secret':
      return textOf(object, 'ca.crt');
  }
}

function textOf({ spec }: Resource<'Secret'>, key: string): string | undefined {
  const value = secretValue(spec, key);
  return value === undefined ? undefined : new TextDecoder().decode(value.reveal());
}
