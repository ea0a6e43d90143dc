import { X509Certificate } from 'node:crypto';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { expectGroups, groupOfPeer } from '#certificates/peer.ts';
import { openTlsFolder } from '#certificates/tls-folder.ts';
import type { TlsMaterial, TlsServerOptions } from '#grpc/tls.ts';
import { tlsClientCredentials } from '#grpc/tls-client.ts';
import { refusalLog } from './refusal-log.ts';

/** The identity of one of the gateway's services on the network. */
export type MutualTls = {
  readonly trustDomain: string;
  /**
   * Returns the options of a port of this service. It accepts clients of the trust domain whose
   * group is admitted. Default: all.
   */
  server(admits?: (group: string) => boolean): TlsServerOptions;
  /**
   * Returns credentials for connections to the service of this group. No other service is accepted,
   * whatever its address is.
   */
  client(group: string): ChannelCredentials;
  close(): void;
};

export type MutualTlsOptions = {
  /** Which of the gateway's services this is. */
  readonly group: string;
  readonly log: Log;
  now(): number;
  /** The trust domain that the certificate must be of. Default: any. */
  readonly trustDomain?: string | undefined;
  /** How long the first files of the folder may take to appear, in ms. Default: 30 s. */
  readonly waitMs?: number;
};

type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Another process may still be issuing the certificate. */
const WAIT_MS = 30_000;

/**
 * Opens the identity in a folder (`certificates/tls-folder.ts`), and follows it as it is renewed.
 * Rejects with an Error that names TLS_FOLDER and the folder when no identity appears in time, or
 * when it is not the service's own.
 */
export async function openMutualTls(folder: string, options: MutualTlsOptions): Promise<MutualTls> {
  const { group, log, now, waitMs = WAIT_MS } = options;
  const onProblem = (reason: string) =>
    log.error({ reason }, 'certificate rejected, the one before stays in use');
  const onWait = (reason: string) =>
    log.info({ reason }, `TLS_FOLDER: waiting ${waitMs / 1000} s for it`);
  const refuses = ({ certificate }: Pick<TlsMaterial, 'certificate'>) =>
    trustDomainOf(certificate, group) === trustDomain
      ? undefined
      : `is not the certificate of ${group} in the trust domain ${trustDomain}`;
  const source = await openTlsFolder(folder, { onProblem, onWait, now, refuses, waitMs }).catch(
    (error: Error) => {
      throw new Error(
        `TLS_FOLDER: ${error.message}: want tls.crt, tls.key and ca.crt of ${group} in ${folder}`,
      );
    },
  );
  const trustDomain = trustDomainOf(source.current().certificate, group);
  if (trustDomain === undefined) {
    source.close();
    throw new Error(
      `TLS_FOLDER: ${folder}/tls.crt is not the certificate of ${group}: want one URI spiffe://<trust domain>/group/${group}`,
    );
  }
  if (options.trustDomain !== undefined && options.trustDomain !== trustDomain) {
    source.close();
    throw new Error(
      `TRUST_DOMAIN is "${options.trustDomain}", but the certificate in ${folder} (TLS_FOLDER) is of "${trustDomain}"`,
    );
  }
  const refused = refusalLog(log, now);
  const onRefused = (address: string, reason: string) =>
    refused({ address, reason }, 'connection refused');
  return {
    trustDomain,
    server: (admits = () => true) => ({
      current: source.current,
      onChange: source.onChange,
      onRefused,
      allows: certificate => {
        const peer = groupOfPeer(certificate.subjectAltName, trustDomain);
        return peer !== undefined && admits(peer);
      },
    }),
    client: server => tlsClientCredentials(source, expectGroups([server], trustDomain)),
    close: () => source.close(),
  };
}

function trustDomainOf(certificate: string, group: string): string | undefined {
  const names = new X509Certificate(certificate);
  const [, trustDomain] = /^URI:spiffe:\/\/([^/]+)\//.exec(names.subjectAltName ?? '') ?? [];
  return trustDomain !== undefined && groupOfPeer(names.subjectAltName, trustDomain) === group
    ? trustDomain
    : undefined;
}
