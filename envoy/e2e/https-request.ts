import type { IncomingHttpHeaders } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';

/** The two sides of a TLS connection, and all its settings. */
export type TlsAsk = {
  /** Absent: this machine. */
  readonly host?: string;
  readonly port: number;
  /** The name in the handshake. Absent: none. */
  readonly sni?: string;
  /** The authority of the server's certificate. Absent: any. */
  readonly ca?: string;
  /** The client's own. */
  readonly certificate?: { readonly certificate: string; readonly key: string };
  readonly versions?: { readonly min: tls.SecureVersion; readonly max: tls.SecureVersion };
  readonly ciphers?: string;
  readonly protocols?: readonly string[];
};

export type TlsSession = {
  readonly serial: string;
  readonly names: string;
  readonly protocol: string | false | null;
  readonly version: string | null;
  readonly cipher: string;
};

export type HttpsAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

const LONGEST_MS = 20_000;

/**
 * Options of every kind of request. TLS 1.3 refuses a client's certificate after the handshake, so
 * a client must wait for an answer.
 */
function optionsOf({
  ca,
  certificate,
  ciphers,
  host = '127.0.0.1',
  port,
  protocols,
  sni,
  versions,
}: TlsAsk): tls.ConnectionOptions {
  return {
    host,
    port,
    servername: sni ?? '',
    ...(ca === undefined
      ? { rejectUnauthorized: false }
      : { ca, checkServerIdentity: checkName(sni) }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    ...(versions === undefined ? {} : { minVersion: versions.min, maxVersion: versions.max }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
  };
}

function checkName(sni = 'localhost') {
  return (_host: string, certificate: tls.PeerCertificate) =>
    tls.checkServerIdentity(sni, certificate);
}

/** Makes the handshake, and no request. Rejects where it fails. */
export function handshake(ask: TlsAsk): Promise<TlsSession> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ ...optionsOf(ask), timeout: LONGEST_MS }, () => {
      const { serialNumber, subjectaltname = '' } = socket.getPeerCertificate();
      const cipher = socket.getCipher().standardName;
      const session = { serial: serialNumber, names: subjectaltname, cipher };
      resolve({ ...session, protocol: socket.alpnProtocol, version: socket.getProtocol() });
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new Error('no handshake in time')));
    socket.once('error', reject).once('close', () => reject(new Error('closed in the handshake')));
  });
}

/** Sends one HTTP/1.1 request over its own connection. Rejects when there is no whole answer. */
export function askHttps(
  ask: TlsAsk,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const sent = https.request({
      ...optionsOf(ask),
      path,
      headers: { host: ask.sni ?? 'localhost', ...headers },
      agent: false,
      signal,
    } as https.RequestOptions);
    sent.once('error', reject).once('response', response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk)).once('error', reject);
      response.once('end', () => {
        const { headers, statusCode: status = 0 } = response;
        resolve({ status, headers, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.end();
  });
}

/** An HTTP/2 connection that stays open. */
export type Http2Connection = {
  ask(authority: string, path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** Tells whether the other side wants it to end. */
  isEnding(): boolean;
  close(): void;
};

export async function openHttp2(ask: TlsAsk): Promise<Http2Connection> {
  const session = http2.connect(`https://127.0.0.1:${ask.port}`, {
    ...optionsOf(ask),
    ALPNProtocols: ['h2'],
  });
  let ending = false;
  session.once('goaway', () => {
    ending = true;
  });
  session.once('close', () => {
    ending = true;
  });
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve()).once('error', reject);
  });
  return {
    ask: (authority, path) => askOver(session, authority, path),
    isEnding: () => ending,
    close: () => session.destroy(),
  };
}

function askOver(session: http2.ClientHttp2Session, authority: string, path: string) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const stream = session.request({ ':authority': authority, ':path': path });
    let status = 0;
    let body = '';
    stream.once('response', headers => {
      status = Number(headers[':status']);
    });
    stream.setEncoding('utf8').on('data', chunk => {
      body += chunk;
    });
    stream.once('error', reject).once('end', () => resolve({ status, body }));
    stream.end();
  });
}
