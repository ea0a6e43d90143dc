import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { type Authority, openAuthority } from '#certificates/authority/authority.ts';
import { fileAuthorityStore } from '#certificates/authority/file-authority-store.ts';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { after } from '#process/after.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { SERVED_SECRET } from '#protos/type-url.ts';
import { type XdsResource, xdsResource } from '#xds/snapshot.ts';
import { keptFile } from '../acme/kept-file.ts';
import { type Acme, openAcme } from '../acme/open-acme.ts';
import { knowledgeMethods } from '../knowledge.ts';
import { createMetrics } from '../metrics.ts';
import { createSecretMetrics } from '../secrets/secret-metrics.ts';
import { openSecrets, type SecretsOptions } from '../secrets/secrets.ts';
import { startServer } from '../server.ts';

/** An authority of one test, with real time. */
export async function testAuthority(t: TestContext, leafMs = 3_600_000): Promise<Authority> {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const authority = await openAuthority({
    store: fileAuthorityStore(folder),
    trustDomain: 'gateway.internal',
    leafMs,
    rootMs: 10 * leafMs,
    onTrouble: () => {},
    now: Date.now,
    after,
  });
  t.after(() => {
    authority.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return authority;
}

/** Certificates of ACME authorities, of which a test has none. */
export function testAcme(): Acme {
  return openAcme({
    clock: { now: Date.now, random: Math.random, after },
    log: pino({ level: 'silent' }),
    open: place => keptFile(join(tmpdir(), 'no-acme'), place),
  });
}

/** A server of secrets alone, to which a test says what the control plane would. */
export async function startSecretsServer(
  t: TestContext,
  authority: Authority,
  options: Partial<Pick<SecretsOptions, 'mostGroups' | 'certificateFolders' | 'written'>> = {},
) {
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = pino({ level: 'trace', base: null }, { write: line => void lines.push(line) });
  const secrets = openSecrets({
    authority,
    acme: testAcme(),
    trustDomain: 'gateway.internal',
    versionKey: Buffer.alloc(32, 7),
    certificateFolders: [tmpdir()],
    written: () => [],
    ...options,
    clock: { now: Date.now, random: Math.random, after },
    metrics: createSecretMetrics(metrics.registry, Date.now),
    log,
  });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: undefined,
    secrets,
    knowledge: knowledgeMethods(undefined, secrets),
    metrics,
    log,
    now: Date.now,
    after,
  });
  t.after(async () => {
    secrets.close();
    await server.stop(0);
  });
  const get = async (path: string) =>
    (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
  /** `null` when it was taken, else why not. */
  const say = (changed: readonly XdsResource[], removed: readonly string[] = []) => {
    let answer: string | null = 'no answer';
    secrets.update({
      typeUrl: SERVED_SECRET,
      changed,
      removed,
      complete: true,
      ack: () => {
        answer = null;
      },
      nack: message => {
        answer = message;
      },
    });
    return answer;
  };
  return { port: server.port, secrets, say, get, logged: () => lines.join('') };
}

/** A ServedSecret as the control plane sends it. */
export function servedSecret(
  name: string,
  groups: readonly string[],
  content: JsonObject,
): XdsResource {
  return xdsResource(
    name,
    encodeAny({ '@type': SERVED_SECRET, name, node_groups: [...groups], ...content }),
  );
}

export function keyPairContent({ certificate, key }: KeyPair): JsonObject {
  return { key_pair: { certificate_chain: base64(certificate), private_key: base64(key) } };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
