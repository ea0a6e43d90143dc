import type net from 'node:net';

/** Begins every HTTP/2 connection and no HTTP/1.1 request. Source: RFC 9113, section 3.4. */
const PREFACE = Buffer.from('PRI ');

export type Protocol = 'http1' | 'http2';

/**
 * Waits for the first bytes of a connection, and returns which protocol they speak. The bytes can
 * be read again afterwards. The connection is closed when the peer goes away first, or is silent
 * for `timeoutMs`.
 * @returns undefined when the connection was closed
 */
export function sniff(socket: net.Socket, timeoutMs: number): Promise<Protocol | undefined> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    const settle = (protocol: Protocol | undefined) => {
      socket.off('readable', read).off('timeout', drop).off('close', drop).setTimeout(0);
      if (protocol !== undefined) socket.unshift(Buffer.concat(chunks));
      resolve(protocol);
    };
    const drop = () => {
      socket.destroy();
      settle(undefined);
    };
    const read = () => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read())
        chunks.push(chunk);
      const protocol = protocolOf(Buffer.concat(chunks));
      if (protocol !== undefined) settle(protocol);
    };
    socket.on('readable', read).once('timeout', drop).once('close', drop).setTimeout(timeoutMs);
  });
}

/**
 * Returns which protocol begins with these bytes.
 * @returns undefined while the bytes may still become either
 */
export function protocolOf(first: Buffer): Protocol | undefined {
  const begins = first.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, first.length));
  if (!begins) return 'http1';
  return first.length < PREFACE.length ? undefined : 'http2';
}
