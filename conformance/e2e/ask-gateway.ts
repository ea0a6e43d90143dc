import { createSocket } from 'node:dgram';
import { type EventEmitter, once } from 'node:events';
import { type Agent, get } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A connection of TCP lives so long, in ms, which is less than what a pod drains for. */
const CONNECTION_MS = 10_000;
/** Between two lines of a connection, two requests and two datagrams, in ms. */
export const PAUSE_MS = 50;
const ANSWER_MS = 5_000;

/** Resolves with what went wrong. */
export type Ask = (address: string, agent?: Agent) => Promise<string | undefined>;

export function askHttp(host: string, agent?: Agent): Promise<string | undefined> {
  return new Promise(resolve => {
    const request = get({ host, agent: agent ?? false, timeout: ANSWER_MS }, answer => {
      const { statusCode } = answer;
      answer.resume().on('end', () => resolve(statusCode === 200 ? undefined : `${statusCode}`));
      answer.on('error', error => resolve(error.message));
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', error => resolve(error.message));
  });
}

export async function askTcp(address: string): Promise<string | undefined> {
  const socket = connect(9001, address).on('error', () => {});
  socket.write('x');
  const loss = await lossOf(socket, 'data');
  socket.destroy();
  return loss;
}

/** As clients of UDP do, sends what is not answered once more, since a datagram may be lost. */
export async function askUdp(address: string): Promise<string | undefined> {
  return (await sendDatagram(address)) && (await sendDatagram(address));
}

async function sendDatagram(address: string): Promise<string | undefined> {
  const socket = createSocket('udp4');
  socket.send('x', 9002, address);
  const loss = await lossOf(socket, 'message');
  socket.close();
  return loss;
}

async function lossOf(socket: EventEmitter, answer: string): Promise<string | undefined> {
  return await once(socket, answer, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Uses one connection of TCP after the other, each for a while. */
export async function holdConnection(
  address: string,
  isOver: () => boolean,
  answers: Map<string, number>,
  losses: string[],
): Promise<void> {
  while (!isOver()) {
    const socket = connect(9001, address);
    const end = performance.now() + CONNECTION_MS;
    try {
      while (performance.now() < end && !isOver()) {
        socket.write('x');
        await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) });
        answers.set('TCP', (answers.get('TCP') ?? 0) + 1);
        await delay(PAUSE_MS);
      }
    } catch (error) {
      losses.push(`TCP: ${error instanceof Error ? error.message : error}`);
    }
    socket.on('error', () => {}).destroy();
  }
}
