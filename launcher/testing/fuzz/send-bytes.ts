import net from 'node:net';

const PATIENCE_MS = 100;

/** Sends bytes on their own connection. Resolves with whether the port answered. */
export function sendBytes(to: net.NetConnectOpts, bytes: Buffer, ends: boolean): Promise<boolean> {
  return new Promise(resolve => {
    let isAnswered = false;
    const socket = net.connect(to).on('error', () => {});
    socket.once('close', () => resolve(isAnswered));
    socket.once('data', () => {
      isAnswered = true;
      if (ends) socket.end();
      // A unix socket cannot be reset.
      else if ('path' in to) socket.destroy();
      else socket.resetAndDestroy();
    });
    socket.resume();
    socket.write(bytes);
    setTimeout(() => socket.destroy(), PATIENCE_MS);
  });
}
