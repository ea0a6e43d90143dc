import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { connect } from 'node:net';
import type { Container, Probe } from '../manifests.ts';

const ANSWER_MS = 3_000;

/** Tells whether a container answers its probe. Without a probe it does. */
export async function succeeds(
  { ports = [] }: Container,
  { httpGet: http, tcpSocket }: Probe,
  address: string,
): Promise<boolean> {
  const numberOf = (port: string | number) =>
    typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? 0);
  if (http !== undefined) {
    const scheme = http.scheme === 'HTTPS' ? 'https' : 'http';
    return await answers(`${scheme}://${address}:${numberOf(http.port)}${http.path}`);
  }
  if (tcpSocket !== undefined) return await isOpen(address, numberOf(tcpSocket.port));
  return true;
}

function answers(url: string): Promise<boolean> {
  return new Promise(resolve => {
    const get = url.startsWith('https') ? httpsGet : httpGet;
    const options = { agent: false, timeout: ANSWER_MS, rejectUnauthorized: false };
    const request = get(url, options, ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 400);
      request.destroy();
    });
    request.on('error', () => resolve(false)).on('timeout', () => request.destroy());
    request.on('close', () => resolve(false));
  });
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    socket.once('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.once('timeout', () => socket.destroy()).once('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
