import { connect } from 'node:net';

/** Tells whether connections are accepted at this port. */
export function tryConnect(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port });
    const over = (connected: boolean) => {
      socket.destroy();
      resolve(connected);
    };
    socket.once('connect', () => over(true));
    socket.once('error', () => over(false));
  });
}
